/** Builtins that give names a meaning, and text to readline and history: alias, hash, type, complete, fc. */
import { activate, type Alternatives, ANYTHING, NOTHING, plain } from '../../words/text.js'
import { type Call, options, type Program, table } from '../row/call.js'

const alias: Program = ({ argv, shell }) => {
  for (const word of argv.slice(1)) {
    const text = /^([^=]+)=(.*)$/s.exec(word)
    if (text) shell.aliases.set(text[1] ?? '', plain(text[2] ?? ''))
  }
  const asked = argv.slice(1).filter((word) => !word.includes('='))
  return argv.length > 1 && asked.length === 0 ? NOTHING : told(asked, (name) => aliasLine(shell, name))
}

const unalias: Program = ({ argv, shell }) => {
  if (argv.includes('-a')) shell.aliases.clear()
  for (const name of argv.slice(1)) shell.aliases.delete(name)
  return NOTHING
}

/** `hash -p /bin/rm ls` gives a command another meaning. */
const hash: Program = ({ argv, shell }) => {
  const given = options(argv.slice(1), { short: 'p' })
  const path = given.get('p')
  if (path) for (const name of given.operands) shell.aliases.set(name, path)
  return NOTHING
}

/** `history -s TEXT` keeps what `fc -s` runs. */
const history: Program = ({ argv, shell, walker }) => {
  if (/^-[wa]$/.test(argv[1] ?? ''))
    for (const file of argv[2] === undefined ? shell.get('HISTFILE').values : [argv[2]])
      if (!/^\/dev\/null$|^$/.test(file)) walker.effect(argv[1] === '-a' ? 'append' : 'overwrite', file, shell, argv)
  if (argv[1] === '-s') walker.tryScript(argv.slice(2).map(plain).join(' '), shell)
  // `history -a; history -c; history -r`: what was written to the file is read again, with what other shells wrote.
  const [saved, cleared] = walker.commands.slice(-3, -1).map((words) => words.join(' '))
  if (argv.slice(1).some((arg) => /^-\w*c/.test(arg))) walker.report('wipe-history', argv)
  else if (argv[1] === '-r' && saved === 'history -a' && cleared === 'history -c') walker.findings.pop()
  return ANYTHING
}

/** `complete -C cmd`, `bind -x '"k":cmd'`, `compgen -C cmd`: text that is run later. */
const readlineHook: Program = ({ argv, shell, walker }) => {
  const given = options(argv.slice(1), { short: 'CxFGPSXWAo' })
  // `compgen -G PATTERN` prints the names that the pattern matches.
  const pattern = argv[0] === 'compgen' ? given.get('G') : undefined
  if (pattern !== undefined) return [`${activate(pattern)}\n`]
  if (argv[0] === 'compgen' && given.has('d', 'f')) return given.operands.map((start) => `${activate(`${start}*`)}\n`)
  for (const text of given.all('C', 'x')) walker.tryScript(plain(text).replace(/^"[^"]*":/, ''), shell)
  // The words of `-W` are expanded, the function of `compgen -F` is called.
  for (const text of given.all('W')) walker.prompt(plain(text), shell)
  if (argv[0] === 'compgen') for (const name of given.all('F')) walker.tryScript(name, shell)
  return ANYTHING
}

/** `fc -e EDITOR`: the editor is a command line. */
const fc: Program = ({ argv, shell, walker }) => {
  for (const line of options(argv.slice(1), { short: 'e' }).all('e')) walker.tryScript(plain(line), shell)
  return ANYTHING
}

/** `type -P NAME`, `type -p NAME` print where a program is, `type NAME` what a function is. */
const type: Program = ({ argv, shell }) => {
  const given = options(argv.slice(1))
  if (given.has('p', 'P')) return given.operands.map((name) => `/usr/bin/${name}\n`)
  return functionsOf(given.operands, shell, (name) => `${name} is a function\n`)
}

/** What `declare -f NAME` prints. */
export function functionsOf(
  names: readonly string[],
  shell: Call['shell'],
  headOf: (name: string) => string = () => '',
): Alternatives {
  return told(names, (name) => {
    const source = shell.functions.get(name)?.source
    return source === undefined ? undefined : `${headOf(name)}${source}\n`
  })
}

function aliasLine(shell: Call['shell'], name: string): string | undefined {
  const text = shell.aliases.get(name)
  return text === undefined ? undefined : `alias ${name}='${text.replaceAll("'", `'\\''`)}'\n`
}

function told(names: readonly string[], line: (name: string) => string | undefined): Alternatives {
  const lines = names.flatMap((name) => line(name) ?? [])
  return lines.length > 0 ? [lines.join('')] : ANYTHING
}

export const NAMING_BUILTINS: Readonly<Record<string, Program>> = {
  alias,
  unalias,
  hash,
  type,
  history,
  ...table(['complete', 'compgen', 'bind'], readlineHook),
  fc,
}
