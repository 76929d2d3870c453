/** Every text that a model can read, made by real commands in every dialect: what it must say, and what it costs in tokens. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { encode } from 'gpt-tokenizer'
import { beforeAll, describe, expect, test } from 'vitest'
import { createTools, DIALECTS, type DialectName, type ToolOptions, type ToolResult } from '../../src/tools/index.js'
import { findHelper } from '../../src/os/helper/file.js'
import { liveEngine } from './live-engine.js'
import { COST, type CaseName } from './texts.table.js'

const { engine, cwd } = await liveEngine({ env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' } })
/** Asks before the network is used, and gets no answer. */
const careful = await liveEngine({ policy: { preset: 'careful' } })
const ajv = new Ajv2020({ strict: false })
const DIALECT_NAMES = Object.keys(DIALECTS) as DialectName[]

interface Case {
  readonly command: string
  /** What every dialect must say, in its own words. */
  readonly says: readonly RegExp[]
  readonly never?: readonly RegExp[]
  readonly options?: Partial<ToolOptions>
  /** Only of dialects that do not show output as it came. */
  readonly shaped?: boolean
  /** Dialects in which it does not happen. */
  readonly not?: readonly DialectName[]
}

const SHORT = { timeouts: { defaultMs: 2_000 } }

/** What may come of running a command. */
const RUNS: Record<Exclude<CaseName, JobCase>, Case> = {
  success: { command: 'echo hello', says: [/hello/] },
  silence: { command: 'true', says: [/./] },
  'both streams': { command: 'echo out; echo warning >&2', says: [/out/, /warning/] },
  'exit 2': { command: 'echo partial; echo boom >&2; (exit 2)', says: [/partial/, /boom/, /\b2\b/] },
  'the shell exits': { command: 'echo bye; exit 1', says: [/bye/], never: [/new shell/] },
  'set -e ends the shell': { command: 'set -e; echo on; false', says: [/on\b/] },
  'a signal': { command: `bash -c 'kill -SEGV $$'`, says: [/139|SIGSEGV/] },
  'a timeout': { command: 'echo one; sleep 30', says: [/timed out/i, /one/], options: SHORT },
  'a yield': {
    command: 'echo begun; sleep 30',
    says: [/begun/, /still running|running, NOT|running with session/i],
    options: { yieldMs: 2_000 },
  },
  'a refusal': { command: 'rm -rf /', says: [/blocked/, /dangerous/] },
  'a dry run': { command: 'touch never', says: [/\[Dry Run\] Would execute: touch never/], options: { dryRun: true } },
  'a moved directory': { command: 'cd /usr && pwd', says: [/\/usr/] },
  'grep finds nothing': { command: 'grep nothing /etc/hostname', says: [/no line matched/] },
  'no such program': { command: 'no-such-program-here', says: [/command not found/] },
  'not executable': { command: './plain.sh', says: [/Permission denied/, /chmod \+x/] },
  'an editor': { command: 'git rebase -i HEAD~1', says: [/problem with the editor/, /No editor opens here/] },
  'read without input': { command: 'read -r answer', says: [/stdin is empty/] },
  'vim without a terminal': {
    command: 'vim() { echo "Vim: Warning: Output is not to a terminal" >&2; return 1; }; vim x',
    says: [/not to a terminal/, /There is no terminal here: use/],
  },
  'vim that waits without a terminal': {
    command: 'vim() { echo "Vim: Warning: Output is not to a terminal" >&2; sleep 30; }; vim x',
    says: [/not to a terminal/, /There is no terminal here: use/],
    options: { yieldMs: 2_000 },
    // It says so when it is over.
    not: ['codex'],
  },
  'apt with its carriage returns': {
    command: String.raw`printf 'Reading package lists... 0%%\rReading package lists... Done\r\n'`,
    says: [/Reading package lists\.\.\. Done/],
    never: [/\r/, /0%/],
    shaped: true,
  },
  'a killed shell': { command: 'kill -9 $$', says: [/137|SIGKILL|signal: 9/], never: [/With it went/] },
  'a pipe that broke inside': { command: 'false | cat', says: [/./] },
  'a progress bar': {
    command: `for i in $(seq 400); do printf '\\rfetching %3d of 400 [%s]' $i ==========; done; echo; echo fetched`,
    says: [/400 of 400/, /fetched/],
    never: [/\r/],
    shaped: true,
  },
  binary: {
    command: 'head -c 200000 /bin/bash',
    says: [/binary output, 200 kB, ELF program/, /whole in |redirect/],
    never: [/\0/],
    shaped: true,
  },
  'a clipped failure': {
    command: `seq 1 20000; echo 'FAILED test/it.test.ts > adds'; echo 'AssertionError: expected 3'; echo '  at test/it.test.ts:12:5'; seq 1 20000; exit 1`,
    says: [/FAILED test\/it/, /it\.test\.ts:12:5/, /^[^]{0,300}clipped/],
    shaped: true,
  },
}

type JobCase =
  | 'a screen'
  | 'a screen that changed'
  | 'a question'
  | 'a server'
  | 'a wait that ran out'
  | 'an approval nobody gave'
  | 'a job starts'
  | 'a job is read'
  | 'a job is killed'
  | 'an unknown id'
  | 'a wrong field'

const RUN_TOOL: Record<DialectName, (command: string) => [tool: string, input: Record<string, unknown>]> = {
  house: (command) => ['Bash', { command }],
  lango: (command) => ['exec', { command }],
  phoenix: (command) => ['bash', { command }],
  forge: (command) => ['Bash', { command }],
  wave: (command) => ['Bash', { command }],
  anthropic: (command) => ['bash', { command }],
  codex: (cmd) => ['exec_command', { cmd }],
  gemini: (command) => ['run_shell_command', { command }],
  'openai-shell': (command) => ['shell', { commands: [command] }],
}

/** Dialects whose documents want the output as it came. */
const AS_IT_CAME = new Set<DialectName>(['lango', 'phoenix', 'forge', 'wave'])

interface JobTools {
  readonly start: [string, Record<string, unknown>]
  readonly id: string
  readonly read?: [string, string]
  readonly kill?: [string, string]
}
const JOB_TOOLS: Partial<Record<DialectName, JobTools>> = {
  house: { start: ['Bash', { command: 'echo ready; sleep 60', run_in_background: true }], id: 'id', read: ['BashOutput', 'shell_id'], kill: ['KillShell', 'shell_id'] },
  forge: { start: ['Bash', { command: 'echo ready; sleep 60', run_in_background: true }], id: 'bash_id', read: ['BashOutput', 'bash_id'], kill: ['KillShell', 'shell_id'] },
  wave: { start: ['Bash', { command: 'echo ready; sleep 60', run_in_background: true }], id: 'bash_id', read: ['BashOutput', 'bash_id'], kill: ['KillBash', 'shell_id'] },
  lango: { start: ['exec_bg', { command: 'echo ready; sleep 60' }], id: 'id', read: ['exec_status', 'id'], kill: ['exec_stop', 'id'] },
} // prettier-ignore

const costs: Record<string, Record<string, [text: number, structured: number]>> = {}

/** Times, ids, pids and places differ from run to run and would change the count. */
function settle(text: string): string {
  return text
    .replaceAll(/"duration_ms":\d+,?/g, '')
    .replaceAll(/\/\S*\/state\/\S+?(?=[\s\];,"\\]|$)/g, '/state/file')
    .replaceAll(cwd, '/work')
    .replaceAll(/shell_[0-9a-f]{8}/g, 'shell_0a1b2c3d')
    .replaceAll(/ask_[0-9a-f]+/g, 'ask_0a1b2c3d4e5f')
    .replaceAll(/127\.0\.0\.1:\d{4,5}/g, '127.0.0.1:5173')
    .replaceAll(/bg-\d+/g, 'bg-1000000000000000')
    .replaceAll(/\b(?:pid|PID|PGID|pgid|session ID|kill -9 -|kill -- -)(\W{1,4})?\d+/g, (whole) => whole.replace(/\d+$/, '4321'))
    .replaceAll(/\b\d+(?:\.\d)?m?s\b/g, '12ms')
    .replaceAll(/Duration: \d+ms|Wall time: [\d.]+ seconds/g, (whole) => whole.replace(/[\d.]+/, '12'))
    .replaceAll(/"(?:wall_time_seconds|pid|pgid|cursor|session_id|startTime)":("[^"]*"|[\d.]+)/g, (whole) => whole.replace(/:.*/, ':12'))
} // prettier-ignore

function check(dialect: DialectName, name: CaseName, tools: ReturnType<typeof createTools>, tool: string, result: ToolResult) {
  const validate = ajv.compile(tools.get(tool)!.outputSchema)
  expect(validate(result.structured), `${JSON.stringify(validate.errors)} in ${JSON.stringify(result.structured)}`).toBe(true)
  expect(result.text, 'a text is never empty').not.toBe('')
  const tokens: [number, number] = [encode(settle(result.text)).length, encode(settle(JSON.stringify(result.structured))).length]
  const known = ((costs[name] ??= {})[dialect] ??= [0, 0])
  for (const at of [0, 1] as const) known[at] = Math.max(known[at], tokens[at])
  const [text, structured] = COST[name]?.[dialect] ?? [0, 0]
  const said = `${dialect}, ${name}: ${tokens.join(' and ')} tokens\n${result.text}\n${JSON.stringify(result.structured)}`
  if (process.env['CERITH_WRITE_COST']) return
  // A few more or less come with other numbers in the same words.
  expect(tokens[0], said).toBeLessThanOrEqual(text + 3 + text * 0.02)
  expect(tokens[1], said).toBeLessThanOrEqual(structured + 3 + structured * 0.02)
} // prettier-ignore

beforeAll(async () => {
  writeFileSync(join(cwd, 'plain.sh'), 'echo never\n', { mode: 0o644 })
  const made = await engine.run({ command: 'git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m 1 && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m 2' })
  expect(made.status, made.stderr).toBe('completed')
}) // prettier-ignore

for (const dialect of DIALECT_NAMES) {
  describe(dialect, () => {
    for (const [name, { command, says, never = [], options = {}, shaped, not = [] }] of Object.entries(RUNS) as [
      CaseName,
      Case,
    ][]) {
      if ((shaped && AS_IT_CAME.has(dialect)) || not.includes(dialect)) continue
      test.concurrent(`what is read after ${name}`, async () => {
        const tools = createTools(engine, {
          dialect,
          session: `${dialect}-${name.replaceAll(/\W+/g, '-')}`,
          ...options,
        })
        const [tool, input] = RUN_TOOL[dialect](command)
        const waits =
          dialect === 'codex' ? { yield_time_ms: name === 'a timeout' || name === 'a yield' ? 2_000 : 10_000 } : {}
        const result = await tools.execute(tool, { ...input, ...waits })
        // Codex never ends a command by waiting.
        const wanted = dialect === 'codex' && name === 'a timeout' ? [/running with session ID/] : says
        for (const words of wanted) expect(result.text).toMatch(words)
        for (const words of never) expect(result.text).not.toMatch(words)
        // No raw control bytes reach a model, and no dialect names a field that it does not have.
        if (!AS_IT_CAME.has(dialect)) expect(result.text).not.toMatch(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/)
        const fields = Object.keys(tools.get(tool)!.inputSchema.properties)
        for (const field of ['pty', 'tty'].filter((one) => !fields.includes(one)))
          expect(result.text).not.toMatch(new RegExp(`\\buse ${field}\\b`))
        check(dialect, name, tools, tool, result)
      })
    }

    const jobs = JOB_TOOLS[dialect]
    if (jobs)
      test.concurrent('what is read of a job, from its start to its end (BG-01, BG-05, BG-11, BG-12)', async () => {
        const tools = createTools(engine, { dialect, session: `${dialect}-jobs` })
        const started = await tools.execute(...jobs.start)
        check(dialect, 'a job starts', tools, jobs.start[0], started)
        const id = started.structured[jobs.id] ?? (started.structured['metadata'] as Record<string, unknown>)?.[jobs.id]
        await (await engine.job(String(id))).wait({ until: 'ready' })
        const [read, field] = jobs.read!
        const reading = await tools.execute(read, { [field]: id })
        expect(reading.text).toMatch(/running[^]*ready/)
        check(dialect, 'a job is read', tools, read, reading)
        const [kill, killField] = jobs.kill!
        const killed = await tools.execute(kill, { [killField]: id })
        expect(killed.text).toMatch(/terminated|stopped|killed/)
        check(dialect, 'a job is killed', tools, kill, killed)
        const again = await tools.execute(kill, { [killField]: id })
        expect(again.text).toMatch(/already stopped|not running/)
        const unknown = await tools.execute(read, { [field]: 'shell_nonexistent' })
        expect(unknown.text).toContain('not found')
        expect(unknown.text).toContain(String(id))
        expect(unknown.isError).toBe(true)
      })

    test.concurrent('what is read when a person had to be asked', async () => {
      const tools = createTools(careful.engine, { dialect, session: `${dialect}-asks` })
      const [tool, input] = RUN_TOOL[dialect]('curl -s http://127.0.0.1:9/')
      const result = await tools.execute(tool, input)
      expect(result.text).toMatch(/needs approval[^]*cerith approve ask_/)
      check(dialect, 'an approval nobody gave', tools, tool, result)
    })

    test.concurrent('bad input keeps the shape of the result', async () => {
      const tools = createTools(engine, { dialect })
      for (const { name } of tools.list()) {
        const result = await tools.execute(name, { nonsense: 1 })
        expect(result.isError).toBe(true)
        expect(result.text).toContain("'nonsense'")
        check(dialect, 'a wrong field', tools, name, result)
        expect((await tools.execute(name, 'not json')).text).toContain('must be an object')
      }
    })
  })
}

interface Looking {
  start(command: string, pty: boolean): [string, object]
  read(id: string): [string, object]
  type(id: string, typed: string): [string, object]
  idOf(structured: Record<string, unknown>): string
}

/** Dialects that can look into a running command, and how. */
const LOOKS: Partial<Record<DialectName, Looking>> = {
  house: {
    start: (command, pty) => ['Bash', { command, pty, run_in_background: true }],
    read: (id) => ['BashOutput', { shell_id: id }],
    type: (id, typed) => ['SendInput', { shell_id: id, text: typed }],
    idOf: (structured) => String(structured['id']),
  },
  codex: {
    start: (cmd, tty) => ['exec_command', { cmd, tty, yield_time_ms: 300 }],
    read: (id) => ['write_stdin', { session_id: Number(id), yield_time_ms: 300 }],
    type: (id, typed) => ['write_stdin', { session_id: Number(id), chars: typed, yield_time_ms: 600 }],
    idOf: (structured) => String(structured['session_id']),
  },
}

for (const [name, dialect] of Object.entries(LOOKS))
  describe.skipIf(!findHelper())(`${name}, looking into a running command`, () => {
    const begin = async (session: string, command: string, pty: boolean) => {
      const tools = createTools(engine, { dialect: name as DialectName, session: `${name}-${session}` })
      const step = async (what: CaseName | null, [tool, input]: readonly [string, object]) => {
        const result = await tools.execute(tool, input)
        if (what) check(name as DialectName, what, tools, tool, result)
        return result
      }
      const id = dialect.idOf((await step(null, dialect.start(command, pty))).structured)
      return { id, step, job: await engine.job(id) }
    }

    test.concurrent('a screen is drawn, and after that only what changed', async () => {
      const draw = String.raw`stty raw -echo; head -c 1 > /dev/null; printf '\e[?1049h\e[H'; for i in $(seq 30); do printf 'row %d%80s\r\n' $i ' '; done; head -c 1 > /dev/null; printf '\e[2;1Hchanged'; sleep 60`
      const { id, step, job } = await begin('screen', draw, true)
      await job.send({ text: 'x' })
      await job.wait({ until: 'row 30', timeoutMs: 20_000 })
      const whole = await step('a screen', dialect.read(id))
      expect(whole.text).toMatch(/\[screen 120x40, cursor 31,1\]\nrow 1\nrow 2\n/)
      await job.send({ text: 'x' })
      await job.wait({ until: 'changed', timeoutMs: 20_000 })
      const changed = await step('a screen that changed', dialect.read(id))
      expect(changed.text).toMatch(/\[screen, changed rows only, cursor 2,8\]\n2\| changed\n/)
      await job.kill()
    })

    test.concurrent('a question is said, and said again by the next look', async () => {
      const { id, step, job } = await begin('question', `read -p 'Deploy? ' a; read -p 'Sure? ' b`, true)
      await job.wait({ input: true, timeoutMs: 20_000 })
      for (const _ of [1, 2]) {
        const asked = await step('a question', dialect.read(id))
        expect(asked.text).toContain('waiting for input: "Deploy?"')
        expect(asked.text).not.toMatch(/__cerith|norc/)
        expect(JSON.stringify(asked.structured)).toContain('Deploy?')
      }
      await step(null, dialect.type(id, 'y\n'))
      await job.wait({ until: 'Sure', timeoutMs: 20_000 })
      await job.wait({ input: true, timeoutMs: 20_000 })
      expect((await step('a question', dialect.read(id))).text).toContain('waiting for input: "Sure?"')
      await job.kill()
    })

    test.concurrent('a server that prints nothing is known by its port', async () => {
      const command = `exec ${process.execPath} -e "require('net').createServer().listen(0, '127.0.0.1')"`
      const { id, step, job } = await begin('server', command, false)
      let read = await step(null, dialect.read(id))
      for (let tries = 0; tries < 200 && !read.text.includes('listening'); tries++)
        read = await step(null, dialect.read(id))
      const listening = await step('a server', dialect.read(id))
      expect(listening.text).toMatch(/listening on 127\.0\.0\.1:\d+, nothing printed yet/)
      expect(JSON.stringify(listening.structured)).toMatch(/127\.0\.0\.1:\d+/)
      if (name === 'house') {
        const [tool] = dialect.read(id)
        const late = await step('a wait that ran out', [tool, { shell_id: id, until: 'never', wait_ms: 50 }])
        expect(late.text).toContain('waited 50ms: no line matched "never" yet')
      }
      await job.kill()
    })
  })

test('the table names every case', () => {
  if (process.env['CERITH_WRITE_COST']) writeFileSync(process.env['CERITH_WRITE_COST'], tableText())
  else expect(Object.keys(COST).toSorted()).toEqual(Object.keys(costs).toSorted())
})

/** `CERITH_WRITE_COST=test/tools/texts.table.ts npx vitest run test/tools/texts.test.ts` writes the table anew. */
function tableText(): string {
  const rows = Object.keys({ ...RUNS, ...costs }).map((name) => {
    const cells = DIALECT_NAMES.flatMap((dialect) => {
      const cost = costs[name]?.[dialect]
      return cost ? [`${JSON.stringify(dialect)}: [${cost.join(', ')}]`] : []
    })
    return `  ${JSON.stringify(name)}: { ${cells.join(', ')} },`
  })
  return [
    '/** Tokens of every text (first) and of its structured half (second), per case and dialect. Made by texts.test.ts: a text that grows fails there. */',
    "import type { DialectName } from '../../src/tools/index.js'",
    '',
    'export type CaseName = keyof typeof TABLE',
    '',
    'const TABLE = {',
    ...rows,
    '} as const // prettier-ignore',
    '',
    'export const COST: Readonly<Record<string, Partial<Record<DialectName, readonly [number, number]>>>> = TABLE',
    '',
  ].join('\n')
}
