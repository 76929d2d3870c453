/** `cerith sessions`: the named sessions that are kept between calls: listed, copied, renamed, closed. */
import type { Engine } from '../../../contract/engine.js'
import { badRequest } from '../../../contract/errors.js'
import {
  readSavedSession,
  removeSavedSession,
  renameSavedSession,
  savedSessions,
  saveSession,
} from '../../../os/files/session-states.js'
import { stateDirectory } from '../../../os/files/state-dir.js'
import { EXIT, UsageError, type Io } from '../../io/io.js'
import { lockSession, placeOf, withEngine } from '../../verb/open-engine.js'
import { JSON_OPTION } from '../../verb/option-rows.js'
import { age, size, table } from '../../io/table.js'
import { defineVerb } from '../../verb/verb.js'

/** What a deed needs after the session's name, and what is said when it is done. */
const DEEDS: Readonly<Record<string, { readonly words: number; readonly done: (name: string, to: string) => string }>> =
  {
    fork: { words: 3, done: (name, to) => `Copied ${name} to ${to}.` },
    rename: { words: 3, done: (name, to) => `Renamed ${name} to ${to}.` },
    close: { words: 2, done: (name) => `Closed ${name}: its state is forgotten.` },
  }

export const verb = defineVerb({
  usage: '[fork NAME NEW | rename NAME NEW | close NAME]',
  words: [0, 3],
  options: [JSON_OPTION],
  examples: [
    ['cerith sessions', 'which there are'],
    ['cerith sessions fork work try-it', 'a copy of the directory, variables and functions'],
    ['cerith sessions close work', 'forget its state'],
  ],
  details: 'A session is made by `cerith run --session NAME`. Live sessions of agents are in `cerith ps`.',
  async run({ words, options }, io) {
    const stateDir = stateDirectory(io.env)
    const [deed, name = '', to = ''] = words
    const json = options.json === true
    const isElsewhere = placeOf(io, undefined) !== null
    if (deed === undefined)
      return isElsewhere ? withEngine(io, {}, (engine) => listThere(engine, json, io)) : list(stateDir, json, io)
    const known = DEEDS[deed]
    if (!known || words.length !== known.words)
      throw new UsageError(
        `not a way to use sessions: ${words.join(' ')}`,
        'Use fork NAME NEW, rename NAME NEW or close NAME.',
      )
    if (isElsewhere) await withEngine(io, {}, (engine) => actThere(deed, name, to, engine))
    else await act(deed, name, to, stateDir, io)
    io.out.write(json ? `${JSON.stringify({ [deed]: name, ...(to ? { to } : {}) })}\n` : `${known.done(name, to)}\n`)
    return EXIT.ok
  },
})

function list(stateDir: string, json: boolean, io: Io): number {
  const all = savedSessions(stateDir)
  if (json) {
    const sessions = all.map(({ name, savedAt, bytes }) => ({ name, saved_at: new Date(savedAt).toISOString(), bytes }))
    io.out.write(`${JSON.stringify({ sessions })}\n`)
  } else if (all.length === 0) io.out.write('No sessions are kept. `cerith run --session NAME COMMAND` makes one.\n')
  else {
    const rows = all.map(({ name, savedAt, bytes }) => [name, `${age(Date.now() - savedAt)} ago`, size(bytes)])
    io.out.write(`${table(['NAME', 'USED', 'STATE'], rows, io.out.columns).join('\n')}\n`)
  }
  return EXIT.ok
}

/** A session elsewhere is a live shell of the engine there. */
async function listThere(engine: Engine, json: boolean, io: Io): Promise<number> {
  const all = await engine.sessions()
  if (json) {
    const sessions = all.map(({ name, cwd, busy, calls, startedAt }) => ({
      name,
      cwd,
      busy,
      calls,
      started_at: new Date(startedAt).toISOString(),
    }))
    io.out.write(`${JSON.stringify({ sessions })}\n`)
  } else if (all.length === 0) io.out.write('No sessions live there. `cerith run --session NAME COMMAND` makes one.\n')
  else {
    const rows = all.map(({ name, cwd, busy, calls }) => [name, busy ? 'busy' : 'idle', String(calls), cwd])
    io.out.write(`${table(['NAME', 'STATE', 'COMMANDS', 'DIRECTORY'], rows, io.out.columns).join('\n')}\n`)
  }
  return EXIT.ok
}

async function actThere(deed: string, name: string, to: string, engine: Engine): Promise<void> {
  const names = (await engine.sessions()).map((each) => each.name)
  checkNames(name, to, names)
  if (deed === 'rename')
    throw badRequest(
      'A session elsewhere cannot be renamed',
      'Copy it and close the first one: fork NAME NEW, then close NAME.',
    )
  const session = await engine.session(name)
  await (deed === 'fork' ? session.fork(to) : session.close())
}

/** The first must be there; the second, where there is one, must not. */
function checkNames(name: string, to: string, names: readonly string[]): void {
  if (!names.includes(name))
    throw badRequest(
      `There is no session ${name}`,
      names.length > 0 ? `There are ${names.slice(0, 20).join(', ')}.` : 'None is kept.',
    )
  if (to !== '' && names.includes(to))
    throw badRequest(`There is a session ${to} already`, 'Close it first, or choose another name.')
}

/** A call that uses the session right now is waited for. */
async function act(deed: string, name: string, to: string, stateDir: string, io: Io): Promise<void> {
  for (const each of to === '' ? [name] : [name, to])
    if (!/^[\w@:-][\w.@:-]{0,63}$/.test(each))
      throw badRequest(
        `Not a session name: ${JSON.stringify(each.slice(0, 80))}`,
        'Use up to 64 letters, digits, dots, dashes and underscores, the first of them no dot.',
      )
  const release = await lockSession(name, io)
  try {
    checkNames(
      name,
      to,
      savedSessions(stateDir).map((each) => each.name),
    )
    if (deed === 'close') removeSavedSession(stateDir, name)
    else if (deed === 'rename') renameSavedSession(stateDir, name, to)
    else saveSession(stateDir, to, readSavedSession(stateDir, name) ?? '', String(process.pid))
  } finally {
    release()
  }
}
