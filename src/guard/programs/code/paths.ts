/**
 * Paths that code puts together from constant parts: `os.path.join("/a", "b")`,
 * `Path("/a") / "b"`, `"/a".joinpath("b")`.
 */
import { strings } from './text.js'

const PUTS_TOGETHER = /\bjoin(?:path)?\s*\(|\bPath\s*\(|["']\s*\)?\s*\/\s*["']/
const LIST_BEFORE = /(?:\b(?:path|File|Path|filepath)\.join|\.joinpath|\bPath|\bPurePath|\bPosixPath)\s*\(\s*$/

/** The code with every such path as one string. */
export function withPaths(source: string): string {
  if (!PUTS_TOGETHER.test(source)) return source
  const found = strings(source)
  let text = ''
  let done = 0
  for (let i = 0; i < found.length; i++) {
    const first = found[i]!
    let path = first.text
    let last = first
    /** A call that takes its parts as a list is open here. */
    let listed = LIST_BEFORE.test(source.slice(done, first.start))
    let closing = ''
    for (let next = found[i + 1]; next; next = found[i + 1]) {
      const between = source.slice(last.end, next.start)
      const opens = /^\s*\)?\s*\.joinpath\(\s*$/.test(between)
      const slash = /^\s*(\)?)\s*\/\s*$/.exec(between)
      if (!opens && !slash && !(listed && /^\s*,\s*$/.test(between))) break
      if (opens) listed = true
      if (opens || slash?.[1]) closing = ')'
      if (/[\n"\\]/.test(next.text)) break
      path = next.text.startsWith('/') ? next.text : `${path.replace(/\/+$/, '')}/${next.text}`
      last = next
      i++
    }
    if (last === first) continue
    text += `${source.slice(done, first.start)}${JSON.stringify(path)}`
    done = last.end
    // The bracket of the call that was left out is closed again where it was opened before the first part.
    if (closing && /Path\s*\(\s*$/.test(text.slice(0, text.length - JSON.stringify(path).length))) text += closing
  }
  return text + source.slice(done)
}
