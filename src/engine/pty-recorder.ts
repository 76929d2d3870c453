/** Feeds a recording with the bytes of a terminal: masked and decoded, whatever pieces they come in. */
import type { Recording } from '../os/pty-record.js'
import { createUtf8Decoder } from '../output/utf8.js'
import type { Masker } from '../secrets/masker.js'

export function recordBytes(recording: Recording, masker: Masker | null): { push(bytes: Uint8Array): void; end(): void } {
  const mask = masker?.stream() ?? null
  const decoder = createUtf8Decoder()
  return {
    push: (bytes) => recording.output(decoder.push(mask ? mask.push(bytes) : bytes)),
    end: () => {
      if (mask) recording.output(decoder.push(mask.flush()))
      recording.output(decoder.flush())
      recording.close()
    },
  }
}
