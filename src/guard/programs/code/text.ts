/**
 * Folds constant text in code of other languages: joined strings, names given once, formats,
 * encodings. By shape, not by meaning.
 */
import { unescape } from '../../words/escapes.js'
import { plain } from '../../words/text.js'
import { decodeBase64, decodeHex } from '../row/decoding.js'

/** What code may ask of the world around it. */
export interface Outside {
  readonly home: string
  readonly args: readonly string[]
  readonly stdin: string | undefined
  /** What a file holds, where this command or its session wrote it. */
  file(name: string): string | undefined
  variable(name: string): string | undefined
}

/** The code with its constant strings put together, and the calls that ask for known text replaced by it. */
export function foldedCode(code: string, language: string, outside?: Outside): string {
  const known = outside && ASKS_OUTSIDE.test(code) ? withOutside(code, outside) : code
  const characters = known
    .replace(/\{\s*chr\((\d{2,3})\)\s*\}/g, (_, number: string) => String.fromCharCode(Number(number)))
    .replace(/\bchr\(\s*(\d{2,3})\s*\)/g, (_, number: string) => JSON.stringify(String.fromCharCode(Number(number))))
    .replace(/\$\{\s*(?:"([^"`]*)"|'([^'`]*)')\s*\}/g, (_, double?: string, single?: string) => double ?? single ?? '')
  return withFormats(withVariables(joined(withNames(characters), language), language))
}

const HOME_CALLS =
  /(?:(?:pathlib\.)?Path\.home\(\)|(?:os\.path\.)?expanduser\(\s*["']~\/?["']\s*\)|os\.environ(?:\.get\()?\[?\(?\s*["']HOME["']\s*[\])]|os\.getenv\(\s*["']HOME["']\s*\)|process\.env\.HOME|process\.env\[["']HOME["']\]|(?:os|require\(["'](?:node:)?os["']\))\.homedir\(\)|Dir\.home|ENV\[["']HOME["']\]|\$ENV\{["']?HOME["']?\}|getenv\(\s*["']HOME["']\s*\)|\$_(?:ENV|SERVER)\[["']HOME["']\]|File\.expand_path\(["']~["']\)|Deno\.env\.get\(["']HOME["']\)|vim\.env\.HOME|\bhomedir\(\)|\$HOME\b(?=\s*,))/g

/** `expanduser("~/x")`, `Path("~/x").expanduser()`, `File.expand_path("~/x")`. */
const HOME_PATHS =
  /\b(?:(?:os\.path\.)?expanduser|File\.expand_path)\(\s*["']~(\/[^"'\n]*)["']\s*\)|(?:pathlib\.)?\bPath\(\s*["']~(\/[^"'\n]*)["']\s*\)\.expanduser\(\)/g

const STRING =
  /(?<=^|[\s;{])(?:#(?!\{)|\/\/)[^\n]*|"""([\s\S]*?)"""|'''([\s\S]*?)'''|"((?:[^"\\\n]|\\[\s\S])*)"|'((?:[^'\\\n]|\\[\s\S])*)'|`((?:[^`\\]|\\[\s\S])*)`|%x\{([^}]*)\}|%x\(([^)]*)\)|\bqx\s*\{([^}]*)\}|\bqx\s*\(([^)]*)\)|\bqx\/([^/]*)\/|\bqq?\s*\{([^}]*)\}|\bqq?\s*\(([^)]*)\)/gm

export function strings(source: string): { text: string; start: number; end: number }[] {
  const found: { text: string; start: number; end: number }[] = []
  for (const match of source.matchAll(STRING)) {
    const raw = match.slice(1).find((group) => group !== undefined)
    if (raw === undefined) continue
    found.push({ text: unescape(raw), start: match.index, end: match.index + match[0].length })
    if (found.length >= 500) break
  }
  return found
}

const ASKS_OUTSIDE =
  /argv|HOME|\bshift\b|env|home|expanduser|expand_path|stdin|input|gets|sep\b|separator|readFileSync|\.read\b|get_contents/i

/** Arguments, variables of the environment, standard input, home and the path separator, where they are known. */
function withOutside(code: string, { home, args, stdin, variable, file }: Outside): string {
  // The code itself is one of the words; what follows it are its arguments.
  const given = args
    .slice(
      Math.max(
        args.findIndex((word) => word.includes(code)),
        args.indexOf('-'),
      ) + 1,
    )
    .map((word) => JSON.stringify(plain(word)))
  return interpolated(code, given, variable)
    .replace(HOME_CALLS, () => `"${home}"`)
    .replace(HOME_PATHS, (_, one?: string, two?: string) => `"${home}${one ?? two ?? ''}"`)
    .replace(/\bos\.(?:path\.)?sep\b|\bpath\.sep\b|\bFile::SEPARATOR\b/g, '"/"')
    .replace(
      /\b(?:sys\.argv|ARGV|process\.argv|\$argv)\[(\d)\]|\$ARGV\[(\d)\]/g,
      (whole, one?: string, zero?: string) =>
        given[
          zero === undefined
            ? Number(one) - (/^ARGV/.test(whole) && !args.some((arg) => arg.includes('BEGIN')) ? 0 : 1)
            : Number(zero)
        ] ?? whole,
    )
    .replace(/\b(system\s*\(?|exec\s*\(?|eval\s*\(?|open\s*\(?\s*[\w\s$]+,)\s*shift\b/g, (whole, called: string) =>
      given[0] === undefined ? whole : `${called} ${given[0]}`,
    )
    .replace(/\bsys\.argv\[1:\]|@ARGV\b|\*ARGV\b|\bprocess\.argv\.slice\([12]\)/g, (whole) =>
      given.length > 0 ? given.join(', ') : whole,
    )
    .replace(
      /\bos\.environ(?:\.get\(|\[)\s*["'](\w+)["']\s*[)\]]|\bos\.getenv\(\s*["'](\w+)["']\s*\)|\bprocess\.env(?:\.(?=\w)|\[\s*["'](?=\w+["']\s*\]))(\w+)(?:["']\s*\])?|\bENV(?:IRON)?\[\s*["'](\w+)["']\s*\]|\$ENV\{["']?(\w+)["']?\}|\bgetenv\(\s*["'](\w+)["']\s*\)/g,
      (whole: string, ...names: (string | undefined)[]) => {
        const value = variable(names.slice(0, 6).find((name) => name !== undefined) ?? '')
        return value === undefined ? whole : JSON.stringify(value)
      },
    )
    .replace(
      /\bsys\.stdin\.read(?:line)?\(\)|\binput\(\)|<STDIN>|\bSTDIN\.read\b|\$stdin\.read\b|\breadFileSync\(\s*0\b[^)]*\)|\bgets\b(?!\s*\()/g,
      (whole) => (stdin === undefined ? whole : JSON.stringify(stdin.trim())),
    )
    .replace(
      /\bopen\(\s*["']([^"'\n]+)["']\s*\)\.read\(\)|\b(?:readFileSync|File\.read|IO\.read|file_get_contents)\(?\s*["']([^"'\n]+)["'](?:,[^)]*)?\)?/g,
      (whole, one?: string, two?: string) => {
        const text = file(one ?? two ?? '')
        return text === undefined ? whole : JSON.stringify(text.trim())
      },
    )
}

/** `"$ARGV[0] |"` and `"$ENV{X}"` of Perl: the value becomes a part of the string around it. */
function interpolated(code: string, given: readonly string[], variable: Outside['variable']): string {
  if (!/\$(?:ARGV\[|ENV\{)/.test(code)) return code
  return code.replace(/"(?:[^"\\\n]|\\.)*"|`[^`\n]*`/g, (text) =>
    text.replace(/\$ARGV\[(\d)\]|\$ENV\{(\w+)\}/g, (whole, at?: string, name?: string) => {
      const value = at === undefined ? variable(name ?? '') : given[Number(at)]?.slice(1, -1)
      return value?.replace(/(?<!\\)"/g, '\\"') ?? whole
    }),
  )
}

/** `from shutil import rmtree as r`, `{ rmSync: r }`: the name stands for the call again. */
function withNames(source: string): string {
  let text = source
  for (const match of [
    ...source.matchAll(
      /\b(rmtree|remove|unlink|system|popen|rmSync|rmdirSync|unlinkSync|execSync|spawnSync|remove_tree|removedirs)\s*(?:\bas\s+|:\s*)([A-Za-z_]\w*)/g,
    ),
  ].slice(0, 10))
    text = text.replace(new RegExp(`(?<![\\w.])${match[2]}(?=\\s*\\()`, 'g'), match[1] ?? '')
  return text
}

/** `"rm -rf %s" % "/"` and `"rm -rf {}".format("/")` with one constant. */
function withFormats(source: string): string {
  return source
    .replace(/(["'])((?:(?!\1)[^\n%])*)%s((?:(?!\1)[^\n%])*)\1\s*%\s*\(?\s*(["'])((?:(?!\4)[^\n])*)\4/g, '$1$2$5$3$1')
    .replace(
      /(["'])((?:(?!\1)[^\n{}])*)\{0?\}((?:(?!\1)[^\n{}])*)\1\s*\.format\(\s*(["'])((?:(?!\4)[^\n])*)\4\s*\)/g,
      '$1$2$5$3$1',
    )
}

/** "r" + "m" and "r" . "m" are one string, in awk and python also "r" "m". */
function joined(source: string, language: string): string {
  const [double, single] = language === 'awk' || language === 'python' ? SIDE_BY_SIDE : ADDED
  let text = source
  for (let round = 0; round < 20; round++) {
    const next = text.replace(double, '"$1$2"').replace(single, "'$1$2'")
    if (next === text) return text
    text = next
  }
  return text
}

const ADDED = [
  /"((?:[^"\\\n]|\\.)*)"\s*(?:\+|\.(?!\w)|\.\.|<>|&)\s*"((?:[^"\\\n]|\\.)*)"/g,
  /'((?:[^'\\\n]|\\.)*)'\s*(?:\+|\.(?!\w)|\.\.|<>|&)\s*'((?:[^'\\\n]|\\.)*)'/g,
] as const
const SIDE_BY_SIDE = [
  /"((?:[^"\\\n]|\\.)*)"[ \t]*\+?[ \t]*"((?:[^"\\\n]|\\.)*)"/g,
  /'((?:[^'\\\n]|\\.)*)'[ \t]*\+?[ \t]*'((?:[^'\\\n]|\\.)*)'/g,
] as const

/** Replaces a name by the one string it was given, also inside the strings that interpolate it. */
function withVariables(source: string, language: string): string {
  const values = new Map<string, string>()
  for (const match of source.matchAll(
    /(?:^|[\s;({,])(?:const\s+|let\s+|var\s+|my\s+|local\s+)?([$@]?[A-Za-z_]\w*)\s*=\s*("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')(?=\s*(?:[;,)\n]|$))/g,
  )) {
    if (match[1] && match[2] && values.size < 20) values.set(match[1], match[2])
  }
  let text = source
  for (const [name, value] of values) {
    const escaped = name.replace(/[$@]/g, '\\$&')
    const ends = language === 'awk' ? '[,);+\\n}"]' : '[,);+\\n}]'
    text = text.replace(new RegExp(`(?<=[(,+\\s])${escaped}(?=\\s*${ends}|$)`, 'g'), () => value)
    text = text.replace(
      new RegExp(name.startsWith('$') ? `${escaped}\\b(?!\\s*=)` : `[$#]?\\{\\s*${escaped}\\s*\\}`, 'g'),
      () => value.slice(1, -1),
    )
  }
  return joined(text, language)
}

/** Text that was encoded on purpose, decoded where the call is known. */
export function decodedStrings(source: string): string[] {
  const found: string[] = []
  const base64 =
    /\b(?:b64decode|atob|decode_base64|decode64|urlsafe_decode64|base64_decode|from_base64|frombase64string|standard_b64decode|base64)\b/i.test(
      source,
    ) || /unpack\(?\s*["']m/.test(source)
  const hex = /\b(?:fromhex|unhexlify|hex2bin)\b|["']hex["']|pack\s*\(?\s*["']H/i.test(source)
  if (!base64 && !hex && !/\[::-1\]|\breverse\b|\brot_?13\b|strrev|fromCharCode|\bchr\b/.test(source)) return found
  for (const { text } of strings(source)) {
    if (text.length < 6) continue
    const decoded = [base64 ? decodeBase64(text) : undefined, hex ? decodeHex(text) : undefined]
    if (/\[::-1\]|\breverse\b|strrev/.test(source)) decoded.push([...text].reverse().join(''))
    if (/rot_?13/i.test(source))
      decoded.push(
        text.replace(/[a-z]/gi, (char) => String.fromCharCode(char.charCodeAt(0) + (/[a-m]/i.test(char) ? 13 : -13))),
      )
    for (const one of decoded) if (one !== undefined && /^[\t\n\r\x20-\x7e]+$/.test(one)) found.push(one)
  }
  const codes =
    /fromCharCode\(([\d,\s]+)\)/.exec(source)?.[1] ??
    /\bmap\(\s*chr\s*,\s*[[(]([\d,\s]+)[\])]/.exec(source)?.[1] ??
    [...source.matchAll(/\bchr\s*\(?\s*(\d{2,3})\s*\)?/g)].map((match) => match[1]).join(',')
  if (codes) found.push(String.fromCharCode(...codes.split(',').slice(0, 1_000).map(Number)))
  return found
}
