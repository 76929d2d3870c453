/** Backslash escapes as echo -e, printf, `${x@E}` and most languages know them. */

const CONTROL: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** `\ooo` nearly everywhere; `\0ooo` in echo -e; both in `%b` of printf. */
export type Octal = 'three-digits' | 'behind-zero' | 'either'

/** `\n`, `\t`, `\ooo`, `\xHH`, `\uHHHH` as echo -e and printf know them. */
export function unescape(text: string, digits: Octal = 'three-digits'): string {
  return text.replace(
    /\\(?:([abefnrtv\\"'])|(0?[0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8}))/g,
    (whole, simple?: string, octal?: string, hex?: string, unicode?: string, wide?: string) => {
      if (simple !== undefined) return CONTROL[simple] ?? simple
      if (octal !== undefined) {
        if (digits === 'behind-zero' && !octal.startsWith('0')) return whole
        const length = digits === 'three-digits' ? 3 : 4
        return String.fromCharCode(Number.parseInt(octal.slice(0, length), 8) & 0xff) + octal.slice(length)
      }
      const code = Number.parseInt(hex ?? unicode ?? wide ?? '0', 16)
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole
    },
  )
}

/** What stands in front of `\c`, behind which echo -e and `%b` print nothing more; undefined where there is none. */
export function beforeEnd(text: string): string | undefined {
  return /^((?:[^\\]|\\[^c])*)\\c/s.exec(text)?.[1]
}
