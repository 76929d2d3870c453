/**
 * Values that tools cut off, take apart or encode twice: found in chunks of any size; and text that only looks similar
 * stays.
 */
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createMasker } from '../../../src/secrets/mask/masker.js'

const VALUE = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'
const QUOTED = 'p4ss"w\\rd & <x> 7Fq2'

/** Masked in chunks of several sizes, which must all agree. */
function mask(text: string | Buffer, ...values: string[]): string {
  const bytes = Buffer.from(text as string)
  const masker = createMasker()
  for (const [at, value] of (values.length > 0 ? values : [VALUE]).entries()) masker.add(`n${at}`, Buffer.from(value))
  const answers = [1, 2, 3, 7, 16, 64, bytes.length].map((step) => {
    const stream = masker.stream()
    const shown: Uint8Array[] = []
    for (let at = 0; at < bytes.length; at += step) shown.push(stream.push(bytes.subarray(at, at + step)))
    return Buffer.concat([...shown, stream.flush()]).toString()
  })
  expect([...new Set(answers)]).toHaveLength(1)
  return answers[0] as string
}

describe('a column that was cut off', () => {
  test.each([12, 13, 20, 39])('the first %i characters', (length) => {
    expect(mask(`name   ${VALUE.slice(0, length)}…  ok\n`)).toBe('name   [secret:n0]…  ok\n')
    expect(mask(`| ${VALUE.slice(0, length)}... |`)).toBe('| [secret:n0]... |')
  })

  test.each([12, 13, 20, 39])('the last %i characters', (length) => {
    expect(mask(`...${VALUE.slice(-length)} x\n`)).toBe('...[secret:n0] x\n')
  })

  test('eleven say too little, and the whole is one label', () => {
    const short = `${VALUE.slice(0, 11)} ${VALUE.slice(-11)}\n`
    expect(mask(short)).toBe(short)
    expect(mask(`<${VALUE}>`)).toBe('<[secret:n0]>')
    expect(mask(`${VALUE}${VALUE}`)).toBe('[secret:n0][secret:n0]')
  })

  test('two values that begin alike', () => {
    const other = `${VALUE.slice(0, 20)}zzzz7777ZZZZ1111`
    expect(mask(`${other.slice(0, 30)}!${VALUE.slice(0, 30)}!`, VALUE, other)).toMatch(
      /^\[secret:n\d\]!\[secret:n\d\]!$/,
    )
  })

  test.each([
    ['https://hooks.example.com/services/T00/B00/x9Kq', 'see https://hooks.example.com/docs for more\n'],
    ['postgres://app:s3cr3t@db.example.com:5432/app', 'postgres://app is what psql wants, db.example.com:5432\n'],
    ['github_pat_11ABCDEFG0aBcDeFgHiJkL_mNoPqRsTuVwXyZ', 'tokens begin with github_pat_11 these days\n'],
    ['sk-ant-api03-AbCdEf0123456789AbCdEf', 'keys look like sk-ant-api03-...\n'],
    ['correct horse battery staple', 'correct horse riding, a battery staple\n'],
    ['correcthorsebatterystaple', 'correcthorse is a word here\n'],
    ['4111111111111111222', 'call 411111111111 or 111111111222\n'],
    ['production-database-password', 'the production-database is up\n'],
  ])('%s does not hide what only begins or ends like it', (value, text) => {
    expect(mask(text, value)).toBe(text)
  })
})

/** As the tools print them; the lines are made here because not every machine has the tools. */
const pairs = (text: string): string[] => Array.from(Buffer.from(text), (byte) => byte.toString(16).padStart(2, '0'))
const rows = (text: string): string[] => text.match(/[^]{1,16}/g) ?? []
const offset = (line: number, width: number): string => (line * 16).toString(16).padStart(width, '0')
const xxd = (text: string): string =>
  rows(text)
    .map((row, line) => {
      const groups = (
        pairs(row)
          .join('')
          .match(/.{1,4}/g) ?? []
      ).join(' ')
      return `${offset(line, 8)}: ${groups.padEnd(39)}  ${row.replace(/[^ -~]/g, '.')}\n`
    })
    .join('')
const hexdumpC = (text: string): string =>
  rows(text)
    .map((row, line) => {
      const all = pairs(row)
      const columns = `${all.slice(0, 8).join(' ')}${all.length > 8 ? `  ${all.slice(8).join(' ')}` : ''}`
      return `${offset(line, 8)}  ${columns.padEnd(48)}  |${row.replace(/[^ -~]/g, '.')}|\n`
    })
    .join('')
const od = (text: string): string =>
  rows(text)
    .map((row, line) => `${(line * 16).toString(8).padStart(7, '0')} ${pairs(row).join(' ')}\n`)
    .join('')

const odDecimal = (text: string): string =>
  rows(text)
    .map(
      (row, line) =>
        `${(line * 16).toString(8).padStart(7, '0')} ${[...Buffer.from(row)].map((byte) => String(byte).padStart(3)).join(' ')}\n`,
    )
    .join('')

describe('lists of numbers', () => {
  const numbers = (value: string): number[] => [...Buffer.from(value)]
  test.each([
    ['a Buffer in JSON', (value: string) => JSON.stringify({ key: Buffer.from(value) })],
    ['an array in JSON', (value: string) => JSON.stringify(numbers(value))],
    ['list(b"...")', (value: string) => `[${numbers(value).join(', ')}]`],
    ['an array as Node shows it', (value: string) => inspect(numbers(value))],
    ['bytes as Node shows them', (value: string) => inspect(new TextEncoder().encode(value))],
    ['a slice as Go shows it', (value: string) => `[${numbers(value).join(' ')}]`],
    ['od -An -tu1', (value: string) => odDecimal(value).replace(/^\d+/gm, '')],
    ['od -tu1', odDecimal],
  ])('%s', (_, list) => {
    for (const value of [VALUE, QUOTED, 'hunter22', 'sk-live-abcdefghij', 'correct horse battery staple']) {
      const shown = mask(`before\n${list(value)}\nafter 12, 13, 14\n`, value)
      expect(shown).toContain('[secret:n0]')
      // Offsets and a length in brackets stay, and what stands around the list.
      expect(shown.match(/(?<!\()\b\d+/g)?.filter((number) => number.length < 4 && Number(number) > 14) ?? []).toEqual(
        [],
      )
      expect(shown).toMatch(/^before\n[^]*\nafter 12, 13, 14\n$/)
    }
  })

  test('other numbers stay as they are', () => {
    const text = `${odDecimal('nothing of interest is in here, only text')}${inspect(numbers('something else'))}\n1, 2, 3\n`
    expect(mask(text)).toBe(text)
  })
})

describe('dumps with offsets and columns', () => {
  test.each([
    ['xxd', xxd],
    ['hexdump -C', hexdumpC],
    ['od -tx1', od],
    ['xxd -u', (text: string) => xxd(text).replace(/(?<=: )[0-9a-f ]+(?=  )/g, (hex) => hex.toUpperCase())],
  ])('%s, wherever the value begins in a line', (_, dump) => {
    for (const before of ['', 'x', 'token = ', 'a line before it\n', 'some more text, 33 characters long']) {
      const shown = mask(`$ dump file\n${dump(`${before}${VALUE}\nand after it, a long last line of text`)}done\n`)
      expect(shown).toContain('[secret:n0]')
      for (let at = 0; at + 6 <= VALUE.length; at++) {
        expect(shown).not.toContain(VALUE.slice(at, at + 6))
        expect(shown.replace(/[ \n]/g, '')).not.toContain(pairs(VALUE.slice(at, at + 6)).join(''))
      }
      expect(shown).toMatch(/^\$ dump file\n/)
      expect(shown).toMatch(/done\n$/)
    }
  })

  test('a dump of something else stays as it is', () => {
    for (const dump of [xxd, hexdumpC, od]) {
      const text = `${dump('nothing of interest is in here, only a few lines of text')}12345678 is a number\ndeadbeef\n`
      expect(mask(text)).toBe(text)
    }
  })

  test('a number without an end of line is shown to who waits', () => {
    const masker = createMasker()
    masker.add('n0', Buffer.from(VALUE))
    const stream = masker.stream()
    expect(Buffer.concat([stream.push(Buffer.from('100')), stream.release()]).toString()).toBe('100')
  })
})

describe('lines, fillers and layers', () => {
  test.each([4, 5, 8, 10, 16, 30])('fold -w %i', (width) => {
    const text = `before ${VALUE} after, and more text in the same line\n`.replace(
      new RegExp(`.{${width}}`, 'g'),
      '$&\n',
    )
    const shown = mask(text)
    expect(shown).toContain('[secret:n0]')
    expect(shown.replaceAll('\n', '')).not.toContain(VALUE.slice(8, 20))
    expect(mask(text.replaceAll('\n', '\r\n    ')).replace(/\s/g, '')).not.toContain(VALUE.slice(8, 20))
  })

  test.each([
    ['zero width spaces', '\u200b'],
    ['zero width joiners', '\u200d'],
    ['word joiners', '\u2060'],
    ['byte order marks', '\ufeff'],
    ['backspaces', '\b'],
    ['left-to-right marks', '\u200e'],
  ])('%s between the characters', (_, filler) => {
    expect(mask(`<${[...VALUE].join(filler)}>`)).toBe('<[secret:n0]>')
    expect(mask(`<${VALUE.slice(0, 9)}${filler}${VALUE.slice(9)}>`)).toBe('<[secret:n0]>')
    // Bytes are looked at in pairs: before it stands an even or an odd number of them, and others of its own bytes.
    for (const before of ['', ' ', '\u2003', '\u2003 ', '\u2042', '\u2042 ', '\ufefe', '\ufefe '])
      for (const cut of [8, 9])
        expect(mask(`${before}${VALUE.slice(0, cut)}${filler}${VALUE.slice(cut)}${before}`)).toBe(
          `${before}[secret:n0]${before}`,
        )
  })

  test('a value of one period is found in each text anew, at the same place and next to where it was', () => {
    const masker = createMasker()
    masker.add('n0', Buffer.from('abcabcabcabc'))
    for (const text of ['abcabcabcabc.', 'abcabcabcabc.', '...abcabcabcabc', 'abcabcabcabcabc', 'xabcabcabcabc'])
      expect(masker.maskText(text)).toBe(text.replace(/(abc)+/, '[secret:n0]'))
  })

  test('bold as pagers print it', () => {
    expect(mask(`<${[...VALUE].map((char) => `${char}\b${char}`).join('')}>`)).toMatch(/^<.?(\[secret:n0\])+.?.?>$/s)
  })

  test('base32 of the value alone, wrapped', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
    const base32 = (text: string): string => {
      const bits = Array.from(Buffer.from(text), (byte) => byte.toString(2).padStart(8, '0')).join('')
      return (bits.match(/.{5}/g) ?? []).map((five) => alphabet[Number.parseInt(five, 2)]).join('')
    }
    expect(mask(base32(VALUE))).toBe('[secret:n0]')
    const long = VALUE + VALUE.slice(4)
    expect(mask(base32(`${long}\n`).replace(/.{76}/g, '$&\n'), long)).toMatch(/^\[secret:n0\][A-Z2-7]{0,2}$/)
  })

  test('base64 of base64', () => {
    const base64 = (text: string): string => Buffer.from(text).toString('base64')
    expect(mask(base64(base64(VALUE)))).toMatch(/^\[secret:n0\].{0,8}$/)
    expect(mask(base64(`${base64(`${VALUE}\n`)}\n`))).toMatch(/^\[secret:n0\].{0,10}$/)
  })

  test('JSON in JSON, a URL in a URL, markup in markup', () => {
    const json = JSON.stringify({ body: JSON.stringify({ key: QUOTED }) })
    expect(mask(json, QUOTED)).toContain('[secret:n0]')
    expect(mask(json, QUOTED)).not.toContain('7Fq2')
    expect(mask(encodeURIComponent(encodeURIComponent(QUOTED)), QUOTED)).toBe('[secret:n0]')
    const entities = (text: string): string =>
      text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
    expect(mask(entities(entities(QUOTED)), QUOTED)).toBe('[secret:n0]')
  })
})
