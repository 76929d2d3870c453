/** Files that code writes with text that stands in it: what is run later is judged by it. */
import { unescape } from '../../words/escapes.js'

const TEXT = String.raw`[rbuf]{0,2}(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|` + '`((?:[^`\\\\]|\\\\.)*)`)'

/** `open(F, "w").write(T)`, `Path(F).write_text(T)`, `writeFileSync(F, T)`, `File.write(F, T)`. */
const WRITTEN = new RegExp(
  String.raw`\b(?:open|Path|writeFile(?:Sync)?|file_put_contents|(?:File|IO)\.write)\s*\(\s*` +
    `${TEXT}${String.raw`\s*(?:,\s*["'][wax][bt+]*["']\s*)?(?:\)\s*\.\s*(?:write|write_text|write_bytes|print|puts)\s*\(|,)\s*`}${TEXT}`,
  'gs',
)

export function writtenBy(source: string): { file: string; text: string }[] {
  if (!/write|file_put_contents|open/.test(source)) return []
  return [...source.matchAll(WRITTEN)].map((match) => ({
    file: unescape(match[1] ?? match[2] ?? match[3] ?? ''),
    text: unescape(match[4] ?? match[5] ?? match[6] ?? ''),
  }))
}
