// Breaks a minified script into lines. Node shows the whole line of an error that nobody caught: of a script without
// line ends that would be tens of kilobytes on the terminal of somebody who misspelt an option.
import { parseAst } from 'rolldown/parseAst'

/** Before a function, which costs next to nothing in a compressed package; elsewhere only where a line gets long. */
const SHORT = 100
const LONG = 500

/** Where a word of the program begins behind one of these, a line end means nothing. */
const BEFORE = new Set([',', ';', '{', '}'])

export function inLines(code) {
  const places = new Set()
  collect(parseAst(code, { sourceType: 'script' }), (start) => {
    if (BEFORE.has(code[start - 1])) places.add(start)
  })
  let broken = ''
  let line = 0
  let from = 0
  for (const place of [...places].sort((a, b) => a - b)) {
    line = Math.max(line, code.lastIndexOf('\n', place - 1) + 1)
    if (place - line < (code.startsWith('function', place) ? SHORT : LONG)) continue
    broken += `${code.slice(from, place)}\n`
    from = line = place
  }
  return broken + code.slice(from)
}

/** The text between two expressions of a template begins behind a `}` as well, but is no word of the program. */
function collect(node, see) {
  if (Array.isArray(node)) for (const each of node) collect(each, see)
  else if (node !== null && typeof node === 'object' && node.type !== 'TemplateElement') {
    if (typeof node.start === 'number') see(node.start)
    for (const key in node) if (typeof node[key] === 'object') collect(node[key], see)
  }
}
