import { describe, expect, test } from 'vitest'
import { createMasker } from '../../../src/secrets/mask/masker.js'

/**
 * The text masked in chunks of every size that could matter: all must agree, and the answer is the one they agree on.
 */
function mask(secrets: readonly (string | Buffer)[], text: string | Buffer): string {
  const bytes = Buffer.from(text as string)
  const masker = createMasker()
  secrets.forEach((secret, index) => masker.add(`n${index}`, Buffer.from(secret as string)))
  const answers = [1, 2, 3, 5, 7, bytes.length].map((step) => {
    const stream = masker.stream()
    const shown: Uint8Array[] = []
    for (let at = 0; at < bytes.length; at += step) shown.push(stream.push(bytes.subarray(at, at + step)))
    return Buffer.concat([...shown, stream.flush()]).toString('latin1')
  })
  expect(new Set(answers).size).toBe(1)
  return answers[0] as string
}

const VALUE = 'S3cr3t/Val+ue=="x'
const base64 = (text: string) => Buffer.from(text).toString('base64')
const bytesAs = (spell: (hex: string) => string) =>
  Array.from(Buffer.from(VALUE), (byte) => spell(byte.toString(16).padStart(2, '0'))).join('')

describe('encodings in chunks of any size', () => {
  test.each([
    ['base64, first alignment', base64(VALUE), '[secret:n0]g='],
    ['base64, second alignment', base64(`a${VALUE}`), 'YV[secret:n0]'],
    ['base64, third alignment', base64(`ab${VALUE}`), 'YWJ[secret:n0]A=='],
    ['base64 in a URL', encodeURIComponent(base64(`??>${VALUE}`)), 'Pz8%2B[secret:n0]g%3D'],
    ['base64 in JSON that escapes slashes', base64(VALUE).replaceAll('/', '\\/'), '[secret:n0]g='],
    ['hex', Buffer.from(VALUE).toString('hex'), '[secret:n0]'],
    ['HEX', Buffer.from(VALUE).toString('hex').toUpperCase(), '[secret:n0]'],
    ['\\x in capitals', bytesAs((hex) => `\\x${hex.toUpperCase()}`), '[secret:n0]'],
    ['a URL', `?a=${encodeURIComponent(VALUE)}&b`, '?a=[secret:n0]&b'],
    ['a URL in small letters', bytesAs((hex) => `%${hex}`), '[secret:n0]'],
    ['JSON', JSON.stringify({ a: VALUE }), '{"a":"[secret:n0]"}'],
    ['printf %q', 'S3cr3t/Val+ue==\\"x', '[secret:n0]'],
    ['CSV', '"S3cr3t/Val+ue==""x"', '"[secret:n0]"'],
  ])('%s', (_, text, expected) => {
    expect(mask([VALUE], text)).toBe(expected)
  })

  test.each([
    ['SQL', "'it''s a s3cret'"],
    ['bash', `'it'\\''s a s3cret'`],
    ['Python', `'it'"'"'s a s3cret'`],
  ])('a quote as %s writes it', (_, text) => {
    expect(mask(["it's a s3cret"], text)).toBe("'[secret:n0]'")
  })

  test.each(['hunter', 'hunter2', 'hunter22'])(
    'the encodings of the short value %j are found wherever a line break falls',
    (value) => {
      for (const encoded of [base64(`xyz${value}zzz`), Buffer.from(value).toString('hex')]) {
        for (const lineBreak of ['\n', '\r\n', '\n    ']) {
          for (let at = 1; at < encoded.length; at++)
            expect(mask([value], encoded.slice(0, at) + lineBreak + encoded.slice(at))).toContain('[secret:n0]')
        }
      }
    },
  )
})

describe('values that share bytes', () => {
  test.each([
    [['abcdef', 'abcdefgh', 'abcdefghij'], 'abcdefghi', '[secret:n1]i'],
    [['abcdef', 'abcdefgh', 'abcdefghij'], 'abcdefghij', '[secret:n2]'],
    [['abcdef', 'bcdefg', 'cdefgh'], '-abcdefgh-', '-[secret:n0]-'],
    [['abcdef', 'abcdefabcdef'], 'abcdefabcdefabcde', '[secret:n1]abcde'],
    [['aaaaaa', 'aaaaaaa'], 'aaaaaaaaaaaaa', '[secret:n1]'],
    [['password'], 'passwor password passwords', 'passwor [secret:n0] [secret:n0]s'],
    [['abc12'], 'abc12', 'abc12'],
  ])('%j in %j', (secrets, text, expected) => {
    expect(mask(secrets, text)).toBe(expected)
  })
})

describe('values that are no text', () => {
  const value = Buffer.from('key\xff12345678\xfe', 'latin1')

  test('are found as they are and as bash quotes them', () => {
    expect(mask([value], Buffer.concat([Buffer.from('<'), value, Buffer.from('>')]))).toBe('<[secret:n0]>')
    expect(mask([value], "$'key\\37712345678\\376'")).toBe("$'[secret:n0]'")
  })

  test('are found as a program prints them that takes them for UTF-8', () => {
    expect(mask([value], `<${value.toString()}>`)).toBe('<[secret:n0]>')
  })

  test('of which too little is left as text blank out nothing', () => {
    expect(mask([Buffer.from([0xff, 0xfe, 0xff, 0xfe, 0xff, 0xfe])], '\ufffd'.repeat(20))).toBe(
      Buffer.from('\ufffd'.repeat(20)).toString('latin1'),
    )
  })
})

test('a keeper that compares byte by byte is given values with their white space as it is, and as a terminal writes it', () => {
  const masker = createMasker()
  masker.add('two', Buffer.from('ab  cd\nef\n'))
  const literal = masker.needles().map(({ bytes }) => Buffer.from(bytes).toString())
  expect(literal).toEqual(expect.arrayContaining(['ab  cd\nef', 'ab  cd\r\nef']))
})
