/** env and its like: variables for one command, and command lines given as one string. */
import { plain } from '../../words/text.js'
import { judgeVariable } from '../shell/builtins.js'
import { type Call, listed, type Program, splitString } from '../row/call.js'

export const env: Program = (call) => {
  const inner = call.shell.fork()
  const split = (text: string): string[] =>
    splitString(text.replace(/\$\{(\w+)\}/g, (_, name: string) => call.shell.get(name).values[0] ?? ''))
  let words = call.args
  for (let guard = 0; guard < 100 && words[0]?.startsWith('-'); guard++) {
    const [word = '', next = ''] = words
    const [letter, joined] = optionOf(word)
    words = words.slice(letter === undefined || joined !== undefined ? 1 : 2)
    const value = joined ?? next
    if (letter === 'C' && value !== '')
      inner.cwd = value.startsWith('/') ? [value] : inner.cwd.map((cwd) => `${cwd}/${value}`)
    if (letter === 'S') words = [...split(value), ...words]
    if (word === '--') break
  }
  const rest = takeAssignments(words, call, inner)
  return rest.length === 0 ? listed(inner) : call.walker.external(rest, inner, call.stdin)
}

/** Options of env with a value, by their letters. */
const WITH_VALUE: Readonly<Record<string, string>> = { unset: 'u', chdir: 'C', 'split-string': 'S', argv0: 'a' }

/** The letter of an option that takes a value, and the value where it is in the same word. */
function optionOf(word: string): readonly [letter?: string, value?: string | undefined] {
  const [, name, given] = /^--([a-z][\w-]*)(?:=(.*))?$/s.exec(word) ?? []
  if (name !== undefined) {
    const whole = Object.keys(WITH_VALUE).find((one) => one.startsWith(name))
    return whole === undefined ? [] : [WITH_VALUE[whole], given]
  }
  const [, letter, rest] = /^-[^-uCSa]*([uCSa])(.*)$/s.exec(word) ?? []
  return [letter, rest === '' ? undefined : rest]
}

/** `A=1 B=2 cmd` in the arguments of env and sudo. */
export function takeAssignments(words: readonly string[], call: Call, inner: Call['shell']): string[] {
  let i = 0
  for (; i < words.length; i++) {
    // A function for the shells below.
    const body = /^BASH_FUNC_[^=]+=\s*\(\)\s*(.*)$/s.exec(words[i] ?? '')?.[1]
    if (body !== undefined) call.walker.tryScript(plain(body), inner)
    const text = /^([A-Za-z_]\w*)=(.*)$/s.exec(words[i] ?? '')
    if (!text && body === undefined) break
    if (!text) continue
    inner.set(text[1] ?? '', [plain(text[2] ?? '')])
    judgeVariable(text[1] ?? '', [plain(text[2] ?? '')], call)
  }
  return words.slice(i)
}
