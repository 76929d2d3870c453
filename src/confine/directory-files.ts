/**
 * Files that direnv and mise read with every `cd` because a file that the person allowed says so: the allowance covers
 * that file, and whatever the others hold.
 */
import { nameList } from '../contract/quote.js'

/** Relative to a root. */
export const DIRECTORY_ENV: readonly string[] = nameList(
  '.envrc mise.toml .mise.toml mise.local.toml .mise.local.toml .config/mise.toml',
)

/** `source_env x`, `. ./x`, `dotenv` (which is `.env`) of direnv; what follows the word is the file. */
const SOURCED =
  /(?:^|[;&|{(]|\bthen|\bdo)\s*(?:source(?:_env|_env_if_exists)?|\.|dotenv(?:_if_exists)?)(?=\s|$)[ \t]*([^\s;&|)]*)/gm
/** `_.file = ".env"`, `_.source = ["a", "b"]`, `file = "x"` in a table of mise. */
const TABLED = /\b(?:file|source|path)\s*=\s*(\[[^\]]*\]|"[^"\n]*"|'[^'\n]*')/g

/** Paths relative to the directory of the file; what lies elsewhere is not the command's to write. */
export function readByEnvironment(text: string): string[] {
  const sourced = [...text.matchAll(SOURCED)].map(([, word = '']) => word.replace(/["']/g, '') || '.env')
  const tabled = [...text.matchAll(TABLED)].flatMap(([, value = '']) =>
    [...value.matchAll(/["']([^"']+)["']/g)].map(([, word = '']) => word),
  )
  // The directory of the file has many names in it.
  const plain = [...sourced, ...tabled].map((path) =>
    path.replace(/^(?:\$\{?(?:PWD|DIRENV_DIR)\}?|\{\{\s*config_root\s*\}\})\//, ''),
  )
  return plain.filter((path) => /^[\w.@+-][\w.@+/ -]*$/.test(path) && path !== '.' && !path.split('/').includes('..'))
}
