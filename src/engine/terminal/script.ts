/**
 * The script of a terminal run: the command, then what is to be learnt from its shell before it
 * leaves with the command's status.
 */
import type { DeliveredCommand } from '../plan/delivery.js'
import type { Plan } from '../plan/plan.js'
import { quoteWord } from '../../contract/quote.js'
import { takeText } from '../../os/files/shared-file.js'

/** Whether the stages of the last pipeline are worth asking for. */
export function hasStages({ verdict: { facts } }: Plan): boolean {
  return facts.parsedOk && facts.lastPipelineStages > 1 && !facts.endsInBackground
}

/** Where the shell of a terminal keeps `$?`, `$_` and the stages of its last command. */
export const LAST = '__cerith_l'

/**
 * `after` is bash code that is run in the command's shell when it has come to its end. (Silent by a descriptor to read:
 * a restricted shell may open nothing to write to.)
 */
export function withAfterwards(
  delivered: DeliveredCommand,
  stagesFile: string | null,
  after: string,
): DeliveredCommand {
  if (stagesFile === null && after === '') return delivered
  const save =
    stagesFile === null ? '\\builtin :' : `\\builtin printf '%s ' "\${${LAST}[@]:2}" >${quoteWord(stagesFile)}`
  return {
    ...delivered,
    script:
      `${delivered.script}\n{ ${LAST}=("$?" "$_" "\${PIPESTATUS[@]}"); ${save}; } 2</dev/null\n` +
      `${after}\n\\builtin exit "\${${LAST}[0]}"`,
  }
}

/** Null when it exited before its end, or was killed. */
export function readStages(file: string): number[] | null {
  const codes = (takeText(file) ?? '').trim().split(/\s+/).map(Number)
  return codes.length > 1 && codes.every(Number.isInteger) ? codes : null
}
