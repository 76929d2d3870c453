// What a scripted model asks for, and what must reach it each time, whichever channel its host chooses to show.
// `facts` are looked for in everything that the host gave the model as the result of that call.
// A host that is to be killed must find its command still in the foreground.
export const YIELD_MS = process.env.PLAY_KILL ? 60_000 : 1_500

const { PLAY_KILL: sleeping } = process.env

export const SCENES = [
  ...(sleeping ? [{ what: 'kill', args: { command: `setsid sleep ${sleeping} & sleep ${sleeping}` }, facts: [] }] : []),
  {
    what: 'success',
    args: { command: 'echo good-$((40 + 2)); echo aside >&2' },
    facts: [/good-42/, /aside/, /exit[ _a-z":\\]*0/],
  },
  { what: 'failure', args: { command: 'echo half-way; (exit 7)' }, facts: [/half-way/, /exit[ _a-z":\\]*7/] },
  { what: 'refusal', args: { command: 'rm -rf /' }, facts: [/blocked|refused/i, /dangerous|security/i] },
  {
    what: 'timeout',
    args: { command: 'echo until-then; sleep 20', timeout: 400 },
    facts: [/until-then/, /timed out|timeout/],
  },
  {
    what: 'yield',
    args: { command: 'echo begun-it; sleep 8', session: 'slow' },
    facts: [/begun-it/, /NOT killed/, /shell_[0-9a-f]{8}/, /BashOutput/],
  },
]
