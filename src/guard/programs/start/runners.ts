/** Runners of language tool-chains: `npx`, `uv run`, `bundle exec` start the program that follows their verb. */
import { plain } from '../../words/text.js'
import { options, type OptionSpec, type Program } from '../row/call.js'

/** Runners of language tool-chains: the word after their verb is the program. */
export const RUNNERS: Readonly<Record<string, { readonly verbs: readonly string[]; readonly spec?: OptionSpec }>> = {
  npx: { verbs: [''], spec: { short: 'pcw', long: ['package', 'call', 'workspace'] } },
  bunx: { verbs: [''] },
  pnpx: { verbs: [''] },
  npm: { verbs: ['exec', 'x'], spec: { short: 'pcw', long: ['package', 'call'] } },
  pnpm: { verbs: ['exec', 'dlx'] },
  yarn: { verbs: ['exec', 'dlx'] },
  bun: { verbs: ['x', 'exec'] },
  uv: { verbs: ['run'], spec: { short: 'p', long: ['with', 'python', 'project', 'directory'] } },
  uvx: { verbs: [''] },
  pipx: { verbs: ['run'] },
  poetry: { verbs: ['run'] },
  pipenv: { verbs: ['run'] },
  pdm: { verbs: ['run'] },
  hatch: { verbs: ['run'] },
  conda: { verbs: ['run'], spec: { short: 'np', long: ['name', 'prefix', 'cwd'] } },
  bundle: { verbs: ['exec'] },
  rbenv: { verbs: ['exec'] },
  pyenv: { verbs: ['exec'] },
  asdf: { verbs: ['exec'] },
  mise: { verbs: ['exec', 'x'] },
  nvm: { verbs: ['exec'] },
  opam: { verbs: ['exec'] },
  stack: { verbs: ['exec'] },
  cabal: { verbs: ['exec'] },
  rustup: { verbs: ['run'] },
}

export const runner: Program = (call, name) => {
  const { verbs, spec } = RUNNERS[name] ?? { verbs: [] }
  let words = call.argv.slice(1)
  if (!verbs.includes('')) {
    const at = words.findIndex((word) => !word.startsWith('-'))
    if (at < 0 || !verbs.includes(words[at] ?? '')) return undefined
    words = words.slice(at + 1)
  }
  const given = options(words, { ...spec, stop: true })
  const line = given.get('c', 'call')
  if (line) return call.walker.script(plain(line), call.shell.fork(), call.stdin)
  const rest = given.operands[0] === '--' ? given.operands.slice(1) : given.operands
  if (rest.length === 0) return undefined
  // `bun exec LINE`, `pnpm -c exec LINE`: one word with blanks is a line for a shell.
  if (rest.length === 1 && /\s/.test(rest[0] ?? ''))
    return call.walker.script(plain(rest[0] ?? ''), call.shell.fork(), call.stdin)
  // A version suffix is not part of the program's name: `npx rimraf@5 /`.
  return call.walker.argv(
    [(rest[0] ?? '').replace(/(?<=.)@[\w.^~-]+$/, ''), ...rest.slice(1)],
    call.shell.fork(),
    call.stdin,
  )
}
