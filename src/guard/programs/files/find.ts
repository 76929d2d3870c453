/** find and fd: which paths their tests leave, and what their actions do to those. */
import { unescape } from '../../words/escapes.js'
import { globMatches } from '../../words/glob.js'
import { isInside } from '../../../contract/names/inside.js'
import { criticalBelow, locate, resolvePath } from '../../words/paths.js'
import { activate, hasUnknown, plain, SELECTED, TREE, UNKNOWN } from '../../words/text.js'
import { type Call, options, type Program } from '../row/call.js'

/** Tests of find that pick out particular names; the others (-type, -user, -mtime ...) match the system itself. */
const NAME_TESTS = /^-(i?name|i?path|i?wholename|i?regex|i?lname|samefile|inum|newer\w*|cnewer|anewer)$/

/** Links that lead nowhere, sockets and pipes: nothing is lost with them. With -L only such a link is still one. */
const NOWHERE = /^-xtype l$|^-type [sp]$/
const NOWHERE_BEHIND = /^-type [lsp]$/

export const find: Program = (call) => {
  const words = call.args
  let at = 0
  while (/^-([HLP-]|D|O\d*)$/.test(words[at] ?? '')) at += words[at] === '-D' ? 2 : 1
  const given: string[] = []
  for (; at < words.length && !/^[-(!,]/.test(words[at] ?? ''); at++) given.push(words[at] ?? '')
  // An empty starting point is an error of its own: find says so and goes on with the others.
  const starts = given.filter((start) => start !== '')
  const list = words.indexOf('-files0-from')
  if (list >= 0)
    for (const text of call.contents(words[list + 1] ?? ''))
      starts.push(...text.split('\0').filter((path) => path.trim() !== ''))
  if (given.length === 0 && list < 0) starts.push('.')
  const follows = words.slice(0, at).some((word) => /^-[HL]$/.test(word))
  let narrowed = false
  /** Selected by age, size or emptiness: few files of a home directory, but too many of the system's. */
  let sifted = false
  let names: string[] = []
  let negated = false
  let prints = true
  const formats: string[] = []
  const found = (isFew = narrowed): string[] => targets(siftedStarts(starts, sifted, call), isFew, names, call, follows)
  for (; at < words.length; at++) {
    const word = words[at] ?? ''
    if (word === '!' || word === '-not') {
      negated = !negated
      continue
    }
    if (word === '-o' || word === '-or' || word === ',') {
      narrowed = sifted = false
      names = []
    }
    if (NAME_TESTS.test(word)) {
      const pattern = words[at + 1] ?? ''
      if (!negated && !/^[*?./]+$/.test(plain(pattern))) {
        narrowed = true
        // Nothing has an empty name; a number, and a file that others are newer than, is no name.
        if (pattern !== '' && !/^-(?:inum|.?newer)/.test(word))
          names.push(activate(/^-i?regex$/.test(word) ? pattern.replaceAll('.*', '*') : pattern))
      }
      at++
    } else if (isOthers(word, words[at + 1], call) && !negated) {
      narrowed = true
      if (!/^-no/.test(word)) at++
    } else if (isSifting(word, words[at + 1] ?? '') && !negated) {
      sifted = true
      if (word !== '-empty') at++
    } else if ((words[0] === '-L' ? NOWHERE_BEHIND : NOWHERE).test(`${word} ${words[at + 1]}`) && !negated) {
      narrowed = true
      at++
    } else if (word === '-maxdepth' && words[at + 1] === '0') at++
    else if (word === '-delete' || word === '-rm') {
      call.effects('delete-tree', found())
      prints = false
    } else if (/^-(exec|execdir|ok|okdir)$/.test(word)) {
      const end = words.findIndex((other, i) => i > at && (other === ';' || (other === '+' && words[i - 1] === '{}')))
      const template = words.slice(at + 1, end < 0 ? undefined : end)
      const modes = /^(?:chmod|chgrp|chown)$/.test(template[0] ?? '') && words.includes('-perm')
      for (const path of found(narrowed || modes)) run(call, template, path, word)
      at = end < 0 ? words.length : end
      prints = false
    } else if (/^-(fprint|fprint0|fls)$/.test(word)) call.effect('overwrite', words[++at] ?? '')
    else if (word === '-fprintf') {
      call.effect('overwrite', words[at + 1] ?? '')
      at += 2
    } else if (word === '-printf') formats.push(words[++at] ?? '')
    else if (/^-(type|user|group|size|mtime|atime|ctime|mmin|perm|mindepth|maxdepth|uid|gid|links)$/.test(word)) at++
    negated = false
  }
  if (!prints) return
  // `-printf 'rm -rf %p\n'`: lines for a shell.
  if (formats.length > 0)
    return [
      found()
        .map((path) =>
          unescape(formats.join(''))
            .replace(/%[pP]/g, () => path)
            .replace(/%[^%\n]/g, UNKNOWN),
        )
        .join(''),
    ]
  const printed = `${found().join('\n')}\n`.replace(/^\n$/, '')
  return [words.includes('-print0') ? printed.replaceAll('\n', '\0') : printed]
}

/** Files of a user that is neither root nor the one that works here, or of no user. */
function isOthers(test: string, who: string | undefined, { shell }: Call): boolean {
  if (/^-no(?:user|group)$/.test(test)) return true
  if (!/^-(?:user|group|uid|gid)$/.test(test) || who === undefined || hasUnknown(who)) return false
  return !/^(?:root|0|wheel|users|staff)$/.test(plain(who)) && !shell.get('USER').values.includes(plain(who))
}

function isSifting(test: string, value: string): boolean {
  if (test === '-empty') return true
  if (/^-(?:[amc]time|[amc]min|used)$/.test(test)) return !/^-?0+$|^\+0+$/.test(value)
  return test === '-size' && !/^\+?0/.test(value)
}

/** Starting points below which a test of age or size leaves only a few files: anything but the system itself. */
function siftedStarts(starts: readonly string[], sifted: boolean, { shell }: Call): string[] {
  if (!sifted) return [...starts]
  return starts.map((start) => {
    const system = shell.cwd.some((cwd) => {
      const place = locate(resolvePath(start, cwd), shell.home)
      return place !== undefined && (place.place !== 'home' || place.shown === '/root') && place.shown !== '/home'
    })
    return system ? start : `${start.replace(/\/$/, '')}/${SELECTED}`
  })
}

/**
 * What an action of find is applied to: everything, what a name test selects, and what it selects right at the start.
 */
export function targets(
  starts: readonly string[],
  narrowed: boolean,
  names: readonly string[],
  { shell }: Pick<Call, 'shell'>,
  follows = false,
): string[] {
  return starts.flatMap((start) => {
    if (start.endsWith(SELECTED)) return [start]
    const from = start.replace(/(.)\/$/, '$1')
    // With a slash at its end, or with -L, a link is followed.
    const below = (what: string): string =>
      `${from === '/' ? '' : from}${follows || start.endsWith('/') ? '/' : ''}/${what}`
    if (!narrowed) return [below(TREE)]
    if (names.length === 0) return [below(SELECTED)]
    return names.flatMap((name) => [below(SELECTED + name), ...namedBelow(from, name, shell)])
  })
}

/** Directories and files that matter, where a name test picks them out. */
function namedBelow(start: string, name: string, shell: Call['shell']): string[] {
  if (name.includes('/')) return []
  const here = /^\/home\/?$/.test(start) ? [] : [`${start}/${name}`]
  if (hasUnknown(name)) return here
  const homes = shell.home.filter(
    (home) => home.startsWith('/') && globMatches(name, home.slice(home.lastIndexOf('/') + 1)),
  )
  return [...here, ...criticalBelow(start, name), ...homes.filter((home) => isInside(home, start))]
}

function run(call: Call, template: readonly string[], path: string, action: string): void {
  const inner = call.shell.fork()
  if (action.endsWith('dir')) inner.cwd = [UNKNOWN]
  // `mv {} /backup/{}`: each file gets a name of its own there, and nothing else there is touched.
  const last = PUTS_ELSEWHERE.test(template[0] ?? '') ? template.length - 1 : -1
  const filled = template.map((word, i) =>
    word.replaceAll('{}', i === last && /[^/]\/\{\}$/.test(word) ? `${UNKNOWN}name` : path),
  )
  if (filled.length > 0) call.walker.argv(filled, inner, null)
}

const PUTS_ELSEWHERE = /^(?:mv|cp|ln|install)$/

export const fd: Program = (call) => {
  const words = call.args
  const at = words.findIndex((word) => /^(-x|-X|--exec|--exec-batch)$/.test(word))
  if (at < 0) return
  const given = options(words.slice(0, at), {
    short: 'eEtdjcSo',
    long: ['extension', 'exclude', 'type', 'max-depth', 'threads', 'size', 'owner'],
  })
  const [pattern = '', start = '.'] = given.operands
  const names = given.all('e', 'extension').map((extension) => activate(`*.${extension}`))
  const narrowed = names.length > 0 || !/^[.*]*$/.test(plain(pattern))
  const template = words.slice(at + 1)
  for (const path of targets([start], narrowed, names, call))
    call.start(
      template.some((word) => word.includes('{}'))
        ? template.map((word) => word.replaceAll('{}', path))
        : [...template, path],
    )
}
