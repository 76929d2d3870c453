import { describe, expect, test } from 'vitest'
import { isMaskable } from '../../../src/secrets/mask/forms.js'
import { createMasker, type Masker } from '../../../src/secrets/mask/masker.js'

const secret = 'hunter2-s3cr3t-Value'
function maskerOf(values: Record<string, string | Uint8Array>): Masker {
  const masker = createMasker()
  for (const [name, value] of Object.entries(values)) masker.add(name, Buffer.from(value as string))
  return masker
}

describe('what a masker does', () => {
  test('names the secret, the longest first, and merges overlaps', () => {
    const masker = maskerOf({ part: 'extended', whole: 'my-extended-key', a: 'abcdef', b: 'defghi' })
    expect(masker.maskText('x my-extended-key y extended z')).toBe('x [secret:whole] y [secret:part] z')
    expect(masker.maskText('1abcdefghi2')).toMatch(/^1\[secret:[ab]\]2$/)
    expect(masker.maskText('abcdefabcdef')).toBe('[secret:a][secret:a]')
  })

  test('costs nothing and copies nothing without secrets, or without a match', () => {
    const text = Buffer.from('nothing to hide. ')
    expect(createMasker().stream().push(text)).toBe(text)
    expect(createMasker().maskBytes(text)).toBe(text)
    expect(maskerOf({ a: secret }).stream().push(text)).toBe(text)
    expect(maskerOf({ a: secret }).maskText('\ud800 lone surrogate')).toBe('\ud800 lone surrogate')
  })

  test('values shorter than 6 bytes are left alone, and can be told beforehand', () => {
    const masker = maskerOf({ a: 'true', b: '12345', c: ' ab\n\n c ' })
    expect([masker.size, masker.maskText('true 12345 ab c')]).toEqual([0, 'true 12345 ab c'])
    expect(['12345', '123456', 'a    b', '\n12345\n'].map((text) => isMaskable(Buffer.from(text)))).toEqual([
      false,
      true,
      false,
      false,
    ])
  })

  test('a value that is added while a stream is open is masked from then on, a removed one no longer', () => {
    const masker = createMasker()
    const stream = masker.stream()
    expect(Buffer.from(stream.push(Buffer.from(`${secret} hunter2-`))).toString()).toBe(`${secret} hunter2-`)
    masker.add('late', Buffer.from(secret))
    expect(Buffer.from(stream.push(Buffer.from(`${secret}! hunter2-s3`))).toString()).toBe('[secret:late]! ')
    masker.remove('late')
    expect(masker.size).toBe(0)
    expect(Buffer.from(stream.push(Buffer.from('cr3t-Value'))).toString()).toBe(secret)
  })

  test('after a rotation both values of a name are masked, until the name is removed', () => {
    const masker = maskerOf({ key: 'first-value' })
    masker.add('key', Buffer.from('second-value'))
    masker.add('key', Buffer.from('second-value'))
    expect([masker.size, masker.maskText('first-value second-value')]).toEqual([2, '[secret:key] [secret:key]'])
    masker.remove('key')
    expect(masker.maskText('first-value')).toBe('first-value')
  })

  test('a label never shows a value, not even one that is called like its value', () => {
    const masker = maskerOf({ hunter22: 'hunter22', other: '[secret:' })
    expect(masker.maskText('a hunter22 b')).toBe('a [***] b')
    expect(masker.maskText(masker.maskText('a hunter22 b'))).toBe('a [***] b')
  })

  test('the value that is given can be wiped afterwards', () => {
    const value = Buffer.from(secret)
    const masker = createMasker()
    masker.add('a', value)
    value.fill(0)
    expect(masker.maskText(secret)).toBe('[secret:a]')
  })
})

describe('what a stream holds back', () => {
  test('only what may still become a value', () => {
    const stream = maskerOf({ a: secret }).stream()
    expect(Buffer.from(stream.push(Buffer.from('Password: '))).toString()).toBe('Password: ')
    expect(Buffer.from(stream.push(Buffer.from('some hunt'))).toString()).toBe('some ')
    expect(stream.pending).toBe(4)
    expect(Buffer.from(stream.push(Buffer.from('ing is fun, no?'))).toString()).toBe('hunting is fun, no?')
    expect(stream.pending).toBe(0)
  })

  test('release shows a short beginning to a waiting reader, and the rest of the value is still masked when it comes', () => {
    const stream = maskerOf({ a: secret }).stream()
    expect(Buffer.from(stream.push(Buffer.from('continue? hun'))).toString()).toBe('continue? ')
    expect(Buffer.from(stream.release()).toString()).toBe('hun')
    expect([stream.pending, stream.release().length]).toEqual([0, 0])
    expect(Buffer.from(stream.push(Buffer.from('ter2-s3cr3t-Value!'))).toString()).toBe('[secret:a]!')
    stream.push(Buffer.from('hun'))
    stream.release()
    expect(Buffer.from(stream.push(Buffer.from('gry'))).toString()).toBe('gry')
  })

  test('take hands the held bytes to another stream, which masks the value as a whole', () => {
    const masker = maskerOf({ a: secret })
    const [one, two] = [masker.stream(), masker.stream()]
    one.push(Buffer.from('x hunter2-s3'))
    const held = one.take()
    expect([one.pending, one.flush().length]).toEqual([0, 0])
    expect(Buffer.concat([two.push(held), two.push(Buffer.from('cr3t-Value y')), two.flush()]).toString()).toBe(
      '[secret:a] y',
    )
  })

  test('release does not show half of a value', () => {
    const stream = maskerOf({ a: secret }).stream()
    stream.push(Buffer.from('hunter2-s3cr3'))
    expect(stream.release().length).toBe(0)
    expect(stream.pending).toBe(13)
    expect(Buffer.from(stream.flush()).toString()).toBe('[secret:a]')
  })

  test('memory stays flat: endless repetition, endless white space inside a value, an endless terminal string', () => {
    const masker = maskerOf({ same: 'a'.repeat(5000), lines: 'first line\nsecond line', key: secret })
    for (const [start, filler] of [
      ['', 'a'],
      ['first line', '\n'],
      ['hunter2', '\x1b[1m'],
      ['hunter2-', '\x1b]0;'],
      ['hun', '%'],
      ['hun', '\\'],
    ]) {
      const stream = masker.stream()
      stream.push(Buffer.from(start as string))
      const chunk = Buffer.from((filler as string).repeat(Math.floor(16_384 / (filler as string).length)))
      let most = 0
      for (let round = 0; round < 20; round++) {
        stream.push(chunk)
        most = Math.max(most, stream.pending)
      }
      expect(most).toBeLessThan(100_000)
    }
  })

  test('a chunk of many blocks is masked across their borders', () => {
    const text = 'x'.repeat(65_526) + secret + 'y'.repeat(131_072 - 15) + secret + 'z'
    expect(maskerOf({ a: secret }).maskText(text)).toBe(
      `${'x'.repeat(65_526)}[secret:a]${'y'.repeat(131_072 - 15)}[secret:a]z`,
    )
  })
})

describe('forms that no list of encodings has', () => {
  const masker = maskerOf({ a: `it's "50%" & <x>/é` })
  test.each([
    ['mixed JSON escapes', String.raw`it\u0027s \"50%\" \u0026 \u003cx\u003e\/\u00e9`],
    [
      'hex escapes only',
      Array.from(Buffer.from(`it's "50%" & <x>/é`), (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join(''),
    ],
    ['a URL that leaves some characters', 'it%27s+"50%25"+%26+%3Cx%3e/%C3%A9'],
    ['HTML with named entities', 'it&apos;s &quot;50%&quot; &amp; &lt;x&gt;/é'],
    ["Python's quoting", `'it'"'"'s "50%" & <x>/é'`],
    ['decomposed characters', `it's "50%" & <x>/e\u0301`],
    ['a terminal link inside', `it's \x1b]8;;http://x\x07"50%" & <x>/é`],
    ['in a terminal title', `\x1b]0;it's "50%" & <x>/é\x07`],
  ])('%s', (_name, text) => {
    expect(masker.maskText(`<${text}>`)).toMatch(/^<[^]*\[secret:a\][^]*>$/)
    expect(masker.maskText(`<${text}>`)).not.toMatch(/50|&lt|u003c|x3c/)
  })

  test('a value of 300 kB, whole and in part', () => {
    const value = Buffer.from(
      Array.from({ length: 300_000 }, (_, index) => 33 + ((index * index * 31 + index * 7 + (index >> 9)) % 90)),
    )
    const big = maskerOf({ big: value })
    expect(Buffer.from(big.maskBytes(Buffer.concat([Buffer.from('<'), value, Buffer.from('>')]))).toString()).toBe(
      '<[secret:big]>',
    )
    expect(Buffer.from(big.maskBytes(value.subarray(200_000, 202_000))).toString()).toContain('[secret:big]')
    expect(Buffer.from(big.maskBytes(Buffer.from(value.toString('base64')))).toString().length).toBeLessThan(40)
  })

  test('lines of numbers, each of which a dump could begin with, take no other time than lines of words', () => {
    const masker = maskerOf({ a: secret })
    const timeOf = (lines: string): number => {
      const bytes = Buffer.from(lines)
      const times = [1, 2, 3].map(() => {
        const before = process.cpuUsage()
        masker.maskBytes(bytes)
        const { user, system } = process.cpuUsage(before)
        return user + system
      })
      return Math.max(1_000, Math.min(...times))
    }
    const numbers = Array.from({ length: 100_000 }, (_, index) => `${100_000 + index}\n`).join('')
    expect(timeOf(numbers) / timeOf('secret\n'.repeat(100_000))).toBeLessThan(30)
  })

  test('a thousand values with the same beginning', () => {
    const many = createMasker()
    const values = Array.from(
      { length: 1000 },
      (_, index) => `sk-live-${(index * 7919).toString(36).padStart(12, '0')}`,
    )
    values.forEach((value, index) => many.add(`k${index}`, Buffer.from(value)))
    expect(many.maskText(values.join(','))).toBe(values.map((_, index) => `[secret:k${index}]`).join(','))
  })
})
