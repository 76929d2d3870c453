/** env and its like: variables for one command, and command lines given as one string. */
import { plain } from '../../words/text.js'
import { judgeVariable } from '../shell/builtins.js'
import { type Call, listed, type Program, splitString } from '../row/call.js'

export const env: Program = (call) => {
  const inner = call.shell.fork()
  const split = (text: string): string[] =>
    splitString(text.replace(/\$\{(\w+)\}/g, (_, name: string) => call.shell.get(name).values[0] ?? ''))
  let words = call.args
  for (let guard = 0; guard < 100; guard++) {
    const word = words[0] ?? ''
    if (word === '-' || /^(-i|-0|-v|--ignore-environment|--null|--debug|--list-signal-handling)$/.test(word))
      words.shift()
    else if (word === '--') {
      words.shift()
      break
    } else if (/^(-u|--unset|-C|--chdir)$/.test(word)) words = chdir(words, 2, words[1], word, inner)
    else if (/^(--unset=|--chdir=|--block-signal|--default-signal|--ignore-signal|--argv0)/.test(word))
      words = chdir(words, 1, word.slice(word.indexOf('=') + 1), word, inner)
    else if (/^-[uC]./.test(word)) words = chdir(words, 1, word.slice(2), word, inner)
    else if (word === '-a') words.splice(0, 2)
    else if (word === '-S' || word === '--split-string') words = [...split(words[1] ?? ''), ...words.slice(2)]
    else if (word.startsWith('--split-string='))
      words = [...split(word.slice('--split-string='.length)), ...words.slice(1)]
    else if (/^-[iv0]*S/.test(word))
      words = [
        ...split(word.replace(/^-[iv0]*S/, '') || (words[1] ?? '')),
        ...words.slice(/^-[iv0]*S$/.test(word) ? 2 : 1),
      ]
    else if (/^-[iv0]+[uC]/.test(word)) words.splice(0, 2)
    else if (/^-/.test(word)) words.shift()
    else break
  }
  const rest = takeAssignments(words, call, inner)
  return rest.length === 0 ? listed(inner) : call.walker.external(rest, inner, call.stdin)
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

function chdir(
  words: readonly string[],
  drop: number,
  target: string | undefined,
  option: string,
  inner: Call['shell'],
): string[] {
  if (/^(?:-C|--chdir)/.test(option) && target)
    inner.cwd = target.startsWith('/') ? [target] : inner.cwd.map((cwd) => `${cwd}/${target}`)
  return words.slice(drop)
}
