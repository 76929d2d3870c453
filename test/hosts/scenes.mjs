// What a scripted model asks for, and what must reach it each time, whichever channel its host chooses to show.
// `facts` are looked for in everything that the host gave the model as the result of that call.
// A host that is to be killed must find its command still in the foreground.
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const YIELD_MS = process.env.PLAY_KILL ? 60_000 : 4_000

const { PLAY_KILL: sleeping, PLAY_LONG: long } = process.env

/** The player kills the server when this file is there. */
export const MARK = join(tmpdir(), `cerith-play-mark-${process.pid}`)

/**
 * What takes a minute: a command longer than hosts wait, with the server as it is by default, and a server that is
 * killed under a call.
 */
const LONG = [
  {
    what: '50 s',
    args: { command: 'echo begun-it; sleep 50; echo over' },
    facts: [/begun-it/, /NOT killed/, /shell_[0-9a-f]{8}/, /BashOutput/],
  },
  {
    what: 'killed server',
    args: { command: `X=lost; touch ${MARK}; sleep 30`, session: 'doomed' },
    facts: [/./],
  },
  { what: 'after that', args: { command: 'echo "[$X] here"', session: 'doomed' }, facts: [/./] },
]

const USUAL = [
  ...(sleeping ? [{ what: 'kill', args: { command: `setsid sleep ${sleeping} & sleep ${sleeping}` }, facts: [] }] : []),
  {
    what: 'success',
    args: { command: 'echo good-$((40 + 2)); echo aside >&2' },
    facts: [/good-42/, /aside/, /exit[ _a-z":\\]*0/],
  },
  { what: 'exit 3', args: { command: 'echo half-way; (exit 3)' }, facts: [/half-way/, /exit[ _a-z":\\]*3/] },
  { what: 'refusal', args: { command: 'rm -rf /' }, facts: [/blocked|refused/i, /dangerous|security/i] },
  {
    what: 'timeout',
    args: { command: 'echo until-then; sleep 20', timeout: 400 },
    facts: [/until-then/, /timed out|timeout/, /run_in_background/],
  },
  {
    what: 'yield',
    args: { command: 'echo begun-it; sleep 8', session: 'slow' },
    facts: [/begun-it/, /NOT killed/, /shell_[0-9a-f]{8}/, /BashOutput/],
  },
  {
    what: 'background',
    args: { command: 'echo up; sleep 30', run_in_background: true, session: 'servers' },
    facts: [/shell_[0-9a-f]{8}/, /running/],
  },
  {
    what: '23 MB, ok',
    args: { command: 'seq 1 3000000', session: 'big' },
    facts: [/2999999/, /\/outputs\/[\w-]+\.log/],
  },
  {
    what: '23 MB, failed',
    args: {
      command: 'seq 1 2980000; echo "FAILED here.test.ts"; echo "  at here.test.ts:7:3"; seq 1 20000; (exit 1)',
      session: 'big',
    },
    facts: [/FAILED here\.test\.ts/, /here\.test\.ts:7:3/, /\/outputs\/[\w-]+\.log/, /clipped|truncated/],
  },
  {
    what: 'approval',
    args: { command: 'curl -s http://127.0.0.1:9/', session: 'asks' },
    facts: [/cerith approve ask_[0-9a-f]+/, /network/],
  },
]

export const SCENES = long ? LONG : USUAL
