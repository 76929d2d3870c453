/** Where the shell is: `cd` and the stack of directories. */
import { resolvePath } from '../../words/paths.js'
import { ANYTHING, NOTHING, plain, unique } from '../../words/text.js'
import { options, type Program } from '../row/call.js'

const cd: Program = ({ argv, shell, environment }) => {
  const { operands } = options(argv.slice(1))
  const target = argv[1] === '-' ? '-' : operands[0]
  const before = shell.cwd
  const searched = (environment.get('CDPATH').values[0] ?? '').split(':').filter((path) => path.startsWith('/'))
  if (target === undefined) shell.cwd = shell.home
  else if (target === '-') shell.cwd = shell.previousCwd
  else
    shell.cwd = unique(
      [...(/^\.{0,2}\//.test(target) ? [] : searched), ...before].map((cwd) =>
        target === '' ? cwd : resolvePath(plain(target), cwd),
      ),
    )
  shell.previousCwd = before
  return NOTHING
}

/** `pushd DIR`; without one the two upper directories change places, with `+N` or `-N` that one comes to the top. */
const pushd: Program = (call) => {
  const { shell } = call
  const all = shell.directories
  const operand = call.args.find((arg) => !/^-(?:n|-)$/.test(arg))
  const at = operand === undefined ? 1 : placeIn(all, operand)
  if (at === undefined) {
    cd(call.withArgv(['cd', operand ?? '']), 'cd')
    shell.directoryStack = all
  } else if (at >= 0 && at < all.length) {
    const [top = ANYTHING, ...rest] =
      operand === undefined ? [...all.slice(1, 2), shell.cwd, ...all.slice(2)] : [...all.slice(at), ...all.slice(0, at)]
    shell.previousCwd = shell.cwd
    shell.cwd = top
    shell.directoryStack = rest
  }
  return ANYTHING
}

/** `popd` leaves the top, `popd +N` and `popd -N` take another one out. */
const popd: Program = ({ argv, shell }) => {
  const at = placeIn(shell.directories, argv[1] ?? '+0') ?? 0
  const [top = ANYTHING, ...rest] = shell.directories.filter((_, i) => i !== at)
  if (at === 0) shell.previousCwd = shell.cwd
  shell.cwd = top
  shell.directoryStack = rest
  return ANYTHING
}

/** The place that `+N` (from the top) or `-N` (from the bottom) means in a list of directories. */
function placeIn(all: readonly unknown[], word: string): number | undefined {
  const [, sign, digits] = /^([-+])(\d{1,4})$/.exec(word) ?? []
  return sign === undefined ? undefined : sign === '+' ? Number(digits) : all.length - 1 - Number(digits)
}

/** `dirs` prints the stack; `+N` one of it. */
const dirs: Program = ({ argv, shell }) => {
  const at = /^\+(\d+)$/.exec(argv.find((word) => /^\+\d+$/.test(word)) ?? '')?.[1]
  if (at !== undefined) return (shell.directories[Number(at)] ?? []).map((directory) => `${directory}\n`)
  return [`${shell.directories.map(([directory]) => directory).join(' ')}\n`]
}

export const DIRECTORY_BUILTINS: Readonly<Record<string, Program>> = { cd, pushd, popd, dirs }
