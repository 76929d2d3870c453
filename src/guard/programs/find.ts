/** find and fd: which paths their tests leave, and what their actions do to those. */
import { criticalBelow } from '../words/paths.js'
import { activate, hasUnknown, plain, TREE, UNKNOWN } from '../words/text.js'
import { type Call, options, type Program } from './call.js'
import { foundPaths } from './printing.js'

/** Tests of find that pick out particular names; the others (-type, -user, -mtime ...) match the system itself. */
const NAME_TESTS = /^-(i?name|i?path|i?wholename|i?regex|i?lname|samefile|inum|newer\w*|cnewer|anewer)$/

export const find: Program = (call) => {
  const words = call.argv.slice(1)
  let at = 0
  while (/^-([HLP-]|D|O\d*)$/.test(words[at] ?? '')) at += words[at] === '-D' ? 2 : 1
  const starts: string[] = []
  for (; at < words.length && !/^[-(!,]/.test(words[at] ?? ''); at++) starts.push(words[at] ?? '')
  if (starts.length === 0) starts.push('.')
  let narrowed = false
  let names: string[] = []
  let negated = false
  let prints = true
  for (; at < words.length; at++) {
    const word = words[at] ?? ''
    if (word === '!' || word === '-not') {
      negated = !negated
      continue
    }
    if (word === '-o' || word === '-or' || word === ',') {
      narrowed = false
      names = []
    }
    if (NAME_TESTS.test(word)) {
      const pattern = words[at + 1] ?? ''
      if (!negated && !/^[*?./]*$/.test(plain(pattern)) && !(hasUnknown(pattern) && pattern.length === 1)) {
        narrowed = true
        if (/^-i?name$/.test(word)) names.push(activate(pattern))
      }
      at++
    } else if (word === '-maxdepth' && words[at + 1] === '0') at++
    else if (word === '-delete') {
      for (const path of targets(starts, narrowed, names))
        call.walker.effect('delete-tree', path, call.shell, call.argv)
      prints = false
    } else if (/^-(exec|execdir|ok|okdir)$/.test(word)) {
      const end = words.findIndex((other, i) => i > at && (other === ';' || (other === '+' && words[i - 1] === '{}')))
      const template = words.slice(at + 1, end < 0 ? undefined : end)
      for (const path of targets(starts, narrowed, names)) run(call, template, path, word)
      at = end < 0 ? words.length : end
      prints = false
    } else if (/^-(fprint|fprint0|fls)$/.test(word))
      call.walker.effect('overwrite', words[++at] ?? '', call.shell, call.argv)
    else if (word === '-fprintf') {
      call.walker.effect('overwrite', words[at + 1] ?? '', call.shell, call.argv)
      at += 2
    } else if (
      /^-(printf|type|user|group|size|mtime|atime|ctime|mmin|perm|mindepth|maxdepth|uid|gid|links)$/.test(word)
    )
      at++
    negated = false
  }
  if (!prints) return undefined
  const printed = foundPaths(starts, narrowed)
  return words.includes('-print0') ? printed.map((text) => text.replaceAll('\n', '\0')) : printed
}

/** What an action of find is applied to: everything, what a name test selects, and what it selects right at the start. */
export function targets(starts: readonly string[], narrowed: boolean, names: readonly string[]): string[] {
  if (!narrowed) return foundPaths(starts, false).flatMap((text) => text.trim().split('\n'))
  return starts.flatMap((start) => [
    selected(start),
    ...names.flatMap((name) => [`${start}/${name}`, ...criticalBelow(start, name)]),
  ])
}

function selected(start: string): string {
  return foundPaths([start], true)[0]?.trim() ?? start
}

function run(call: Call, template: readonly string[], path: string, action: string): void {
  const inner = call.shell.fork()
  if (action.endsWith('dir')) inner.cwd = [UNKNOWN]
  if (template.length > 0)
    call.walker.argv(
      template.map((word) => word.replaceAll('{}', path)),
      inner,
      null,
    )
}

export const fd: Program = (call) => {
  const words = call.argv.slice(1)
  const at = words.findIndex((word) => /^(-x|-X|--exec|--exec-batch)$/.test(word))
  if (at < 0) return undefined
  const operands = options(words.slice(0, at), {
    short: 'eEtdjcSo',
    long: ['extension', 'exclude', 'type', 'max-depth', 'threads', 'size', 'owner'],
  }).operands
  const narrowed = operands.length > 0 && !/^[.*]*$/.test(plain(operands[0] ?? ''))
  const start = operands[1] ?? '.'
  const template = words.slice(at + 1)
  const path = narrowed ? selected(start) : `${start}/${TREE}`
  call.walker.argv(
    template.some((word) => word.includes('{}'))
      ? template.map((word) => word.replaceAll('{}', path))
      : [...template, path],
    call.shell.fork(),
    null,
  )
  return undefined
}
