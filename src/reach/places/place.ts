/** Where shells can run. One file per kind; each knows words and error texts of its client, nothing of frames. */
import { ShellError, type ShellErrorCode } from '../../contract/errors.js'
import type { ClientEnd, Finished } from '../../os/process/client.js'

/**
 * What the last words of a client mean. `retry`: the network, or nothing in particular. `gone`:
 * trying again is pointless.
 */
export type Judgement = 'retry' | 'refused' | 'gone' | 'full'

export interface Place {
  readonly url: string
  /** The directory that the address names. */
  readonly cwd: string | null
  /** The address describes something that is made for the engine, and made again when it is gone. */
  readonly isMade: boolean
  /** How the engine is started there; see the arrival script. */
  readonly start: 'here' | 'batch'
  /** The words that run other words there, with stdin and stdout joined. */
  argv(words: readonly string[]): readonly string[]
  judge(end: ClientEnd): Judgement
  hint(end: ClientEnd): string
  /**
   * Makes what the address describes (a container, a pod, an allocation), or finds what was
   * made for this engine before.
   */
  acquire(): Promise<void>
  release(): Promise<void>
}

/** Runs a client of this kind where the step before it leads. */
export type Runner = (
  words: readonly string[],
  options?: { readonly input?: string; readonly timeoutMs?: number },
) => Promise<Finished>

/** What was made for an engine is written down here, with its id: only that is ever adopted or removed. */
export interface Made {
  read(): Record<string, string> | null
  write(made: Record<string, string>): void
  forget(): void
}

export interface StepContext {
  readonly run: Runner
  readonly made: Made
  /** For names and labels of what is made: letters, digits and dashes. */
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** What a batch job must run to become the engine. */
  readonly batch: string
  /** Arguments of the person for this client. */
  readonly clientArgs: readonly string[]
}

/** One step of an address: `ssh://login!docker://c1` has two. */
export interface Step {
  readonly cwd?: string
  readonly start?: 'here' | 'batch'
  wrap(words: readonly string[], clientArgs: readonly string[]): readonly string[]
  judge(said: string): Judgement
  readonly hint: string
  acquire?(context: StepContext): Promise<void>
  release?(context: StepContext): Promise<void>
}

/**
 * Forgets what was made once it is gone, and only then: while its client cannot say so it stays written down, and can
 * be swept later.
 */
export function forgetRemoved(made: Made, { code, stderr }: Finished, what: string, gone: RegExp): void {
  if (code !== 0 && !gone.test(stderr))
    throw new ShellError(
      'PLACE_UNREACHABLE',
      `${what} could not be removed: ${lastWords(stderr, 2) || 'its client did not answer'}`,
      'It stays written down: `cerith fleet sweep` removes it when its client works again.',
    )
  made.forget()
}

/** The last lines that a client said; advice to read its help does not say why it failed. */
export function lastWords(stderr: string, lines: number): string {
  const said = stderr.split('\n').filter((line) => line.trim() !== '' && !/--help'/.test(line))
  return said.slice(-lines).join(' / ')
}

/** Why something could not be made, by what its client said. */
export function codeOf(said: string, { full, unreachable }: { full: RegExp; unreachable: RegExp }): ShellErrorCode {
  return full.test(said) ? 'PLACE_FULL' : unreachable.test(said) ? 'PLACE_UNREACHABLE' : 'PLACE_REFUSED'
}

/** Rows of words that clients say, in the order in which they count. */
export function judgeBy(rows: readonly (readonly [RegExp, Judgement])[]): (said: string) => Judgement {
  return (said) => rows.find(([pattern]) => pattern.test(said))?.[1] ?? 'retry'
}
