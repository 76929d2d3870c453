/**
 * The one line that a fresh shell begins with: it takes the command from a descriptor or a
 * file, or ends with a status that the engine reports as its own error.
 */
import { ShellError } from '../../contract/errors.js'
import type { DeliveredCommand } from './delivery.js'
import { quoteWord } from '../../contract/quote.js'

/** The descriptor on which a fresh shell finds its script; closed before the first word of it runs. */
export const SCRIPT_FD = 3
/** Larger scripts go through a file: bash reads a pipe one byte at a time. */
const MAX_PIPED_BYTES = 4_096
const FAILED = 125

export interface Bootstrap {
  /** For `bash -c`. It holds nothing of the command: any user of the machine can read it in the list of processes. */
  readonly line: string
  /** What the descriptor gets: the script, unless it is in the file, then the values of secrets. */
  readonly fed: Uint8Array
  /** What is to be written to the file before the shell starts; null when the descriptor has it all. */
  readonly file: { readonly path: string; readonly bytes: Uint8Array } | null
}

/**
 * `engine` marks the failure of this line as an error of the engine. `newFile` names a file for a long script;
 * null where it must not lie on a disk.
 */
export function bootstrapFor(
  script: string | Uint8Array,
  { payload }: DeliveredCommand,
  engine: string,
  newFile: (() => string) | null,
): Bootstrap {
  const values = payload ?? new Uint8Array(0)
  // The NUL tells a script that arrived from one that was cut off: `read` succeeds only when it has seen it.
  const whole = Buffer.concat([Buffer.from(script as string), Buffer.alloc(1)])
  if (newFile && whole.length > MAX_PIPED_BYTES) {
    const path = newFile()
    return { line: lineFor(`-d '' __cerith_c <${quoteWord(path)}`, engine), fed: values, file: { path, bytes: whole } }
  }
  // With a count of characters bash takes a pipe in blocks; up to a NUL it takes it byte by byte.
  const counted = newFile === null || /^[\x01-\x7f]*$/.test(script as string)
  return {
    // Of characters, unless the locale has none but bytes.
    line: lineFor(`${counted ? `-N ${script.length}` : `-d ''`} -u ${SCRIPT_FD} __cerith_c`, engine, newFile === null),
    fed: Buffer.concat([counted ? whole.subarray(0, -1) : whole, values]),
    file: null,
  }
}

function lineFor(read: string, engine: string, inBytes = false): string {
  return (
    `${inBytes ? 'LC_ALL=C ' : ''}IFS= \\builtin read -r ${read} || ${failure(engine)}; \\builtin eval ` +
    '"$__cerith_c"'
  )
}

/**
 * The first line of the script: the descriptor is closed before the command's first word, and
 * line numbers stay those of the command.
 */
export function scriptHead(delivered: DeliveredCommand, engine: string): string {
  return delivered.payload
    ? `\\builtin unset -v __cerith_c\n${delivered.prelude(String(SCRIPT_FD))} || ${failure(engine)}\n`
    : `\\exec ${SCRIPT_FD}<&-; \\builtin unset -v __cerith_c;`
}

function failure(engine: string): string {
  return `{ \\builtin printf '%s\\n' ${quoteWord(sentence(engine))} >&2; \\builtin exit ${FAILED}; }`
}

/** Whether a shell ended because it never got its command: that is no result of the command. */
export function commandNeverArrived(code: number | null, stderr: () => string, engine: string): boolean {
  return code === FAILED && stderr().endsWith(`${sentence(engine)}\n`)
}

export function neverArrivedError(stderr: string): ShellError {
  const said = stderr.split('\n').slice(0, -2).join('; ')
  return new ShellError(
    'SPAWN_FAILED',
    `The shell did not get its command, and nothing of it ran${said ? `: ${said}` : ''}`,
    'Check that the disk is not full and that bash is 4.4 or newer (`cerith doctor`), then try again.',
  )
}

function sentence(engine: string): string {
  return `cerith: the shell did not get its command (${engine})`
}
