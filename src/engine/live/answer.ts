/** Answers a question of an engine, with the digest of what was shown, and says whether the engine took the answer. */
import { shownDigest, type WaitingApproval } from '../../audit/approvals.js'
import type { ApprovalAnswer } from '../../contract/request.js'
import type { EngineWatch } from './watch.js'

export type AnswerOutcome = 'accepted' | 'unknown' | 'differs' | 'answered' | 'untrusted' | 'gone'

/** The words for a person of an answer that was not accepted. */
export const NOT_ACCEPTED: Readonly<Record<Exclude<AnswerOutcome, 'accepted'>, string>> = {
  unknown: 'the question is no longer open',
  differs: 'what was shown is not what the engine asks; nothing was approved',
  answered: 'it was answered meanwhile',
  untrusted: 'the helper of that engine was killed, so it cannot tell a person from an agent any more; start it anew',
  gone: 'the process that asked has ended',
}

/** Sends the answer to the engine that asked. False: that engine is not connected. Its reply comes to `watch`. */
export function sendAnswer(watch: EngineWatch, shown: WaitingApproval, as: ApprovalAnswer): boolean {
  const engine = watch.engines.get(shown.engine)
  if (engine?.state !== 'live') return false
  // Of what was shown, not what the engine said its digest is: both must be the same.
  engine.send({ do: 'answer', id: shown.id, digest: shownDigest(shown), as })
  return true
}
