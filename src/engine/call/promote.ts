/** What a foreground run hands over when it becomes a job. */
import type { Outcome } from '../../contract/outcome.js'
import type { Ward } from '../../os/helper/launcher.js'
import type { PipeReader } from '../../os/files/pipe-reader.js'
import type { Plan } from '../plan/plan.js'
import type { Stay } from '../services/sandbox/sandbox.js'
import type { Capture } from './capture.js'
import type { MoveReason } from './supervision.js'

/** How a foreground run becomes a job; the jobs part of the engine provides it. */
export type Promote = (run: {
  plan: Plan
  ward: Ward
  out: Capture
  err: Capture | null
  readers: readonly PipeReader[]
  startedAt: number
  stay: Stay | null
  reason: MoveReason
}) => Promise<Outcome>
