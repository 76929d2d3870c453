/**
 * Feeds a recording with the bytes of a terminal, masked and decoded, whatever pieces they come
 * in, and with the sizes it is given.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { readInputNotes } from '../../os/job/terminal.js'
import type { Recording } from '../../os/job/recording.js'
import { createUtf8Decoder } from '../../output/utf8.js'
import type { Masker } from '../../secrets/mask/masker.js'

export function recordBytes(
  recording: Recording,
  dir: string,
  masker: Masker | null,
): { push(bytes: Uint8Array): void; end(): void } {
  const mask = masker?.stream() ?? null
  const decoder = createUtf8Decoder()
  let notesSize = -1
  let sizes = 1 // The first one is in the recording's header.
  const showSizes = (): void => {
    const size = statSync(join(dir, 'input.jsonl'), { throwIfNoEntry: false })?.size ?? 0
    if (size === notesSize) return
    notesSize = size
    const all = readInputNotes(dir).flatMap((note) => (note.size ? [note.size] : []))
    for (const [cols, rows] of all.slice(sizes)) recording.resize({ cols, rows })
    sizes = Math.max(sizes, all.length)
  }
  return {
    push(bytes) {
      showSizes()
      recording.output(decoder.push(mask ? mask.push(bytes) : bytes))
    },
    end() {
      if (mask) recording.output(decoder.push(mask.flush()))
      recording.output(decoder.flush())
      recording.close()
    },
  }
}
