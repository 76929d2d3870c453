/**
 * Talks to the keeper of a running job about its terminal and its input, from any process,
 * through the files of the job.
 */
import { appendFileSync, constants, readFileSync, unlinkSync } from 'node:fs'
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { attempt, parseRecord } from '../../contract/attempt.js'
import type { SendOptions } from '../../contract/job.js'
import { readRegular, whileOpen } from '../files/shared-file.js'
import { pause } from '../process/clock.js'
import { isAlive } from '../process/proc.js'
import { fieldsIn } from '../helper/frames.js'
import type { Mask } from '../helper/launcher.js'
import { maskField } from '../helper/start.js'
import { writeFifo } from './control.js'
import type { StartRecord } from './record.js'

/** What a person at the terminal would know. */
export interface TerminalFacts {
  readonly path: string
  readonly cols: number
  readonly rows: number
  /** The process group that reads from it. */
  readonly foreground: number
  /** Lines are edited by the kernel; without it the program gets every key. */
  readonly canonical: boolean
  readonly echo: boolean
  /** Typed bytes that the program could read at once (in canonical mode: of complete lines). */
  readonly unread: number
}

export interface KeeperAnswer {
  /** Bytes that the terminal has not taken yet. */
  readonly unsent: number
  readonly terminal: TerminalFacts | null
}

const ANSWER_LIMIT_MS = 2_000
const LISTEN_LIMIT_MS = 500

/**
 * Asks and waits for the answer; when it is there, every order given before has been obeyed.
 * Null when the keeper is gone.
 */
export async function askKeeper(dir: string, started: StartRecord): Promise<KeeperAnswer | null> {
  const number = randomInt(1, 2 ** 31 - 1)
  const file = join(dir, `look.${number}`)
  if (!(await order(dir, started, `look ${number}\n`))) return null
  for (let waited = 0, pauseMs = 1; waited < ANSWER_LIMIT_MS; waited += pauseMs, pauseMs = Math.min(pauseMs * 2, 16)) {
    try {
      const text = readFileSync(file, 'latin1')
      unlinkSync(file)
      return parseAnswer(text)
    } catch {
      // Not there yet.
    }
    if (!isAlive(started.warden, started.wardenStart)) return null
    await pause(pauseMs)
  }
  return null
}

/** From here on the keeper writes the names of these byte strings instead of them. */
export async function hideInKeeper(dir: string, started: StartRecord, needles: readonly Mask[]): Promise<boolean> {
  for (const needle of needles) if (!(await order(dir, started, `${maskField(needle).join(' ')}\n`))) return false
  return needles.length === 0 || (await askKeeper(dir, started)) !== null
}

export async function resizeInKeeper(
  dir: string,
  started: StartRecord,
  { cols, rows }: { cols: number; rows: number },
): Promise<boolean> {
  return order(dir, started, `size ${cols} ${rows}\n`)
}

/**
 * One line about what was typed, kept beside the output. Secrets stand in it as their tokens;
 * what a terminal does not echo is not in it.
 */
export interface InputNote extends SendOptions {
  readonly by: string
  /** Bytes typed by a person, or not shown because the terminal does not echo. */
  readonly bytes?: number
  readonly size?: readonly [number, number]
  /** How much output there was. */
  readonly offset: number
}

export function noteInput(dir: string, note: InputNote): void {
  // One write per line, appended: notes of several writers never mix. A planted link is not followed.
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW
  const line = `${JSON.stringify({ at: Date.now(), ...note })}\n`
  // A full disk costs the note, not the input.
  attempt(() => whileOpen(join(dir, 'input.jsonl'), flags, (fd) => appendFileSync(fd, line)))
}

/** All notes so far; torn lines are left out. */
export function readInputNotes(dir: string): (InputNote & { readonly at: number })[] {
  const text = readRegular(join(dir, 'input.jsonl'), Infinity, 'refuse')?.toString('utf8') ?? ''
  // The last line of a killed writer is no record, nor is the empty one.
  const notes = text.split('\n').flatMap((line) => parseRecord(line) ?? [])
  return (notes as unknown as (InputNote & { at: number })[]).filter(({ offset }) => typeof offset === 'number')
}

async function order(dir: string, started: StartRecord, line: string): Promise<boolean> {
  const bytes = Buffer.from(line)
  for (let at = 0, waited = 0; at < bytes.length;) {
    if (!isAlive(started.warden, started.wardenStart)) return false
    const took = writeFifo(join(dir, 'control'), bytes.subarray(at))
    // A keeper that has just begun may not listen yet.
    if (waited > (took === null ? LISTEN_LIMIT_MS : ANSWER_LIMIT_MS)) return false
    at += took ?? 0
    if (at >= bytes.length) break
    await pause(5)
    waited += 5
  }
  return true
}

function parseAnswer(text: string): KeeperAnswer {
  const fields = fieldsIn(text)
  const number = (key: string): number => Number(fields[key] ?? 0)
  const { path } = fields
  const terminal = path
    ? {
        path,
        cols: number('cols'),
        rows: number('rows'),
        foreground: number('foreground'),
        canonical: number('canonical') === 1,
        echo: number('echo') === 1,
        unread: number('unread'),
      }
    : null
  return { unsent: number('unsent'), terminal }
}
