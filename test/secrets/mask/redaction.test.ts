import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createMasker } from '../../../src/secrets/mask/masker.js'

interface Case {
  id: string
  class: string
  level: 'must' | 'should' | 'extra' | 'none'
  stage: string
  secrets: string[]
  chunks?: string[]
  chunks_b64?: string[]
  must_not_contain: string[]
  must_contain: string[]
  why: string
}

const cases = readFileSync(new URL('../../corpus/redaction.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Case)

function chunksOf({ chunks, chunks_b64 }: Case): Buffer[] {
  return chunks_b64?.map((text) => Buffer.from(text, 'base64')) ?? (chunks ?? []).map((text) => Buffer.from(text))
}

/** The head and tail that a clipped result keeps, as text. */
function clip(whole: Buffer): string {
  return whole.length <= 131_072
    ? whole.toString()
    : whole.subarray(0, 4096).toString() + whole.subarray(-4096).toString()
}

describe('known values never show in output', () => {
  for (const chunking of ['as given', 'byte by byte', 'in one piece'] as const) {
    test.each(cases.filter(({ level }) => level !== 'none'))(`$id $class ($level), ${chunking}: $why`, (row) => {
      const masker = createMasker()
      row.secrets.forEach((secret, index) => masker.add(`s${index}`, Buffer.from(secret)))
      const stream = masker.stream()
      const given = chunksOf(row)
      const whole = Buffer.concat(given)
      const pieces =
        chunking === 'as given'
          ? given
          : chunking === 'in one piece'
            ? [whole]
            : Array.from(whole.subarray(0, 4000), (byte) => Buffer.of(byte)).concat(whole.subarray(4000))
      const shown = Buffer.concat([...pieces.map((piece) => stream.push(piece)), stream.flush()])
      const text = row.stage.startsWith('truncate') ? clip(shown) : shown.toString()
      for (const forbidden of row.must_not_contain) expect(text).not.toContain(forbidden)
      for (const wanted of row.must_contain) expect(text).toContain(wanted)
      expect(stream.pending).toBe(0)
    })
  }
})
