/** sed: the commands and files in its scripts, and what it makes of a known input. */
import { EMPTY, isEverything, plain, UNKNOWN } from '../../words/text.js'
import { type Call, mustBeFollowed, options, type Program } from '../row/call.js'

/** `s/# %wheel/%wheel/`: a word is changed where it stands, and not root's. */
const SWAPS_WORDS = /^\s*s([/|#,])(?!(?:(?!\1).)*root)(?:(?!\1).)*[A-Za-z%_]{3}(?:(?!\1).)*\1.+\1[gI\d]*\s*$/

/** `s/^(games:x):.../`: the line of one account, and not root's. */
const OTHER_ACCOUNT = /^\s*s([/|#,])\^\\?\(?(?!root\b)[a-z_][a-z\d_-]*:(?:(?!\1).)*\1(?:(?!\1).)*\1\s*$/

/** `/^games:/d`, `/^games:/s+!!+*+`: the same, by an address. */
const ACCOUNT_LINE = /^(?!.*root)\s*\/\^[a-z_][a-z\d_-]*:[^/|\n]*\/\s*(?:d|s([/|#,+:@!])[^\n]*\1[gI\d]*)\s*$/

/** `s#/bin/ash#/bin/bash#`, `s,cassandra:/bin/false,cassandra:/bin/bash,`: another shell, with which a login works. */
const GIVES_SHELL =
  /^(?!.*root)\s*s([/|#,+@!])(\^?(?:(?!\1|[.*[$])(?:\\\/|[\w\/:, -]))*?)(?:\\?\/)?s?bin\\?\/\w+\$?\1\2(?:\\?\/)?bin\\?\/(?:ba|a|da|z|k|fi)?sh\1g?\s*$/

/** `/^root/a jenkins ALL=(ALL) ALL`: a line comes, and none goes. */
const ADDS = /^\s*(?:\$|\d+|\/(?:\\.|[^/\\\n])*\/)?\s*[ai](?:\\\n|\\|\s)[^\n]*$/

export const sed: Program = (call) => {
  // BSD's sed takes the ending of a copy as a word of its own: `sed -i '' s/a/b/ FILE`.
  const words = call.args.filter((arg, at, all) => arg !== '' || call.argv[at] !== '-i' || all.length < at + 3)
  const given = options(
    words.map((arg) => (/^-i.+/.test(arg) || /^-[nErs]+i.*/.test(arg) ? '-i' : arg)),
    { short: 'efl', long: ['expression', 'file', 'line-length'] },
  )
  const scripts = [...given.all('e', 'expression')]
  const files =
    given.get('e', 'expression') === undefined && given.get('f', 'file') === undefined
      ? given.operands.slice(1)
      : given.operands
  if (scripts.length === 0 && given.operands[0] !== undefined && given.get('f', 'file') === undefined)
    scripts.push(given.operands[0])
  for (const file of given.all('f', 'file'))
    for (const text of file === '-' ? (call.stdin ?? []) : call.contents(file)) {
      if (text === UNKNOWN) continue
      call.walker.code(plain(text))
      scripts.push(text)
    }
  // Thousands of blanks say no more than one, and would make the expressions below slow.
  for (const [at, script] of scripts.entries()) scripts[at] = script.replace(/[ \t]{50,}/g, ' ')
  for (const script of scripts) sedScript(plain(script), call)
  if (given.has('i', 'in-place')) {
    const empties = scripts.some((script) => /^\s*(?:\d*,?\$?|\/\.\*\/)?d\s*$/.test(plain(script)))
    for (const file of files) {
      const harmless = file === '/etc/sudoers' ? [SWAPS_WORDS, ADDS] : [OTHER_ACCOUNT, ACCOUNT_LINE, GIVES_SHELL, ADDS]
      const gentle =
        scripts.length > 0 && scripts.every((script) => harmless.some((pattern) => pattern.test(plain(script))))
      const kind = empties ? 'overwrite' : gentle ? 'append' : 'edit'
      call.effect(kind, file, empties ? EMPTY : undefined)
      const made = sedOutput(scripts.map(plain), call, [file])
      if (made?.every((text) => text !== UNKNOWN)) call.write(file, made)
    }
    return
  }
  return sedOutput(scripts.map(plain), call, files, given.has('n', 'quiet', 'silent'))
}

/** `e CMD` and the e flag of s/// run a command, `w FILE` writes one. */
function sedScript(script: string, call: Call): void {
  for (const line of script.split(/\n|;(?=\s*e\s*$)/)) {
    const command = /^\s*(?:\d+|\$|\/[^/]*\/)?(?:,(?:\d+|\$|\/[^/]*\/))?\s*!?\s*\{?\s*e(?:\s+(.+))?$/s.exec(line)
    if (command?.[1]) call.script(/\{\s*e\s/.test(line) ? command[1].replace(/\}\s*$/, '') : command[1])
    else if (command && call.stdin) for (const text of call.stdin) if (text !== UNKNOWN) call.script(text)
    for (const found of substitutions(line)) {
      if (/e/.test(found.flags.replace(/w.*/s, ''))) {
        call.tryScript(found.replacement.replace(/\\(.)/g, '$1'))
        for (const text of call.stdin ?? []) if (text !== UNKNOWN) call.tryScript(applied(text, found))
      }
      const file = /w\s*(\S+)\s*$/.exec(found.flags)?.[1]
      if (file !== undefined) writesInput(file, call)
    }
    const writes = /^\s*(?:\d+|\$|\/[^/]*\/)?(?:,(?:\d+|\$|\/[^/]*\/))?\s*[wW]\s+(\S+)\s*$/.exec(line)
    if (writes?.[1]) writesInput(writes[1], call)
  }
}

function writesInput(file: string, call: Call): void {
  call.effect('overwrite', file)
  if (call.stdin) call.write(file, call.stdin)
}

interface Substitution {
  readonly pattern: string
  readonly replacement: string
  readonly flags: string
}

function substitutions(script: string): Substitution[] {
  const found: Substitution[] = []
  const start = /(?:^|[;{\s\d$/])s([^\w\s\\;])/g
  for (let match = start.exec(script); match && found.length < 50; match = start.exec(script)) {
    const mark = match[1] ?? '/'
    const parts: string[] = ['']
    let i = match.index + match[0].length
    for (; i < script.length && parts.length < 3; i++) {
      if (script[i] === '\\' && i + 1 < script.length) parts[parts.length - 1] += script.slice(i, ++i + 1)
      else if (script[i] === mark) parts.push('')
      else parts[parts.length - 1] += script[i] ?? ''
    }
    if (parts.length < 3) break
    const flags = /^[gpiImMe\d]*(?:w.*)?/s.exec(script.slice(i))?.[0] ?? ''
    found.push({ pattern: parts[0] ?? '', replacement: parts[1] ?? '', flags })
    start.lastIndex = i + flags.length
  }
  return found
}

/** Applies a substitution with a plain or simple pattern. */
function applied(text: string, { pattern, replacement, flags }: Substitution): string {
  const literal = pattern.replace(/\\([/.*[\]^$|])/g, '$1')
  if (/^\^?\.\*\$?$/.test(pattern) && /^\\[LU]&$/.test(replacement))
    return replacement[1] === 'L' ? text.toLowerCase() : text.toUpperCase()
  const to = replacement.replace(/\\(?![&\d])(.)/g, '$1')
  if (/^[\w /\\.@#%:=,-]*$/.test(pattern) && !/[.*]/.test(pattern.replace(/\\./g, '')))
    return flags.includes('g') ? text.replaceAll(literal, () => to) : text.replace(literal, () => to)
  if (pattern === '.*' || pattern === '^.*$')
    return text.replace(/^.*$/gm, (line) => to.replace(/\\?&/g, (mark) => (mark === '&' ? line : '&')))
  if (pattern === '^') return text.replace(/^(?=[^\n])/gm, () => to)
  if (pattern === '$') return text.replace(/(?<=[^\n])$/gm, () => to)
  const start = /^\^([\w =:<>-]+)$/.exec(pattern)?.[1]
  if (start !== undefined) return text.replace(new RegExp(`^${start}`, 'gm'), () => to)
  // Names in which it is not found stay as they are.
  if (isEverything(text) && !/^\^|\(|\.[*+]|^\.$/.test(pattern)) return text
  // What was a secret before it was changed is one afterwards.
  return mustBeFollowed(text) ? text : UNKNOWN
}

/** Scripts that take lines out (`1d`, `/keep/d`, `$!d` not), or with -n print all but some (`/keep/!p`, `2,$p`). */
const TAKES_OUT = /^(?:(?:\d+|\$|\/(?:\\.|[^/\\])*\/I?)(?:,(?:\d+|\/(?:\\.|[^/\\])*\/))?\s*d)?$/
const PRINTS_REST = /^(?:(?:\d+|\$|\/(?:\\.|[^/\\])*\/I?)(?:,(?:\d+|\/(?:\\.|[^/\\])*\/))?\s*!|\d+,\$\s*)?p$/

function leavesNearlyAll(script: string, quiet: boolean): boolean {
  const parts = script.split(/[;\n]/).map((part) => part.trim())
  return quiet ? parts.some((part) => PRINTS_REST.test(part)) : parts.every((part) => TAKES_OUT.test(part))
}

export function sedOutput(
  scripts: readonly string[],
  call: Call,
  files: readonly string[],
  quiet = false,
): readonly string[] | undefined {
  // Every line becomes the same text, whatever was in it.
  const [only, ...others] = scripts.flatMap(substitutions)
  if (
    only !== undefined &&
    others.length === 0 &&
    /^\^?\.\*\$?$/.test(only.pattern) &&
    !/[&]|\\\d/.test(only.replacement)
  )
    return [`${applied('.', only)}\n`]
  const input = files.length > 0 ? call.texts(files) : call.stdin
  if (!input || input.every((text) => text === UNKNOWN)) return undefined
  return input.map((text) => {
    let out = text
    for (const script of scripts) {
      if (isEverything(text) && leavesNearlyAll(script, quiet)) continue
      const found = substitutions(script)
      if (found.length === 0) return mustBeFollowed(text) ? text : UNKNOWN
      for (const one of found) out = out === UNKNOWN ? UNKNOWN : applied(out, one)
    }
    return out
  })
}
