/** Opens the engine for a verb, with the person at the terminal as the one to ask, and closes it whatever happens. */
import { join } from 'node:path'
import type { Engine, JobsView } from '../../contract/engine.js'
import { ShellError } from '../../contract/errors.js'
import { quoteWord } from '../../contract/quote.js'
import type { ApprovalAnswer, ApprovalQuestion } from '../../contract/request.js'
import { loadConfig } from '../../config/load.js'
import { openEngine, openReader } from '../../setup/from-config.js'
import { takeLockFile } from '../../os/files/lock.js'
import { savedSessions, type SavedSession } from '../../os/files/session-states.js'
import { nearestExisting } from '../../os/files/paths.js'
import { ensurePrivateDirectory, stateDirectory } from '../../os/files/state-dir.js'
import { isAncestor } from '../../os/process/proc.js'
import { directoryFor } from './directory.js'
import type { Io } from '../io/io.js'
import { visible } from '../../output/terminal/visible.js'

export interface EngineUse {
  readonly flags?: readonly string[] | undefined
  /**
   * The session that will be used: no other process uses its saved state from before it is read
   * until it is written back.
   */
  readonly session?: string | undefined
  /**
   * The directory that the command is to run in, absolute. Verbs that run nothing leave it out,
   * and work from a deleted directory too.
   */
  readonly runsIn?: string | undefined
}

export async function withEngine<T>(
  io: Io,
  options: EngineUse,
  use: (engine: Engine, stateDir: string) => Promise<T>,
): Promise<T> {
  const { person } = io
  const isElsewhere = placeOf(io, options.flags) !== null
  const cwd = options.runsIn === undefined || isElsewhere ? nearestExisting(io.cwd) : directoryFor(options.runsIn, io)
  // A session elsewhere lives in its engine, which takes one call after the other by itself.
  const release = options.session === undefined || isElsewhere ? () => {} : await lockSession(options.session, io)
  const opening = openEngine({
    ...(isElsewhere ? { configIn: cwd } : { cwd }),
    door: 'cli',
    env: io.env,
    flags: options.flags,
    ask: person ? (question) => askPerson(question, io) : undefined,
    askPassphrase: person ? () => person.ask('Pass phrase of the vault: ', { hidden: true }) : undefined,
    onProblem: (message) => io.err.write(`cerith: ${message}\n`),
  })
  try {
    const { engine, stateDir } = await opening
    try {
      return await use(engine, stateDir)
    } finally {
      await closeEngine(engine, io)
    }
  } finally {
    release()
  }
}

/** The command has ended as it did: that its session could not be kept is said beside it. */
async function closeEngine(engine: Engine, io: Io): Promise<void> {
  try {
    await engine.close()
  } catch (error) {
    if (!(error instanceof ShellError) || error.code !== 'STATE_UNWRITABLE') throw error
    io.err.write(`cerith: ${error.message}\n        ${error.hint}\n`)
  }
}

/** How its verbs are called: what one place has, another does not know. */
export function cerithOf({ place }: Pick<Engine, 'place'>): string {
  return place ? `cerith --at ${quoteWord(place.url)}` : 'cerith'
}

/** For verbs that look at jobs and start nothing: no launcher is started, unless the jobs are at another place. */
export async function withJobs<T>(io: Io, use: (jobs: JobsView, stateDir: string) => Promise<T>): Promise<T> {
  if (placeOf(io, undefined) !== null) return withEngine(io, {}, use)
  const { jobs, stateDir } = await openReader({
    cwd: nearestExisting(io.cwd),
    door: 'cli',
    env: io.env,
    onProblem: (message) => io.err.write(`cerith: ${message}\n`),
  })
  try {
    return await use(jobs, stateDir)
  } finally {
    await jobs.close()
  }
}

/** The address of the other place that the settings name, or null. */
export function placeOf(io: Io, flags: readonly string[] | undefined): string | null {
  const { values } = loadConfig({ cwd: nearestExisting(io.cwd), env: io.env, flags })
  return values['at'] as string | null
}

/** Calls to one session run in order, also when they come from two terminals. */
export async function lockSession(name: string, io: Io): Promise<() => void> {
  // A name that cannot be a file is refused by the engine, with a better message.
  if (!/^[\w@:-][\w.@:-]{0,63}$/.test(name)) return () => {}
  const stateDir = ensurePrivateDirectory(stateDirectory(io.env))
  const dir = ensurePrivateDirectory(join(stateDir, 'sessions'))
  const given = new AbortController()
  const unlisten = io.onSignal(() => given.abort())
  let isOurs = false
  try {
    const lock = await takeLockFile(join(dir, `.${name}.lock`), {
      signal: given.signal,
      onWait: (owner) => {
        isOurs = isAncestor(owner)
        if (isOurs) given.abort()
        else io.err.write(`cerith: waiting for session ${name}, which process ${owner} is using\n`)
      },
    }).catch((error: NodeJS.ErrnoException) => {
      throw new ShellError(
        'STATE_UNWRITABLE',
        `Session ${name} cannot be locked in ${dir} (${error.code})`,
        'Make room there (`cerith clean`), raise `ulimit -f` if it is low, or set CERITH_HOME to a directory ' +
          'of your own. Nothing was run.',
        { cause: error },
      )
    })
    // Each would wait for the other, without an end.
    if (!lock.held && isOurs)
      throw new ShellError(
        'SESSION_LOST',
        `Session ${name} is the one that this command itself runs in`,
        'Run it without --session, or in a session of another name. Nothing was run.',
      )
    if (!lock.held)
      throw new ShellError(
        'SESSION_LOST',
        `Gave up waiting for session ${name}`,
        'Another process is using it; try again, or use another name.',
      )
    const { abandonedSince } = lock
    // Saved since the lock was made: the call was killed after that.
    const isKept = ({ name: saved, savedAt }: SavedSession): boolean =>
      saved === name && savedAt >= (abandonedSince ?? 0)
    if (abandonedSince !== null && !savedSessions(stateDir).some(isKept))
      io.err.write(`cerith: the last call in session ${name} was killed, and what it changed there is lost\n`)
    return lock.release
  } finally {
    unlisten()
  }
}

/** `y` once, `s` for the rest of the session, anything else is no. */
async function askPerson(question: ApprovalQuestion, io: Io): Promise<ApprovalAnswer | null> {
  // On a terminal that an engine started, the agent types, not a person.
  if (!io.person || io.insideEngine) return null
  io.err.write(
    '\ncerith: this command wants your approval\n' +
      `  command   ${visible(question.command)}\n  directory ${visible(question.cwd)}\n` +
      `  because   ${visible(question.verdict.reason ?? question.verdict.rule ?? 'a rule asks')}\n`,
  )
  const { signal } = question
  const asked = io.person.ask('Run it? [y]es once, [s]ession, [n]o: ', signal ? { signal } : {})
  const answer = (await asked)?.trim().toLowerCase()
  if (signal?.aborted) io.err.write('\ncerith: answered elsewhere\n')
  if (answer === undefined || signal?.aborted) return null
  return answer === 'y' || answer === 'yes' ? 'once' : answer === 's' || answer === 'session' ? 'session' : 'deny'
}
