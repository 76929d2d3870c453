/** Runners of language tool-chains: `npx`, `uv run`, `bundle exec` start the program that follows their verb. */
import { nameList } from '../../../contract/quote.js'
import { plain } from '../../words/text.js'
import { options, type OptionSpec, type Program, table } from '../row/call.js'

/** Runners of language tool-chains: the word after their verb is the program. */
export const RUNNERS: Readonly<Record<string, { readonly verbs: readonly string[]; readonly spec?: OptionSpec }>> = {
  npx: { verbs: [''], spec: { short: 'pcw', long: ['package', 'call', 'workspace'] } },
  ...table(nameList('bunx pnpx uvx'), { verbs: [''] }),
  npm: { verbs: ['exec', 'x'], spec: { short: 'pcw', long: ['package', 'call'] } },
  ...table(nameList('pnpm yarn'), { verbs: ['exec', 'dlx'] }),
  ...table(nameList('bun mise'), { verbs: ['exec', 'x'] }),
  uv: { verbs: ['run'], spec: { short: 'p', long: ['with', 'python', 'project', 'directory'] } },
  conda: { verbs: ['run'], spec: { short: 'np', long: ['name', 'prefix', 'cwd'] } },
  ...table(nameList('pipx poetry pipenv pdm hatch rustup'), { verbs: ['run'] }),
  ...table(nameList('bundle rbenv pyenv asdf nvm opam stack cabal'), { verbs: ['exec'] }),
}

export const runner: Program = (call, name) => {
  const { verbs, spec } = RUNNERS[name] ?? { verbs: [] }
  let words = call.args
  if (!verbs.includes('')) {
    const at = words.findIndex((word) => !word.startsWith('-'))
    if (at < 0 || !verbs.includes(words[at] ?? '')) return
    words = words.slice(at + 1)
  }
  const given = options(words, { ...spec, stop: true })
  const line = given.get('c', 'call')
  if (line) return call.script(plain(line), call.stdin)
  const rest = given.operands[0] === '--' ? given.operands.slice(1) : given.operands
  if (rest.length === 0) return
  // `bun exec LINE`, `pnpm -c exec LINE`: one word with blanks is a line for a shell.
  if (rest.length === 1 && /\s/.test(rest[0] ?? '')) return call.script(plain(rest[0] ?? ''), call.stdin)
  // A version suffix is not part of the program's name: `npx rimraf@5 /`.
  return call.start([(rest[0] ?? '').replace(/(?<=.)@[\w.^~-]+$/, ''), ...rest.slice(1)], call.stdin)
}
