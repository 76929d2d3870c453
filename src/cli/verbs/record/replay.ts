/** `cerith replay`: plays a recording of a terminal (asciicast) in this one. */
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { badRequest } from '../../../contract/errors.js'
import { recordingsOf } from '../../../os/job/recordings.js'
import { stateDirectory } from '../../../os/files/state-dir.js'
import { parseCast, type CastEvent } from '../../../output/terminal/asciicast.js'
import { withoutActions } from '../../../output/terminal/harmless.js'
import { EXIT, UsageError, type Io } from '../../io/io.js'
import { listenForStop } from '../../io/stop.js'
import { readDuration } from '../../verb/option-rows.js'
import { defineVerb } from '../../verb/verb.js'

/** Leaves no trace of a full-screen program. */
const RESTORE = '\u001B[?1049l\u001B[?25h\u001B[0m\u001B[r'

export const verb = defineVerb({
  usage: 'FILE|SESSION',
  words: [1, 1],
  options: [
    { flags: '--speed <N>', about: 'N times as fast (default: 1)', read: readSpeed },
    { flags: '--idle <TIME>', about: 'no pause longer than this (default: 2s)', read: readDuration },
    { flags: '--at <TIME>', about: 'begin at this time of the recording', read: readDuration },
  ],
  examples: [
    ["cerith run --pty --record demo.cast 'npm test'", 'makes a recording'],
    ['cerith replay demo.cast --speed 4', 'four times as fast; Ctrl-C ends'],
    ['cerith replay main', 'the last session of that name (with the setting record.sessions)'],
  ],
  details: 'Sequences that would act on your terminal (clipboard, title, questions) are left out.',
  async run({ words, options: { speed = 1, idle = 2_000, at = 0 } }, io) {
    const events = eventsOf(words[0] as string, io)
    const stop = listenForStop(io)
    let before = at
    for (const { atMs, text } of events) {
      // What was before the beginning is drawn at once, so that the screen is right.
      const pause = Math.min(Math.max(0, atMs - before), idle) / speed
      if (pause > 1) await stop.pause(pause)
      if (stop.signal.aborted) break
      before = Math.max(before, atMs)
      io.out.write(withoutActions(text))
    }
    stop.unlisten()
    io.out.write(io.out.isTTY ? `${RESTORE}\n` : '\n')
    return EXIT.ok
  },
})

function readSpeed(text: string): number {
  const speed = Number(text)
  if (!(speed > 0) || speed > 1_000)
    throw new UsageError(`${JSON.stringify(text)} is not a speed`, 'Write a number, e.g. 0.5 or 4.')
  return speed
}

/**
 * Of a file, or of the latest session of that name that was recorded. Output only: what was typed is not shown again.
 */
function eventsOf(name: string, io: Io): readonly CastEvent[] {
  const [latest] = recordingsOf(stateDirectory(io.env), { session: name })
  let text: string
  try {
    text = readFileSync(existsSync(resolve(io.cwd, name)) || !latest ? resolve(io.cwd, name) : latest, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw badRequest(
      `Cannot read ${name} (${code})`,
      'Give the path of a recording, or the name of a session that was recorded (setting record.sessions).',
      { cause: error },
    )
  }
  const cast = parseCast(text)
  if (!cast)
    throw badRequest(`${name} is no recording (asciicast version 2)`, 'Make one with `cerith run --pty --record FILE`.')
  return cast.events.filter(({ kind }) => kind === 'o')
}
