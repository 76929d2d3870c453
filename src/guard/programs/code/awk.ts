/** awk: commands in its programs, and what it prints of lines that are known. */
import { DEVICES, hasUnknown, isConstant, isEverything, plain, TREE, UNKNOWN } from '../../words/text.js'
import { fieldsOf, homesOf, options, type Program } from '../row/call.js'
import { judgeCode, printedBy } from './inline.js'

/** Every line but some (`!/keep/`, `NR > 1`, `$0 != "keep"`), whole or one field of it. */
const EXPRESSION = String.raw`/(?:\\.|[^/\\])*/`
const OTHER_THAN = String.raw`\$\w+\s*!~?=?\s*(?:${EXPRESSION}|"[^"]*"|\w+)`
const UNLIKE = String.raw`(?:!\s*\(?\s*${EXPRESSION}\s*\)?|${OTHER_THAN}|NR\s*(?:>=?|!=)\s*\d+|NF|1)`
const LEAVES_NEARLY_ALL = new RegExp(
  String.raw`^\s*(?:${UNLIKE}(?:\s*&&\s*${UNLIKE})*)?\s*(?:\{\s*print\s*\(?(?:\$\w+)?\)?\s*;?\s*\})?\s*$`,
)

/** Long programs are not asked: blanks alone could make the expression slow. */
function leavesNearlyAll(program: string): boolean {
  return program.length < 200 && LEAVES_NEARLY_ALL.test(program)
}

export const awk: Program = (call) => {
  const given = options(call.args, {
    short: 'Ffvieom',
    long: ['field-separator', 'file', 'assign', 'source', 'include', 'exec'],
    stop: true,
  })
  const programs = [
    ...given.all('e', 'source'),
    ...(given.get('f', 'file') === undefined && given.get('e', 'source') === undefined
      ? given.operands.slice(0, 1)
      : []),
  ]
  for (const file of given.all('f', 'file'))
    for (const text of call.contents(file)) if (text !== UNKNOWN) programs.push(text)
  const assigned = given
    .all('v', 'assign')
    .map((word) => plain(word).replace(/^(\w+)=(.*)$/s, (_, name: string, value: string) => `${name}="${value}";`))
    .join('')
  const files = call.texts(given.operands.slice(1))
  const read = [...(call.stdin ?? []), ...files]
  for (const program of programs) {
    call.walker.code(plain(program))
    judgeCode(assigned + plain(program), 'awk', call)
    if (/\bsystem\b|\|/.test(program))
      for (const line of knownLines(read)) judgeCode(assigned + withFields(plain(program), line), 'awk', call)
    // Lines of the input that the program hands to a shell.
    if (/system\s*\(\s*\$|\|&?\s*"(?:\/bin\/)?(?:ba|da|z)?sh"/.test(program))
      for (const text of read) if (text !== UNKNOWN) call.tryScript(text)
  }
  // `print > FILE`: lines of the input come into it.
  for (const [, file = ''] of programs.flatMap((program) => [...plain(program).matchAll(/>\s*"([^"]+)"/g)]))
    if (read.some(isConstant)) call.write(file, read.filter(isConstant), true)
  const tree = (call.stdin ?? []).some((text) => text.includes(TREE))
  const everything =
    read.some(isEverything) &&
    programs.length > 0 &&
    programs.every((program) => leavesNearlyAll(plain(program)) || (tree && !/[/~]|==/.test(plain(program))))
  const first = plain(programs[0] ?? '')
  const separator = given.get('F', 'field-separator')
  // The first column of a table of disks; the homes in a table of accounts.
  if (read.includes(DEVICES) && /\bprint\s*\(?\$1\s*[;)}]/.test(first)) return [DEVICES]
  if (separator === ':' && /^[^=/~]*(?:>=[^=/~]*)?\bprint\s+\$6\s*\}\s*$/.test(first)) return homesOf(call.shell)
  const column = /^\s*(?:\/[^/]*\/\s*)?\{\s*print\s*\(?\$(\d)\)?;?\s*\}\s*$/.exec(first)?.[1]
  if (column !== undefined && separator === undefined && read.some(isConstant))
    return read.filter(isConstant).map((text) => columnOf(text, Number(column)))
  const recased = /^\s*\{\s*print\s+to(low|upp)er\(\s*\$0\s*\)\s*\}\s*$/.exec(first)?.[1]
  if (recased !== undefined && call.stdin)
    return call.stdin.map((text) => (recased === 'low' ? text.toLowerCase() : text.toUpperCase()))
  const printed = everything ? read.filter(isEverything) : printedBy(programs.map(plain).join('\n'), call)
  if (given.all('i').includes('inplace')) call.effects('edit', given.operands.slice(1))
  return printed
}

/** The first lines of an input that is known. */
function knownLines(texts: readonly string[]): string[] {
  return texts
    .filter((text) => !hasUnknown(text))
    .flatMap((text) => text.split('\n').filter((line) => line !== ''))
    .slice(0, 20)
}

/** One word of each line; any line may be one of those that a pattern picks out. */
function columnOf(text: string, at: number): string {
  return text
    .split('\n')
    .map((line) => `${at === 0 ? line : (fieldsOf(line)[at - 1] ?? '')}\n`)
    .join('')
}

/** `$0`, `$1`, ... of a program as the strings that one line makes of them. */
function withFields(program: string, line: string): string {
  const fields = fieldsOf(line)
  return program.replace(
    /\$(\d)/g,
    (_, number: string) =>
      `"${(number === '0' ? line : (fields[Number(number) - 1] ?? '')).replace(/["\\]/g, '\\$&')}"`,
  )
}
