import { fc } from '../../fixtures/fast-check.js'
import { describe, expect, test } from 'vitest'
import { isMaskable } from '../../../src/secrets/mask/forms.js'
import { createMasker } from '../../../src/secrets/mask/masker.js'

/** Values of the kinds people keep: tokens, passphrases, text with quotes and controls, several lines, raw bytes. */
const value = fc
  .oneof(
    fc.string({ minLength: 6, maxLength: 40, unit: fc.constantFrom(...'abcdefghABCDEFGH0123456789_-+/=') }),
    fc.string({ minLength: 6, maxLength: 30, unit: 'grapheme' }),
    fc.string({ minLength: 6, maxLength: 30, unit: fc.constantFrom(...'ab\'"\\$`%&+<> \t\n\x1b[m') }),
    fc
      .array(fc.string({ minLength: 8, maxLength: 20, unit: fc.constantFrom(...'abcdefgh0123456789+/') }), {
        minLength: 2,
        maxLength: 5,
      })
      .map((lines) => lines.join('\n')),
  )
  .map((text) => Buffer.from(text))
  .filter(isMaskable)
const rawBytes = fc
  .uint8Array({ minLength: 6, maxLength: 40 })
  .map((bytes) => Buffer.from(bytes))
  .filter(isMaskable)

const percent = (bytes: Buffer, plus: boolean) =>
  Array.from(bytes, (byte) => {
    const char = String.fromCharCode(byte)
    return /[A-Za-z0-9_.~-]/.test(char) ? char : plus && char === ' ' ? '+' : `%${byte.toString(16).padStart(2, '0')}`
  }).join('')

/** Every form that must be found, with the function that makes it from the value. */
const forms: Record<string, (bytes: Buffer) => Buffer | undefined> = {
  plain: (bytes) => bytes,
  'CRLF line ends': (bytes) => Buffer.from(bytes.toString('latin1').replace(/\r?\n/g, '\r\n'), 'latin1'),
  indented: (bytes) => Buffer.from(bytes.toString('latin1').replace(/\n/g, '\n    '), 'latin1'),
  'coloured letters': (bytes) =>
    bytes.includes(0x1b)
      ? undefined
      : Buffer.from(
          Array.from(bytes.toString('latin1'), (char) => `\x1b[3${char.charCodeAt(0) % 8}m${char}`).join(''),
          'latin1',
        ),
  base64: (bytes) => Buffer.from(bytes.toString('base64')),
  'base64 with a newline': (bytes) => Buffer.from(Buffer.concat([bytes, Buffer.from('\n')]).toString('base64')),
  'base64 after one byte': (bytes) => Buffer.from(Buffer.concat([Buffer.from('x'), bytes]).toString('base64')),
  'base64 between others': (bytes) =>
    Buffer.from(Buffer.concat([Buffer.from('xy'), bytes, Buffer.from('zzz')]).toString('base64')),
  base64url: (bytes) => Buffer.from(bytes.toString('base64url')),
  'wrapped base64': (bytes) =>
    Buffer.from(
      Buffer.concat([Buffer.from('some text before it'), bytes, Buffer.from('and after')])
        .toString('base64')
        .replace(/.{20}/g, '$&\n'),
    ),
  hex: (bytes) => Buffer.from(bytes.toString('hex')),
  HEX: (bytes) => Buffer.from(bytes.toString('hex').toUpperCase()),
  'od -tx1': (bytes) =>
    Buffer.from(
      (bytes.toString('hex').match(/../g) ?? [])
        .map((pair, index) => (index % 16 === 15 ? `${pair}\n ` : `${pair} `))
        .join(''),
    ),
  'od -tu1': (bytes) =>
    Buffer.from(
      Array.from(bytes, (byte, index) => ` ${String(byte).padStart(3)}${index % 16 === 15 ? '\n' : ''}`).join(''),
    ),
  'od as a list of numbers': (bytes) => Buffer.from([...bytes].join(',')),
  'od as a list of numbers with blanks': (bytes) => Buffer.from([...bytes].join(', ')),
  'percent-encoded': (bytes) => Buffer.from(percent(bytes, false)),
  'form-encoded': (bytes) => Buffer.from(percent(bytes, true)),
  json: (bytes) => Buffer.from(JSON.stringify(bytes.toString())),
  'json in ASCII': (bytes) =>
    Buffer.from(
      JSON.stringify(bytes.toString()).replace(
        /[^\x20-\x7e]/g,
        (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
      ),
    ),
  xml: (bytes) => Buffer.from(bytes.toString().replace(/[<>&"']/g, (char) => `&#${char.charCodeAt(0)};`)),
  "shell '...'": (bytes) => Buffer.from(`'${bytes.toString('latin1').replaceAll("'", `'\\''`)}'`, 'latin1'),
  'shell "..."': (bytes) => Buffer.from(`"${bytes.toString('latin1').replace(/["$`\\]/g, '\\$&')}"`, 'latin1'),
  "shell $'...'": (bytes) =>
    Buffer.from(
      `$'${Array.from(bytes, (byte) => (byte < 0x20 || byte > 0x7e ? `\\${byte.toString(8).padStart(3, '0')}` : byte === 0x27 || byte === 0x5c ? `\\${String.fromCharCode(byte)}` : String.fromCharCode(byte))).join('')}'`,
    ),
}

function mask(secret: Buffer, text: Buffer, cuts: readonly number[]): Buffer {
  const masker = createMasker()
  masker.add('name', secret)
  const stream = masker.stream()
  const shown: Uint8Array[] = []
  let at = 0
  for (const cut of [...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length]) {
    shown.push(stream.push(text.subarray(at, cut)))
    at = cut
  }
  shown.push(stream.flush())
  expect(stream.pending).toBe(0)
  return Buffer.concat(shown)
}

describe('no value leaks, whatever its form and however it is cut', () => {
  for (const [form, encode] of Object.entries(forms)) {
    const isText = /json|xml/.test(form)
    test(`as ${form}`, () => {
      fc.assert(
        fc.property(
          isText ? value : fc.oneof(value, rawBytes),
          fc.array(fc.nat({ max: 400 }), { maxLength: 6 }),
          (secret, cuts) => {
            // White space at the ends of a value is not secret; encoded it would only blur the check below.
            const encoded = encode(
              /base64|hex|od/i.test(form)
                ? Buffer.from(secret.toString('latin1').replace(/^[\t-\r ]+|[\t-\r ]+$/g, ''), 'latin1')
                : secret,
            )
            if (!encoded) return
            const shown = mask(
              secret,
              Buffer.concat([Buffer.from('before('), encoded, Buffer.from(')after\n')]),
              cuts,
            ).toString('latin1')
            expect(shown).toContain('[secret:name]')
            // Beside the label only white space at the value's ends, quotes, and what base64 shares with its neighbours
            // may stay.
            const rest = /^before\(([^]*)\)after\n$/
              .exec(shown)?.[1]
              ?.replaceAll('[secret:name]', '')
              .replace(/[\s'"$=]|\\n|\\t|\\r|\\f|\\v|%20|%0[9a-d]|\+|\\0[14][0-5]|\x1b\[\d*m/g, '')
            expect(rest?.length).toBeLessThanOrEqual(
              form.startsWith('wrapped') ? 46 : form.startsWith('base64') ? 8 : /^od|hex/i.test(form) ? 8 : 0,
            )
          },
        ),
        { numRuns: 60 },
      )
    })
  }

  test('random text and random cuts: what is shown is the text with every occurrence replaced, nothing else lost', () => {
    const letters = fc.string({ unit: fc.constantFrom(...'aab'), minLength: 6, maxLength: 9 })
    fc.assert(
      fc.property(
        letters,
        fc.string({ unit: fc.constantFrom(...'aab'), maxLength: 80 }),
        fc.array(fc.nat({ max: 80 }), { maxLength: 8 }),
        (secret, text, cuts) => {
          const covered = Array.from(text, () => false)
          for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1))
            covered.fill(true, at, at + secret.length)
          const kept = Array.from(text)
            .filter((_, index) => !covered[index])
            .join('')
          const shown = mask(Buffer.from(secret), Buffer.from(text), cuts).toString()
          expect(shown).not.toContain(secret)
          expect(shown.replaceAll('[secret:name]', '')).toBe(kept)
        },
      ),
      { numRuns: 1000 },
    )
  })

  test('several values that overlap, contain and repeat each other: exactly the union is hidden', () => {
    const word = fc.string({ unit: fc.constantFrom(...'ab'), minLength: 6, maxLength: 14 })
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 2, maxLength: 4 }),
        fc.string({ unit: fc.constantFrom(...'ab'), maxLength: 90 }),
        fc.array(fc.nat({ max: 90 }), { maxLength: 8 }),
        (secrets, text, cuts) => {
          const covered = Array.from(text, () => false)
          for (const secret of secrets)
            for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1))
              covered.fill(true, at, at + secret.length)
          const masker = createMasker()
          secrets.forEach((secret, index) => masker.add(`n${index}`, Buffer.from(secret)))
          const stream = masker.stream()
          const places = [...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length]
          const shown = places.map((place, index) =>
            stream.push(Buffer.from(text.slice(places[index - 1] ?? 0, place))),
          )
          const result = Buffer.concat([...shown, stream.flush()]).toString()
          expect(result.replace(/\[secret:n\d\]/g, '')).toBe(
            Array.from(text)
              .filter((_, index) => !covered[index])
              .join(''),
          )
        },
      ),
      { numRuns: 500 },
    )
  })

  test('text without a value passes unchanged, whatever it holds', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat({ max: 300 }), { maxLength: 5 }), (text, cuts) => {
        expect(mask(Buffer.from('a-value-that-is-not-there'), Buffer.from(text), cuts)).toEqual(Buffer.from(text))
      }),
      { numRuns: 300 },
    )
  })
})
