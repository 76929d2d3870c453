/** What the sandbox has to say about an outcome: what it kept the command from, told from facts and once per cause. */
import type { Note } from '../../../contract/note.js'
import { explain, type Blocked } from '../../../confine/explain.js'
import type { Outcome } from '../../../contract/outcome.js'
import type { SandboxFacts, SandboxOptions } from '../../../contract/sandbox.js'
import { thisMachine } from '../../../os/confine/machine.js'
import { visible } from '../../../output/terminal/visible.js'
import type { Refused } from '../../../os/confine/proxy.js'
import type { Found } from '../../../os/confine/quarantine.js'
import type { TryFolder } from '../../../os/confine/try-store.js'
import type { BuiltRoom } from './builder.js'

/** What is told of a command that has ended. */
interface Told {
  readonly blocked: readonly string[]
  readonly notes: readonly Note[]
}

/** Told whatever came of the command, and once. */
export interface Around {
  readonly options: SandboxOptions
  /** Causes that were told before. */
  readonly known: Set<string>
  readonly news: readonly string[]
}

export function adorned(outcome: Outcome, built: BuiltRoom, around: () => Around): Outcome {
  const found = built.quarantine.look()
  // The usual end of a command: nothing to say but where it was. Copying the outcome, or only getting ready to say
  // something, would cost more than all the rest of it.
  const { proxy, limits, tried } = built
  if (outcome.status === 'completed' && found.length === 0 && !proxy && !limits && !tried) {
    ;(outcome as { sandbox: SandboxFacts }).sandbox = quietFacts(built)
    return outcome
  }
  // Never from the words of a command that did what it should.
  const failed = outcome.status === 'failed' || outcome.status === 'timeout'
  const told = toldOf(failed, () => outcome.output ?? outcome.stderr, outcome.cwd, built, found, around())
  const facts: SandboxFacts = { ...built.place, blocked: told.blocked }
  return { ...outcome, sandbox: facts, notes: [...outcome.notes, ...told.notes] }
}

/** `words`: what it said where errors are told. `found`: what the look behind it came to. */
export function toldOf(
  failed: boolean,
  words: () => string,
  cwd: string,
  built: BuiltRoom,
  found: readonly Found[],
  { options, known, news }: Around,
): Told {
  const { policy, proxy, limits } = built
  const blocked = failed ? explain(words(), policy, cwd, thisMachine) : []
  const unreached = (proxy?.refused() ?? []).map(unreachedNote)
  const hit = failed ? (limits?.hit() ?? []).map((limit) => limitNote(limit, options)) : []
  const lacking = (limits?.missing ?? []).map(missingNote)
  const tried = built.tried ? [tryNote(built.tried)] : []
  const fresh = (told: readonly Blocked[]): string[] =>
    told
      .filter(({ cause }) => !known.has(cause))
      .map(({ cause, text }) => {
        known.add(cause)
        return text
      })
  const advice = fresh([...tried, ...(failed ? [...blocked, ...unreached, ...hit] : [])])
  const lost = [...fresh([...lacking, ...found.map(foundNote)]), ...news]
  return {
    blocked: [...blocked, ...unreached, ...hit].map(({ what }) => what).concat(found.map(({ path }) => path)),
    notes: [
      ...advice.map((text): Note => ({ code: 'sandbox', text: oneLine(text) })),
      ...lost.map((text): Note => ({ code: 'sandbox-lost', text: oneLine(text) })),
    ],
  }
}

/** Names in it may be of a command's making: no line of it is one that the engine did not write. */
function oneLine(text: string): string {
  return visible(text).replaceAll('\n', '\\n')
}

const quiet = new WeakMap<BuiltRoom, SandboxFacts>()

/** One object for all outcomes of a room that had nothing to tell. */
function quietFacts(built: BuiltRoom): SandboxFacts {
  const known = quiet.get(built)
  if (known) return known
  const facts: SandboxFacts = Object.freeze({ ...built.place, blocked: Object.freeze([]) })
  quiet.set(built, facts)
  return facts
}

function tryNote({ record }: TryFolder): Blocked {
  const roots = record.roots.map(({ path }) => path).join(', ')
  return {
    cause: `try ${record.id}`,
    what: record.id,
    text: `This is a try (${record.id}): what is written in ${roots} is kept apart, and counts when it is accepted.`,
  }
}

function limitNote(limit: string, { limits }: SandboxOptions): Blocked {
  const value = limits?.[limit as keyof typeof limits]
  // Told each time: unlike a path, a limit can be kept to the next time.
  const cause = `limit ${limit} ${Date.now()}`
  return {
    cause,
    what: `limit ${limit}`,
    text: `The sandbox reached its limit ${limit} (${value}, for all of its commands together).`,
  }
}

function missingNote(limit: string): Blocked {
  return {
    cause: `missing ${limit}`,
    what: limit,
    text:
      limit === 'tmpBytes'
        ? 'sandbox.limits.tmpBytes is not in force: the weaker sandbox has no /tmp of its own.'
        : `sandbox.limits.${limit} is not in force: this machine lets cerith make no control group for it.`,
  }
}

function unreachedNote({ host, why }: Refused): Blocked {
  return { cause: `host ${host} ${why}`, what: host, text: `The sandbox let nothing through: ${why}.` }
}

function foundNote({ path, movedTo, why }: Found): Blocked {
  return {
    cause: `quarantine ${path} ${movedTo ?? why}`,
    what: path,
    text:
      movedTo === null
        ? `The sandbox noticed ${path}: ${why}.`
        : `The sandbox set ${path} aside (${why}); it is now ${movedTo}.`,
  }
}
