/** The output of a failed command in a host that shows less of a failure than of a success. */
import type { Outcome } from '../../contract/outcome.js'
import { clipEnds } from '../../output/clip.js'

/** Whether a command failed is known after its output was clipped; what is too long for a failure is clipped again. */
export function shortened(outcome: Outcome, maxChars: number | null | undefined): Outcome {
  if (!maxChars || ['completed', 'running'].includes(outcome.status)) return outcome
  const { stdout, stderr, output, outputFile: wholeAt } = outcome
  if (stdout.length + stderr.length + (output?.length ?? 0) <= maxChars) return outcome
  const clip = (text: string, room: number) => clipEnds(text, { maxChars: room, wholeAt })
  const forErr = Math.min(stderr.length, Math.max(Math.floor(maxChars / 2), maxChars - stdout.length))
  const parts = { out: clip(output ?? stdout, maxChars - forErr), err: clip(stderr, Math.max(forErr, 1)) }
  return {
    ...outcome,
    ...(output === null ? { stdout: parts.out.text, stderr: parts.err.text } : { output: parts.out.text }),
    truncated: true,
    omittedBytes: outcome.omittedBytes + parts.out.omittedBytes + parts.err.omittedBytes,
  }
}
