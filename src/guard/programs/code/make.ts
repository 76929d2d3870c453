/** make: recipes of makefiles that are known here, with their variables put in. */
import { resolvePath } from '../../words/paths.js'
import { plain, unique } from '../../words/text.js'
import { judgeCode } from './inline.js'
import { type Call, known, options, type Program } from '../row/call.js'

export const make: Program = (call) => {
  const given = options(call.args, {
    short: 'fCIjlWoE',
    long: ['file', 'makefile', 'directory', 'eval', 'include-dir', 'old-file', 'what-if'],
  })
  const inner = call.shell.fork()
  const environment = call.environment
  for (const directory of given.all('C', 'directory'))
    inner.cwd = unique(inner.cwd.map((cwd) => resolvePath(directory, cwd)))
  const texts = [...given.all('E', 'eval')]
  const files = given.all('f', 'file', 'makefile')
  // Without -f it reads the Makefile beside it: known when this same command wrote it.
  if (files.length === 0)
    texts.push(
      ...['GNUmakefile', 'makefile', 'Makefile'].flatMap((file) =>
        call.walker.streams.contents(file, inner).filter(known),
      ),
    )
  for (const file of files)
    texts.push(...(file === '-' || file === '/dev/stdin' ? (call.stdin ?? []) : call.contents(file)))
  if (given.has('n', 'just-print', 'dry-run', 'recon') && texts.length === 0) return
  for (const text of texts) {
    call.walker.code(plain(text), text.includes('{{'))
    const lines = plain(text)
      .replace(/\\\n\t?/g, ' ')
      .split('\n')
    const variables = makeVariables(lines, given.operands.map(plain), inner)
    for (const line of lines) {
      const recipe = /^\t[-@+]*(.*)$/.exec(line)?.[1] ?? /^[\w.%-]+\s*:[^=;]*;\s*[-@+]*(.*)$/.exec(line)?.[1]
      if (!recipe) continue
      const written = recipe
        .replace(/\$(?:\((\w+)\)|\{(\w+)\})/g, (whole, round?: string, curly?: string) => {
          const name = round ?? curly ?? ''
          return variables.get(name) ?? outside(environment, name) ?? whole
        })
        .replaceAll('$$', '$')
      if (written.includes('{{') && !recipe.includes('{{')) call.walker.code(written)
      call.walker.tryScript(written, inner)
    }
    for (const match of plain(text).matchAll(/\$\(shell ([^)]*)\)/g)) call.walker.tryScript(match[1] ?? '', inner)
  }
  for (const word of given.operands) {
    // `make x` builds it from x.c without a makefile.
    for (const text of ['.c', '.cc', '.cpp', '.sh'].flatMap((end) => [
      ...call.walker.streams.contents(`${word}${end}`, inner),
    ]))
      if (known(text)) judgeCode(plain(text), 'c', call)
    const value = /^[A-Za-z_]\w*:?=(.*)$/s.exec(plain(word))?.[1]
    const shell = value === undefined ? undefined : /\$\(shell ([^)]*)\)/.exec(value)?.[1]
    if (shell) call.walker.tryScript(shell, inner)
    // `make SHELL=...`: that program is started with each recipe.
    const program = /^\.?SHELL(?:FLAGS)?=(?:-\w+\s)?(.*)$/s.exec(plain(word))?.[1]
    if (program) call.walker.tryScript(program, inner)
  }
}

function outside(shell: Call['shell'], name: string): string | undefined {
  return shell.variables.get(name)?.values[0] ?? shell.around.variables[name]
}

/** What `$(NAME)` means in a makefile: the command line wins over the file, the file over the environment. */
function makeVariables(
  lines: readonly string[],
  operands: readonly string[],
  shell: Call['shell'],
): ReadonlyMap<string, string> {
  const found = new Map<string, string>([['HOME', shell.home[0] ?? '']])
  for (const line of [...lines, ...operands]) {
    const assigned = /^(?:export\s+|override\s+)*(\w+)\s*[:?+!]{0,3}=\s*(.*)$/s.exec(line)
    if (assigned) found.set(assigned[1] ?? '', assigned[2] ?? '')
  }
  return found
}
