/**
 * Starts commands through a small warm process, so that the host's memory never slows the
 * shell, and never loses their children.
 */
import type { Item } from '../../confine/policy.js'
import { ShellError } from '../../contract/errors.js'
import type { OverLimit, Usage } from '../../contract/outcome.js'
import type { ResourceLimits } from '../../contract/request.js'

/**
 * A real pipe: one end is opened here, the other is given to a command (or opened by a session's shell under `path`).
 */
export interface Pipe {
  readonly slot: number
  /** Whose slot it is: its successor gives the same numbers to others. */
  readonly launcher: number
  /** Our end, opened when asked for the first time. */
  readEnd(): number
  writeEnd(): number
  /** How a session's shell can open the writing end while the launcher still holds it. */
  readonly writePath: string
  /** The same for the reading end. */
  readonly readPath: string
  /** The launcher lets go of both ends (a pipe given to a command is let go of by itself). */
  release(): void
}

export interface LaunchSpec {
  readonly path: string
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** Without it stdin is /dev/null. */
  readonly stdin?: Pipe
  readonly stdout?: Pipe
  readonly stderr?: Pipe
  /** stderr shares stdout's pipe: true order. */
  readonly merge?: boolean
  /** A further descriptor that the command reads: secret values, its script. */
  readonly extraIn?: { readonly fd: number; readonly pipe: Pipe }
  /** Runs in this room, or not at all. */
  readonly inside?: Entrance
  /** Gets the listener of this room as descriptor 3, outside it: a proxy. */
  readonly listenerOf?: Room
  /** Keep output in this directory instead of sending it through pipes to the engine. */
  readonly keep?: KeepSpec
  readonly detached?: boolean
  readonly oomScore?: number
  readonly limits?: ResourceLimits
  /** Between the polite signal and SIGKILL, where the helper ends it by itself: at its deadline or a limit. */
  readonly graceMs?: number
}

/** How to build a room: items in the order in which they are applied, as the helper reads them. */
export interface RoomOrder {
  readonly items: readonly Item[]
  /** Landlock and seccomp alone, without namespaces. */
  readonly onlyWall: boolean
  readonly strict: boolean
  readonly allNetwork: boolean
  readonly nested: boolean
  /** Goes on without the second wall where the kernel has none. */
  readonly weaker: boolean
  /** A listener inside, for a proxy outside. */
  readonly listens: boolean
  readonly tmpBytes?: number
  /** Held as long as anything lives in the room; a room whose lock is held is not built. */
  readonly lock?: string
  /** The directory that holds the folders of session files; a command sees only its own folder. */
  readonly inner: string
}

/** A room that was built. */
export interface Room {
  readonly id: number
  readonly holderPid: number
  /** What of its promise the kernel could not give. */
  readonly lacks: { readonly view: boolean; readonly wall: boolean }
  /** False once its holder, or the launcher, is gone: a command that asks for it does not start. */
  readonly alive: boolean
}

/** The room that a command enters. */
export interface Entrance {
  readonly room: Room
  /** The command's own folder of session files, if it has one. */
  readonly folder?: string
  /** Control groups that the command is put into. */
  readonly groups?: readonly string[]
}

/** A byte string that is never written to disk, with the name that stands for it. */
export interface Mask {
  readonly name: string
  readonly bytes: Uint8Array
}

export interface KeepSpec {
  readonly dir: string
  readonly headBytes: number
  readonly tailBytes: number
  readonly openStdin?: boolean
  readonly pty?: { readonly cols: number; readonly rows: number }
  readonly deadlineMs?: number
  readonly masks?: readonly Mask[]
}

/**
 * Where a foreground command's output goes on: what was stored so far, and the bytes that were
 * read but may begin a masked value.
 */
export interface MoveSpec extends Pick<KeepSpec, 'dir' | 'headBytes' | 'tailBytes' | 'masks'> {
  readonly outAt: number
  readonly errAt: number
  /** Where the engine's own reading ends can be opened, for pipes that the watcher was not given at the start. */
  readonly outPath?: string
  readonly errPath?: string
  readonly outHeld?: Uint8Array
  readonly errHeld?: Uint8Array
  readonly detached: boolean
}

/** How the leader ended, raw: the engine decides what that means. */
export interface LeaderExit {
  readonly code: number | null
  readonly signal: number | null
  readonly forced: boolean
  /** True when the process that watched it was itself destroyed. */
  readonly lost: boolean
  readonly usage: Usage | null
  /** The limit that it exceeded, also where it ended by itself then. */
  readonly over: OverLimit | null
  /** Its watcher ended it because of the limit. */
  readonly byLimit: boolean
}

export const LOST_EXIT: LeaderExit = {
  code: null,
  signal: null,
  forced: false,
  lost: true,
  usage: null,
  over: null,
  byLimit: false,
}

/**
 * What the watcher moved into a pipe, and why it stopped: the command ended, its output did,
 * the reader is gone, it cannot, or was told to.
 */
export interface Passed {
  readonly bytes: number
  readonly why: 'exit' | 'end' | 'closed' | 'refused' | 'asked'
}

/** A started command with its watcher. */
export interface Ward {
  readonly pid: number
  readonly pgid: number
  readonly wardenPid: number
  /** What everything that it starts carries on the lower tier, where one process watches all commands. */
  readonly mark: string | null
  /** The first process of the command's own ids, in a room: no process of the command's. */
  readonly initPid: number | null
  readonly wardenStart: string
  readonly leaderStart: string
  readonly exited: Promise<LeaderExit>
  /** Every process that the command started is gone. */
  readonly gone: Promise<void>
  /** Settled synchronously with the promises, for checks without waiting. */
  readonly state: { exited: LeaderExit | null; gone: boolean; wasStopped: boolean }
  /** A job's end was recorded on disk. */
  readonly recorded: Promise<void>
  /** Ends the whole tree: polite signal, grace, SIGKILL. */
  kill(options: { signal?: number; graceMs: number; why: 'caller' | 'timeout' | 'close' | 'limit' }): void
  /** Called when a kept job's output grew. */
  onOutput: ((outTotal: number, errTotal: number) => void) | null
  /** From here on the watcher keeps the output in `dir`; resolves when it has taken over. */
  moveToBackground(spec: MoveSpec): Promise<void>
  /** Closes the watcher's own reading end of a foreground stream: with the last one the command's next write fails. */
  closeOutput(which: 'out' | 'err'): void
  /** Lets the pipes of a foreground command hold more, where the kernel allows it. */
  widen(): void
  /**
   * The watcher moves what comes to stdout into the pipe at this path by itself, until the
   * command ends or `takeBack`. The reading end here must not be read meanwhile.
   */
  passOn(path: string): Promise<Passed>
  takeBack(): void
  /** While it is held back the watcher of a kept command reads nothing of what it prints. */
  holdBack(held: boolean): void
  /**
   * From now on looks at what it uses, for one call of a session; `onOver` is called when that is more than its limits.
   */
  watch(limits: ResourceLimits, onOver: (over: OverLimit) => void): void
  /** Ends that; null where nothing could be seen. */
  unwatch(): Promise<Usage | null>
}

export interface Launcher {
  /** `native`: nothing escapes; `plain`: groups, the process tree and marks that are inherited. */
  readonly tier: 'native' | 'plain'
  readonly pid: number
  /** False once it has ended. */
  readonly alive: boolean
  /** True when it was killed from outside at some time: processes that it kept may have found another parent. */
  readonly lost: boolean
  pipe(): Promise<Pipe>
  /** A pipe without waiting, when one is at hand. */
  pipeNow(): Pipe | null
  start(spec: LaunchSpec): Promise<Ward>
  /** A pipe with a name in the file system, for shells that cannot see the launcher. */
  namedPipe(path: string): Promise<Pipe>
  /** Builds a room; rejects with SANDBOX_UNAVAILABLE where that cannot be done. */
  room(order: RoomOrder): Promise<Room>
  closeRoom(room: Room): void
  /** Passes connections to a port of the machine's loopback on to the same port inside. */
  publish(room: Room, port: number): Promise<void>
  /** Keeps the host's event loop alive until the returned function is called. */
  hold(): () => void
  /** Ends the launcher; every command that was not started detached ends with it. */
  close(): Promise<void>
}

/** One process that starts commands. What holds the event loop is the business of the one that replaces it. */
export type OneLauncher = Omit<Launcher, 'hold'>

/** The system error of a failed start as a ShellError: never mistaken for a command that failed. */
export function startError(errno: string, what: string, spec: LaunchSpec): ShellError {
  if (what === 'cwd')
    return new ShellError(
      'CWD_NOT_ACCESSIBLE',
      `Cannot enter the working directory ${spec.cwd} (${errno})`,
      'Check that it still exists and may be entered, or pass another cwd.',
    )
  if (what.startsWith('sandbox'))
    return new ShellError(
      'SANDBOX_UNAVAILABLE',
      'The command could not enter its sandbox, so it was not started ' +
        `(${what.replace(/^sandbox:? ?/, '') || 'walls'}: ${errno})`,
      'Try again; `cerith doctor` builds a sandbox and says what this machine lacks.',
      { cause: what === 'sandbox: room is gone' ? ROOM_GONE : what },
    )
  if (what === 'pty')
    return new ShellError(
      'PTY_UNAVAILABLE',
      `No terminal could be made (${errno})`,
      'Terminals need the native helper: install a C compiler and run `npm run build`, or use a package with a ' +
        'prebuilt helper; see `cerith doctor`. Everything else works without.',
    )
  if (what === 'exec')
    return new ShellError(
      'SPAWN_FAILED',
      `Could not execute ${spec.path} (${errno})`,
      HINTS[errno] ?? 'Check that bash is installed and executable.',
    )
  return new ShellError('SPAWN_FAILED', `Could not start the command: ${what} failed with ${errno}`, startHint(errno))
}

/**
 * The cause of a start that failed before anything was done, because the room had just ended:
 * the order can be given again for another.
 */
export const ROOM_GONE = 'room is gone'

/** The cause of a start that failed because its watcher was destroyed at once, e.g. by the command itself. */
export const LOST_AT_START = 'lost at start'

/** The same where it is known that nothing of the command has run: it can be started again. */
export const NOT_BEGUN = 'not begun'

export function lostAtStart(isBegun = true): ShellError {
  return new ShellError('SPAWN_FAILED', 'The command was lost while it was being started', 'Try again.', {
    cause: isBegun ? LOST_AT_START : NOT_BEGUN,
  })
}

/** Said with a result when the watcher of the command had to be continued before it could end it. */
export const STOPPED_NOTE =
  'The process that watches the command had been stopped (SIGSTOP); it was continued to end the command.'

/** What a kill on the lower tier cannot promise; said with the result. */
export const PLAIN_TIER_CAVEAT =
  'This machine runs cerith without its native helper: a daemon that dropped everything it inherited may have ' +
  'escaped the kill.'

/** What to do about a system error at a start. */
export function startHint(errno: string): string {
  return HINTS[errno] ?? 'This is a problem of the machine, not of the command; try again.'
}

const HINTS: Readonly<Record<string, string>> = {
  E2BIG: 'The environment is too large; pass fewer or smaller variables.',
  EAGAIN: 'The machine or user is out of processes; end some jobs (`cerith ps`) and try again.',
  EFBIG: 'Files may not grow that large here; raise `ulimit -f`.',
  EMFILE: 'Too many open files; end some jobs or sessions, or raise `ulimit -n`.',
  ENFILE: 'The machine is out of file handles; try again later.',
  ENOMEM: 'The machine is out of memory; end something and try again.',
  ENOSPC: 'The disk is full; free some space (`cerith clean`) and try again.',
}
