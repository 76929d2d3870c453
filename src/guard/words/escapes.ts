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

/** `\n`, `\t`, `\0ooo`, `\xHH`, `\uHHHH` as echo -e and printf know them. */
export function unescape(text: string, octalNeedsZero = false): string {
  return text.replace(
    /\\(?:([abefnrtv\\"'])|(0?[0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8}))/g,
    (whole, simple?: string, octal?: string, hex?: string, unicode?: string, wide?: string) => {
      if (simple !== undefined) return CONTROL[simple] ?? simple
      if (octal !== undefined)
        return octalNeedsZero && !octal.startsWith('0') ? whole : String.fromCharCode(Number.parseInt(octal, 8) & 0xff)
      const code = Number.parseInt(hex ?? unicode ?? wide ?? '0', 16)
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole
    },
  )
}
