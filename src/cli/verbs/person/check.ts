/** `cerith check`: what the guard says about a command, and why. Nothing is ever executed. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Engine } from '../../../contract/engine.js'
import { badRequest, messageOf } from '../../../contract/errors.js'
import type { Verdict } from '../../../contract/verdict.js'
import { EXIT, UsageError, type Io } from '../../io/io.js'
import { withEngine } from '../../verb/open-engine.js'
import { CWD_OPTION, JSON_OPTION, SET_OPTION } from '../../verb/option-rows.js'
import { hasColor, painter } from '../../io/paint.js'
import { SANDBOX_OPTIONS, settingsOf } from '../../verb/sandbox-flags.js'
import { policyLines } from './sandbox-policy.js'
import { defineVerb, type OptionRow, type OptionsOf } from '../../verb/verb.js'

const OPTIONS = [
  JSON_OPTION,
  {
    flags: '--jsonl',
    about: 'read {"cmd", "cwd", "home", "session"} lines from stdin, answer one JSON line each as it comes',
  },
  CWD_OPTION,
  { flags: '--session <NAME>', about: 'as that session would see it (its directory, variables, aliases)' },
  ...SANDBOX_OPTIONS,
  { flags: '--exit-code', about: 'exit 126 when denied, 1 when a person would be asked' },
  SET_OPTION,
] as const satisfies readonly OptionRow[]

type CheckOptions = OptionsOf<typeof OPTIONS>

export const verb = defineVerb({
  usage: 'COMMAND...',
  words: [0, Infinity],
  passThrough: true,
  options: OPTIONS,
  examples: [
    ['cerith check \'sudo env X=1 bash -c "rm -rf $HOME/"\'', 'a tree of what it sees, and the word that decides'],
    ['cerith check --jsonl < commands.jsonl', 'many at once'],
  ],
  details: 'Nothing is executed. The exit code is 0 whatever the answer, unless --exit-code.',
  run: async ({ words, options }, io) => check(words, options, io),
})

async function check(words: readonly string[], options: CheckOptions, io: Io): Promise<number> {
  // In a session the directory is relative to the session's; elsewhere to ours.
  const runsIn =
    options.session !== undefined && options.cwd !== undefined ? undefined : resolve(io.cwd, options.cwd ?? '.')
  const flags = settingsOf(options, io.cwd)
  if (options.jsonl)
    return withEngine(io, { flags, session: options.session, runsIn }, (engine) => checkLines(engine, options, io))
  if (words.length === 0) throw new UsageError('check needs COMMAND', "For example: cerith check 'rm -rf build'")
  const command = words.length === 1 ? (words[0] as string) : words
  return withEngine(io, { flags, session: options.session, runsIn }, async (engine) => {
    const verdict = await engine.check(command, whereOf(options))
    const sandbox = await engine.sandboxPolicy()
    if (options.json) {
      const json = verdictToJson(typeof command === 'string' ? command : command.join(' '), verdict)
      io.out.write(`${JSON.stringify(sandbox ? { ...json, sandbox } : json)}\n`)
    } else {
      const { explain } = await import('../../../guard/policy/explain.js')
      io.out.write(explain(verdict, { color: hasColor(io.out, io.env) }))
      if (sandbox) io.out.write(policyLines(sandbox, painter(io.out, io.env)))
    }
    return options.exitCode ? { allow: EXIT.ok, ask: 1, deny: EXIT.refused }[verdict.decision] : EXIT.ok
  })
}

/**
 * One answer per line, in order; a line that cannot be read gets an error as its answer, so
 * that the two files stay aligned.
 */
async function checkLines(engine: Engine, options: CheckOptions, io: Io): Promise<number> {
  for await (const line of io.stdinLines()) {
    if (line.trim() === '') continue
    io.out.write(`${JSON.stringify(await answerTo(line, engine, options, io))}\n`)
  }
  return EXIT.ok
}

async function answerTo(line: string, engine: Engine, options: CheckOptions, io: Io): Promise<Record<string, unknown>> {
  let cmd: unknown
  try {
    const row = JSON.parse(line) as { cmd?: unknown; id?: unknown } & Record<string, unknown>
    cmd = row?.cmd
    if (typeof cmd !== 'string') throw badRequest('A line must be {"cmd": "..."}', 'One JSON object per line.')
    const verdict = await engine.check(cmd, { ...whereOf(options), ...placeOf(row, options, io) })
    return { ...(row.id === undefined ? {} : { id: row.id }), ...verdictToJson(cmd, verdict) }
  } catch (error) {
    // What cannot be judged is not allowed.
    return {
      cmd: cmd ?? line,
      decision: 'deny',
      rule: 'unreadable',
      reason: messageOf(error),
      guidance: 'Write one JSON object per line: {"cmd": "..."}.',
      commands: [],
    }
  }
}

/**
 * Where a line asks about. A directory that does not exist here can be asked about all the same: nothing runs in it.
 */
function placeOf(
  row: Record<string, unknown>,
  options: CheckOptions,
  io: Io,
): { cwd?: string; home?: string; session?: string } {
  const text = (key: string): string | undefined => {
    const value = row[key]
    if (value !== undefined && typeof value !== 'string')
      throw badRequest(`${key} must be a string`, 'One JSON object per line: {"cmd", "cwd", "home", "session"}.')
    return value
  }
  const [cwd, session] = [text('cwd'), text('session') ?? options.session]
  const missing = cwd !== undefined && session === undefined && !existsSync(resolve(io.cwd, cwd))
  const home = text('home') ?? (missing ? io.env['HOME'] : undefined)
  return { cwd: cwd === undefined || session !== undefined ? cwd : resolve(io.cwd, cwd), home, session }
}

function whereOf({ cwd, session }: CheckOptions): { cwd?: string; session?: string } {
  return session === undefined ? {} : { session, cwd }
}

function verdictToJson(
  cmd: string,
  { decision, rule, reason, guidance, commands, words, heldBy }: Verdict,
): Record<string, unknown> {
  return { cmd, decision, rule, reason, guidance, commands, words, ...(heldBy ? { held_by: heldBy } : {}) }
}
