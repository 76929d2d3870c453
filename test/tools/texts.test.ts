/** Every text that a model can read, in every dialect, to the letter. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { ShellError } from '../../src/contract/errors.js'
import { createTools, DIALECTS, type DialectName } from '../../src/tools/index.js'
import { scriptedEngine, type Script } from './scripted-engine.js'

const ENDED = { isRunning: false, endedAt: 1, durationMs: 61_000 } as const

/** What may come of running a command. */
const RUNS: Record<string, Script> = {
  success: {},
  'success without output': { outcome: { stdout: '' } },
  'success with stderr and no final newline': { outcome: { stdout: 'out', stderr: 'warning' } },
  'exit 2 with both streams': {
    outcome: { status: 'failed', end: { kind: 'exit', code: 2 }, exitCode: 2, stdout: 'partial\n', stderr: 'boom\n' },
  },
  'a signal': {
    outcome: {
      status: 'failed',
      end: { kind: 'signal', signal: 'SIGSEGV' },
      exitCode: null,
      signal: 'SIGSEGV',
      stdout: '',
    },
  },
  'a timeout with partial output': {
    outcome: {
      status: 'timeout',
      end: { kind: 'timeout', afterMs: 1_000, forced: false },
      exitCode: null,
      stdout: 'one\n',
      durationMs: 1_010,
    },
  },
  'an interrupt': {
    outcome: {
      status: 'killed',
      end: { kind: 'kill', forced: false, by: 'caller' },
      exitCode: null,
      stdout: 'one\n',
      durationMs: 90,
    },
  },
  'a yield': {
    outcome: {
      status: 'running',
      end: null,
      exitCode: null,
      id: 'shell_0a1b2c3d',
      stdout: 'compiling\n',
      durationMs: 45_000,
      outputFile: '/state/out',
    },
  },
  'a refusal': {
    outcome: {
      status: 'refused',
      end: null,
      exitCode: null,
      stdout: '',
      refused: {
        rule: 'wipe-root',
        reason:
          'Command blocked for security reasons (dangerous pattern: wipe-root): make. It removes the whole file system.',
        guidance: 'Name the folder you want to empty.',
      },
    },
  },
  'a question that nobody answered': {
    outcome: {
      status: 'refused',
      end: null,
      exitCode: null,
      stdout: '',
      approvalId: 'ap_1',
      refused: {
        rule: 'force-push',
        reason: 'Not run: it needs approval (it rewrites history). Nobody could be asked.',
        guidance: 'A person can allow exactly this command once with: cerith approve ap_1 - then repeat the same call.',
      },
    },
  },
  'a dry run': { outcome: { status: 'dry_run', end: null, exitCode: null, stdout: '[Dry Run] Would execute: make' } },
  'a restart of the shell': { outcome: { notes: ['the shell was restarted and its state restored'] } },
  'a moved directory': { outcome: { cwd: '/srv/app/src', stdout: '' } },
  'grep that found nothing': {
    outcome: {
      status: 'failed',
      end: { kind: 'exit', code: 1 },
      exitCode: 1,
      stdout: '',
      notes: ['Exit code 1 of grep means: no line matched.'],
    },
  },
  'a question for a password': {
    outcome: {
      status: 'running',
      end: null,
      exitCode: null,
      id: 'shell_0a1b2c3d',
      output: 'Password: ',
      waitingForInput: { prompt: 'Password: ' },
    },
  },
  'a missing directory': {
    throws: new ShellError(
      'CWD_NOT_FOUND',
      'Working directory not found: /nowhere',
      'Create it, or pass an existing cwd.',
    ),
  },
}

const RUN_TOOL: Record<DialectName, { tool: string; input: Record<string, unknown> }> = {
  house: { tool: 'Bash', input: { command: 'make' } },
  lango: { tool: 'exec', input: { command: 'make' } },
  phoenix: { tool: 'bash', input: { command: 'make' } },
  forge: { tool: 'Bash', input: { command: 'make', description: 'Build it' } },
  wave: { tool: 'Bash', input: { command: 'make' } },
  anthropic: { tool: 'bash', input: { command: 'make' } },
  codex: { tool: 'exec_command', input: { cmd: 'make' } },
  gemini: { tool: 'run_shell_command', input: { command: 'make' } },
  'openai-shell': { tool: 'shell', input: { commands: ['make'] } },
}

const JOBS: Record<string, Script> = {
  running: { streams: { output: 'ready on port 3000\n' } },
  'completed with stderr apart': {
    info: { ...ENDED, status: 'completed', exitCode: 0, streams: 'separate' },
    streams: { stdout: 'done\n', stderr: 'careful\n' },
  },
  failed: { info: { ...ENDED, status: 'failed', exitCode: 7 }, streams: { output: 'oh no' } },
  'killed, nothing printed': { info: { ...ENDED, status: 'killed', signal: 'SIGTERM' } },
  lost: { info: { ...ENDED, status: 'lost', notes: ['the machine was restarted while it ran'] } },
}

const READ_TOOL: Partial<Record<DialectName, { tool: string; field: string }>> = {
  house: { tool: 'BashOutput', field: 'bash_id' },
  forge: { tool: 'BashOutput', field: 'bash_id' },
  wave: { tool: 'BashOutput', field: 'bash_id' },
  lango: { tool: 'exec_status', field: 'id' },
}

const KILL_TOOL: Partial<Record<DialectName, { tool: string; field: string }>> = {
  house: { tool: 'KillShell', field: 'shell_id' },
  forge: { tool: 'KillShell', field: 'shell_id' },
  wave: { tool: 'KillBash', field: 'shell_id' },
  lango: { tool: 'exec_stop', field: 'id' },
}

const START_FIELD: Partial<Record<DialectName, { tool: string; input: Record<string, unknown> }>> = {
  house: { tool: 'Bash', input: { command: 'npm run dev', run_in_background: true } },
  forge: { tool: 'Bash', input: { command: 'npm run dev', run_in_background: true } },
  wave: { tool: 'Bash', input: { command: 'npm run dev', run_in_background: true } },
  phoenix: { tool: 'bash', input: { command: 'npm run dev', mode: 'background' } },
  lango: { tool: 'exec_bg', input: { command: 'npm run dev' } },
  gemini: { tool: 'run_shell_command', input: { command: 'npm run dev', is_background: true } },
}

const ajv = new Ajv2020({ strict: false })

async function say(dialect: DialectName, script: Script, tool: string, input: unknown) {
  const tools = createTools(scriptedEngine(script), { dialect })
  const result = await tools.execute(tool, input)
  const validate = ajv.compile(tools.get(tool)!.outputSchema)
  expect(
    validate(result.structured),
    `${JSON.stringify(validate.errors)} in ${JSON.stringify(result.structured)}`,
  ).toBe(true)
  expect(result.text, 'a text is never empty').not.toBe('')
  // Wall clocks differ from run to run.
  return { ...result, text: result.text.replace(/Wall time: [\d.]+ seconds/, 'Wall time: 0.0000 seconds') }
}

const shown = ({ text, isError }: { text: string; isError: boolean }): string => `${isError ? 'ERROR\n' : ''}${text}`

for (const dialect of Object.keys(DIALECTS) as DialectName[]) {
  describe(dialect, () => {
    const run = RUN_TOOL[dialect]
    if (dialect !== 'codex')
      for (const [name, script] of Object.entries(RUNS)) {
        test(`what is read after ${name}`, async () => {
          expect(shown(await say(dialect, script, run.tool, run.input))).toMatchSnapshot()
        })
      }
    for (const [name, script] of dialect === 'codex' ? Object.entries(JOBS) : [])
      test(`what is read of a command that is ${name}`, async () => {
        expect(
          shown(await say(dialect, { ...script, info: { ...script.info, id: '4242' } }, run.tool, run.input)),
        ).toMatchSnapshot()
      })
    const start = START_FIELD[dialect]
    if (start)
      test('what is read when a job was started (BG-01)', async () =>
        expect(shown(await say(dialect, {}, start.tool, start.input))).toMatchSnapshot())
    const read = READ_TOOL[dialect]
    for (const [name, script] of read ? Object.entries(JOBS) : [])
      test(`what is read of a job that is ${name} (BG-05)`, async () => {
        expect(shown(await say(dialect, script, read!.tool, { [read!.field]: 'shell_0a1b2c3d' }))).toMatchSnapshot()
      })
    if (read) {
      test('an unknown id says "not found" and names the ids there are (BG-11)', async () => {
        const result = await say(dialect, {}, read.tool, { [read.field]: 'shell_nonexistent' })
        expect(shown(result)).toMatchSnapshot()
        expect(result.text).toContain('not found')
        expect(result.text).toContain('shell_0a1b2c3d')
        expect(result.isError).toBe(true)
      })
    }
    const kill = KILL_TOOL[dialect]
    if (kill) {
      const killed = { ...ENDED, status: 'killed', signal: 'SIGTERM' } as const
      test('what is read after a kill (BG-12)', async () => {
        expect((await say(dialect, {}, kill.tool, { [kill.field]: 'nope' })).text).toContain('not found')
        expect(
          shown(await say(dialect, { info: killed }, kill.tool, { [kill.field]: 'shell_0a1b2c3d' })),
        ).toMatchSnapshot()
      })
      test('what is read after a kill of a finished one (BG-13)', async () => {
        const script = { info: { ...ENDED, status: 'completed', exitCode: 0 }, kill: { alreadyStopped: true } } as const
        expect(shown(await say(dialect, script, kill.tool, { [kill.field]: 'shell_0a1b2c3d' }))).toMatchSnapshot()
      })
    }
    test('bad input keeps the shape of the result', async () => {
      for (const tool of createTools(scriptedEngine(), { dialect }).list()) {
        const result = await say(dialect, {}, tool.name, { nonsense: 1 })
        expect(result.isError).toBe(true)
        expect(result.text).toContain("'nonsense'")
        expect((await say(dialect, {}, tool.name, 'not json')).text).toContain('must be an object')
      }
    })
    test('descriptions (TOOL-02)', () => {
      const tools = createTools(scriptedEngine(), { dialect, ...(dialect === 'house' ? { yieldMs: 45_000 } : {}) })
      expect(
        tools
          .list()
          .map((tool) => `${tool.name} (${tool.title}): ${tool.description.replace(process.platform, 'linux')}`)
          .join('\n\n'),
      ).toMatchSnapshot()
    })
  })
}
