/**
 * Every text that a model can read, made by real commands in every dialect, compared to the letter with
 * texts.table.txt, which also says what each costs in tokens. `CERITH_WRITE_TEXTS=1 npx vitest run
 * test/tools/texts.test.ts` writes the table anew: read its difference.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { encode } from 'gpt-tokenizer'
import { beforeAll, describe, expect, test } from 'vitest'
import { createTools, DIALECTS, type DialectName, type ToolOptions, type ToolResult } from '../../src/tools/index.js'
import { findHelper } from '../../src/os/helper/file.js'
import { liveEngine } from './live-engine.js'
import { makeTable, readTable, type Entry } from './texts-table.js'

const { engine, cwd } = await liveEngine({ env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' } })
/** Asks before the network is used, and gets no answer. */
const careful = await liveEngine({ policy: { preset: 'careful' } })
const ajv = new Ajv2020({ strict: false })
const DIALECT_NAMES = Object.keys(DIALECTS) as DialectName[]

interface Case {
  readonly command: string
  readonly options?: Partial<ToolOptions>
  /** Only of dialects that do not show output as it came. */
  readonly shaped?: boolean
  /** Dialects in which it does not happen. */
  readonly not?: readonly DialectName[]
}

const SHORT = { timeouts: { defaultMs: 2_000 } }

/** What may come of running a command. */
const RUNS: Record<string, Case> = {
  success: { command: 'echo hello' },
  silence: { command: 'true' },
  'both streams': { command: 'echo out; echo warning >&2' },
  'exit 2': { command: 'echo partial; echo boom >&2; (exit 2)' },
  'the shell exits': { command: 'echo bye; exit 1' },
  'set -e ends the shell': { command: 'set -e; echo on; false' },
  'a signal': { command: `bash -c 'kill -SEGV $$'` },
  'a timeout': { command: 'echo one; sleep 30', options: SHORT },
  'a yield': { command: 'echo begun; sleep 30', options: { yieldMs: 2_000 } },
  'a refusal': { command: 'rm -rf /' },
  'a dry run': { command: 'touch never', options: { dryRun: true } },
  'a moved directory': { command: 'cd /usr && pwd' },
  'grep finds nothing': { command: 'grep nothing /etc/hostname' },
  'no such program': { command: 'no-such-program-here' },
  'not executable': { command: './plain.sh' },
  'an editor': { command: 'git rebase -i HEAD~1' },
  'read without input': { command: 'read -r answer' },
  'vim without a terminal': {
    command: 'vim() { echo "Vim: Warning: Output is not to a terminal" >&2; return 1; }; vim x',
  },
  'vim that waits without a terminal': {
    command: 'vim() { echo "Vim: Warning: Output is not to a terminal" >&2; sleep 30; }; vim x',
    options: { yieldMs: 2_000 },
    // It says so when it is over.
    not: ['codex'],
  },
  'apt with its carriage returns': {
    command: String.raw`printf 'Reading package lists... 0%%\rReading package lists... Done\r\n'`,
    shaped: true,
  },
  'a killed shell': { command: 'kill -9 $$' },
  'a pipe that broke inside': { command: 'false | cat' },
  'a progress bar': {
    command: `for i in $(seq 400); do printf '\\rfetching %3d of 400 [%s]' $i ==========; done; echo; echo fetched`,
    shaped: true,
  },
  binary: { command: 'cat program', shaped: true },
  'a clipped failure': {
    command: `seq 1 20000; echo 'FAILED test/it.test.ts > adds'; echo 'AssertionError: expected 3'; echo '  at test/it.test.ts:12:5'; seq 1 20000; exit 1`,
    shaped: true,
  },
}

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

const TABLE_FILE = join(import.meta.dirname, 'texts.table.txt')
const writing = Boolean(process.env['CERITH_WRITE_TEXTS'])
const expected = writing ? new Map<string, Entry>() : readTable(readFileSync(TABLE_FILE, 'utf8'))
const seen = new Map<string, Entry>()

/** Times, ids, pids and places differ from run to run. */
function settle(text: string): string {
  return text
    .replaceAll(/"duration_ms":\d+,?/g, '')
    .replaceAll(/\/\S*\/state\/\S+?(?=[\s\]);,"\\]|$)/g, '/state/file')
    .replaceAll(cwd, '/work')
    .replaceAll(/shell_[0-9a-f]{8}/g, 'shell_0a1b2c3d')
    .replaceAll(/bash_\d+/g, 'bash_1')
    .replaceAll(/ask_[0-9a-f]+/g, 'ask_0a1b2c3d4e5f')
    .replaceAll(/Existing ids: .*?\)\./g, 'Existing ids: shell_0a1b2c3d (running).')
    .replaceAll(/127\.0\.0\.1:\d{4,5}/g, '127.0.0.1:5173')
    .replaceAll(/bg-\d+/g, 'bg-1000000000000000')
    .replaceAll(/ +\d+ Segmentation fault/g, ' 4321 Segmentation fault')
    .replaceAll(/\b(?:pid|PID|PGID|pgid|session ID|kill -9 -|kill -- -)(\W{1,4})?\d+/g, (whole) => whole.replace(/\d+$/, '4321'))
    .replaceAll(/(?<!timed out after |waited )\b\d+(?:\.\d)?m?s\b/g, '12ms')
    .replaceAll(/Duration: \d+ms|Wall time: [\d.]+ seconds/g, (whole) => whole.replace(/[\d.]+/, '12'))
    .replaceAll(/"(?:wall_time_seconds|pid|pgid|cursor|session_id|startTime)":("[^"]*"|[\d.]+)/g, (whole) => whole.replace(/:.*/, ':12'))
} // prettier-ignore

/** A long count stands in the table as its first and its last number. */
const withoutCounts = (text: string): string => text.replaceAll(/^(\d+)\n(?:\d+\n){20,}(\d+)$/gm, '$1\n(and so on)\n$2')

function check(dialect: DialectName, name: string, tools: ReturnType<typeof createTools>, tool: string, result: ToolResult) {
  const validate = ajv.compile(tools.get(tool)!.outputSchema)
  expect(validate(result.structured), `${JSON.stringify(validate.errors)} in ${JSON.stringify(result.structured)}`).toBe(true)
  const [text, structured] = [settle(result.text), settle(JSON.stringify(result.structured))]
  const tokens = [encode(text).length, encode(structured).length]
  const entry: Entry = { name, dialect, text: withoutCounts(text), tokens }
  seen.set(`${name} ${dialect}`, entry)
  if (writing) return
  const known = expected.get(`${name} ${dialect}`)
  expect(entry.text).toBe(known?.text)
  // The structured half has a few tokens more or less with other numbers in the same words.
  expect(entry.tokens[1], JSON.stringify(result.structured)).toBeLessThanOrEqual(known!.tokens[1]! * 1.02 + 3)
} // prettier-ignore

beforeAll(async () => {
  writeFileSync(join(cwd, 'plain.sh'), 'echo never\n', { mode: 0o644 })
  writeFileSync(join(cwd, 'program'), Buffer.concat([Buffer.from('\x7fELF'), Buffer.alloc(199_996, '\x02\0\xfe>')]))
  const made = await engine.run({ command: 'git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m 1 && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m 2' })
  expect(made.status, made.stderr).toBe('completed')
}) // prettier-ignore

for (const dialect of DIALECT_NAMES) {
  describe(dialect, () => {
    for (const [name, { command, options = {}, shaped, not = [] }] of Object.entries(RUNS)) {
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
        check(dialect, 'a job is read', tools, read, reading)
        const [kill, killField] = jobs.kill!
        const killed = await tools.execute(kill, { [killField]: id })
        check(dialect, 'a job is killed', tools, kill, killed)
        const again = await tools.execute(kill, { [killField]: id })
        check(dialect, 'a job is killed again', tools, kill, again)
        const unknown = await tools.execute(read, { [field]: 'shell_nonexistent' })
        check(dialect, 'an unknown id', tools, read, unknown)
        expect(unknown).toMatchObject({ isError: true, text: expect.stringContaining(String(id)) })
      })

    test.concurrent('what is read when a person had to be asked', async () => {
      const tools = createTools(careful.engine, { dialect, session: `${dialect}-asks` })
      const [tool, input] = RUN_TOOL[dialect]('curl -s http://127.0.0.1:9/')
      const result = await tools.execute(tool, input)
      check(dialect, 'an approval nobody gave', tools, tool, result)
    })

    test.concurrent('bad input keeps the shape of the result', async () => {
      const tools = createTools(engine, { dialect })
      for (const { name } of tools.list()) {
        const result = await tools.execute(name, { nonsense: 1 })
        expect(result.isError).toBe(true)
        check(dialect, `a wrong field of ${name}`, tools, name, result)
        check(dialect, `no object for ${name}`, tools, name, await tools.execute(name, 'not json'))
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
      const step = async (what: string | null, [tool, input]: readonly [string, object]) => {
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
      await job.wait({ input: true, timeoutMs: 20_000 })
      await step('a screen', dialect.read(id))
      await job.send({ text: 'x' })
      await job.wait({ until: 'changed', timeoutMs: 20_000 })
      await step('a screen that changed', dialect.read(id))
      await job.kill()
    })

    test.concurrent('a question is said, and said again by the next look', async () => {
      const { id, step, job } = await begin('question', `read -p 'Deploy? ' a; read -p 'Sure? ' b`, true)
      await job.wait({ input: true, timeoutMs: 20_000 })
      for (const what of ['a question', 'the same question again']) {
        const asked = await step(what, dialect.read(id))
        expect(JSON.stringify(asked.structured)).toContain('Deploy?')
      }
      await step(null, dialect.type(id, 'y\n'))
      await job.wait({ until: 'Sure', timeoutMs: 20_000 })
      await job.wait({ input: true, timeoutMs: 20_000 })
      await step('the next question', dialect.read(id))
      await job.kill()
    })

    test.concurrent('a server that prints nothing is known by its port', async () => {
      const command = `exec ${process.execPath} -e "require('net').createServer().listen(0, '127.0.0.1')"`
      const { id, step, job } = await begin('server', command, false)
      let read = await step(null, dialect.read(id))
      for (let tries = 0; tries < 200 && !read.text.includes('listening'); tries++)
        read = await step(null, dialect.read(id))
      const listening = await step('a server', dialect.read(id))
      expect(JSON.stringify(listening.structured)).toMatch(/127\.0\.0\.1:\d+/)
      if (name === 'house') {
        const [tool] = dialect.read(id)
        await step('a wait that ran out', [tool, { shell_id: id, until: 'never', wait_ms: 50 }])
      }
      await job.kill()
    })
  })

test('the table has every case and no other', () => {
  if (writing) writeFileSync(TABLE_FILE, makeTable([...seen.values()]))
  else expect([...expected.keys()].toSorted()).toEqual([...seen.keys()].toSorted())
})
