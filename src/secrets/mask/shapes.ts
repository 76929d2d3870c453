/**
 * Recognises secrets that the engine was not told about by their well-known form. A best
 * effort: only plain text is looked at, no encodings, no colours.
 */

/** A place in the text that looks like a secret. */
export interface ShapeFound {
  readonly start: number
  readonly end: number
  readonly shape: number
}

interface Shape {
  readonly name: string
  /** Every secret of the form begins with one of these; they are also what makes a stream wait for the rest. */
  readonly prefixes: readonly string[]
  readonly pattern: RegExp
}

const SHAPES: readonly Shape[] = [
  {
    name: 'github-token',
    prefixes: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'],
    pattern: /(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})/g,
  },
  { name: 'gitlab-token', prefixes: ['glpat-'], pattern: /glpat-[A-Za-z0-9_-]{20,255}/g },
  {
    name: 'aws-access-key',
    prefixes: ['AKIA', 'ASIA'],
    pattern: /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
  },
  {
    name: 'slack-token',
    prefixes: ['xoxa-', 'xoxb-', 'xoxe-', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-'],
    pattern: /xox[abeoprs]-[A-Za-z0-9-]{10,255}/g,
  },
  {
    name: 'stripe-key',
    prefixes: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_'],
    pattern: /[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}/g,
  },
  { name: 'api-key', prefixes: ['sk-ant-', 'sk-proj-'], pattern: /sk-(?:ant|proj)-[A-Za-z0-9_-]{20,255}/g },
  { name: 'google-api-key', prefixes: ['AIza'], pattern: /AIza[A-Za-z0-9_-]{35}/g },
  { name: 'npm-token', prefixes: ['npm_'], pattern: /npm_[A-Za-z0-9]{36}/g },
  { name: 'pypi-token', prefixes: ['pypi-'], pattern: /pypi-[A-Za-z0-9_-]{50,255}/g },
  {
    name: 'jwt',
    prefixes: ['eyJ'],
    pattern: /eyJ[A-Za-z0-9_-]{8,2048}\.eyJ[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{16,1024}/g,
  },
  // A block whose end is missing (head, a time-out) is masked as far as it goes.
  {
    name: 'private-key',
    prefixes: ['-----BEGIN '],
    pattern:
      /-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----(?:[^]{0,16384}?-----END [A-Z ]{0,32}PRIVATE KEY-----|[A-Za-z0-9+/=\s:,-]{0,16384})/g,
  },
]

/** A token longer than this is not waited for. */
const LONGEST_TOKEN = 12_000
const LONGEST_BLOCK = 16_500
const ANY_PREFIX = new RegExp(SHAPES.flatMap(({ prefixes }) => prefixes).join('|'))

/** What a found shape is shown as; it is not a secret of the engine, and says so. */
export const SHAPE_LABELS: readonly string[] = SHAPES.map(({ name }) => `[masked:${name}]`)

/** All shapes in the text, and from where it has to be held back because a shape may go on. */
export function findShapes(raw: Uint8Array): { found: ShapeFound[]; hold: number } {
  // One character per byte, so that places in the string are places in the bytes.
  const text = new TextDecoder('latin1').decode(raw)
  const found: ShapeFound[] = []
  if (ANY_PREFIX.test(text)) {
    SHAPES.forEach(({ pattern }, shape) => {
      for (const match of text.matchAll(pattern))
        found.push({ start: match.index, end: match.index + match[0].length, shape })
    })
  }
  return { found, hold: Math.min(holdForToken(text), holdForBlock(text)) }
}

/** The last run of token characters may grow into a token when it holds the beginning of one. */
function holdForToken(text: string): number {
  const run = /[A-Za-z0-9_.-]*$/.exec(text.slice(-LONGEST_TOKEN))?.[0] ?? ''
  const start = text.length - run.length
  const whole = ANY_PREFIX.exec(run)
  if (whole) return start + whole.index
  for (let length = Math.min(run.length, 10); length > 0; length--) {
    const end = run.slice(-length)
    if (SHAPES.some(({ prefixes }) => prefixes.some((prefix) => prefix.startsWith(end)))) return text.length - length
  }
  return text.length
}

function holdForBlock(text: string): number {
  const begin = text.lastIndexOf('-----BEGIN ')
  if (begin < 0 || text.length - begin > LONGEST_BLOCK) return text.length
  const rest = text.slice(begin)
  if (/-----END [A-Z ]*PRIVATE KEY-----/.test(rest)) return text.length
  return /^-----BEGIN (?:[A-Z ]{0,44}$|[A-Z ]{0,32}PRIVATE KEY-{0,5}(?:$|[^]*))/.test(rest) ? begin : text.length
}
