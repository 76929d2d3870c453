import { describe, expect, test } from 'vitest'
import { createMasker } from '../../../src/secrets/mask/masker.js'

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'
// Put together here, so that no scanner takes this file for a leak.
const samples: Record<string, string> = {
  'github-token': `ghp_${letters.slice(0, 36)}`,
  'gitlab-token': `glpat-${letters.slice(0, 20)}`,
  'aws-access-key': `AKIA${'Q7'.repeat(8)}`,
  'slack-token': `xoxb-${letters.slice(26, 36)}-${letters.slice(0, 12)}`,
  'stripe-key': `sk_live_${letters.slice(0, 24)}`,
  'api-key': `sk-ant-${letters.slice(0, 40)}`,
  'google-api-key': `AIza${letters.slice(0, 35)}`,
  'npm-token': `npm_${letters.slice(0, 36)}`,
  'pypi-token': `pypi-${letters}`,
  jwt: `eyJ${letters.slice(0, 20)}.eyJ${letters.slice(0, 30)}.${letters.slice(0, 43)}`,
  'private-key': `-----BEGIN OPENSSH PRIVATE KEY-----\n${letters}\n${letters}\n-----END OPENSSH PRIVATE KEY-----`,
}

function mask(text: string, cut: number): string {
  const stream = createMasker({ shapes: true }).stream()
  return Buffer.concat([
    stream.push(Buffer.from(text.slice(0, cut))),
    stream.push(Buffer.from(text.slice(cut))),
    stream.flush(),
  ]).toString()
}

describe('values that nobody named are masked by their form, when asked for', () => {
  test.each(Object.entries(samples))('%s, wherever it is cut', (name, sample) => {
    for (let cut = 0; cut <= sample.length + 8; cut++)
      expect(mask(`key: ${sample}; end`, cut), `cut at ${cut}`).toBe(`key: [masked:${name}]; end`)
  })

  test('off by default', () => {
    expect(createMasker().maskText(samples['github-token'] as string)).toBe(samples['github-token'])
  })

  test('a private key whose end never comes is masked as far as it goes', () => {
    expect(mask(`x\n${samples['private-key']?.slice(0, 120)}`, 60)).toBe('x\n[masked:private-key]')
  })

  test('a known secret keeps its own name', () => {
    const masker = createMasker({ shapes: true })
    masker.add('mine', Buffer.from(samples['github-token'] as string))
    expect(masker.maskText(`a ${samples['github-token']} b ${samples['npm-token']}`)).toBe(
      'a [secret:mine] b [masked:npm-token]',
    )
  })

  test('what only resembles a token stays', () => {
    const text =
      'sk-learn ghp_short AKIAfoo npm_config_registry eyJ.not.jwt -----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE----- SKIASIAEXAMPLE'
    expect(mask(text, 20)).toBe(text)
  })

  test('an endless run of token characters is not held for ever', () => {
    const stream = createMasker({ shapes: true }).stream()
    let most = 0
    for (let round = 0; round < 50; round++) {
      stream.push(Buffer.from(round === 0 ? 'ghp_' : 'a'.repeat(8192)))
      most = Math.max(most, stream.pending)
    }
    expect(most).toBeLessThan(50_000)
  })
})
