/** Terminals through the tools that models call: a question is reported, answered and followed to its end. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEngine, type Engine } from '../../src/index.js'
import { findHelper } from '../../src/os/helper/file.js'
import { createTools } from '../../src/tools/create-tools.js'
import { temporaryFolder } from '../fixtures/folder.js'

describe.skipIf(!findHelper())('tools on a terminal', () => {
  const root = temporaryFolder('pty-tools')
  let engine: Engine
  beforeAll(async () => {
    engine = await createEngine({ cwd: root, stateDir: join(root, 'state') })
    engine.secrets.set('door', 'swordfish-99')
  })
  afterAll(async () => {
    await engine.close()
  })

  test('house: Bash reports the prompt, SendInput answers it, BashOutput has the rest once', async () => {
    const tools = createTools(engine, { dialect: 'house' })
    const asked = await tools.execute('Bash', {
      command:
        'echo first; echo second; read -p "Deploy to prod? [y/N] " a; echo "answer $a"; read -rs -p "Password: " p; echo; echo "${#p} characters"',
      pty: true,
    })
    expect(asked.text).toMatch(/waiting for input: "Deploy to prod\? \[y\/N\]"; (shell_\w+)/)
    const shell_id = /shell_\w+/.exec(asked.text)?.[0]
    const answered = await tools.execute('SendInput', { shell_id, text: 'y', enter: true })
    expect(answered.text).toContain('answer y')
    expect(answered.text).toContain('Password:')
    expect(answered.text).not.toContain('\r')
    // The question was shown before; what is new on the terminal begins with the echo of the answer.
    expect(answered.text).not.toMatch(/Deploy|first|second/)
    expect(answered.text).toMatch(/^\[.*\]\ny\nanswer y\nPassword: ?$/)
    const ended = await tools.execute('SendInput', { shell_id, text: '{{secret:door}}', enter: true })
    expect(ended.text).toContain('12 characters')
    expect(ended.text).not.toContain('swordfish')
    const after = await tools.execute('SendInput', { shell_id, text: 'more' })
    expect(after).toMatchObject({ isError: true, text: expect.stringContaining('not running') })
  })

  test('codex: write_stdin types into a session with a terminal', async () => {
    const tools = createTools(engine, { dialect: 'codex' })
    const started = await tools.execute('exec_command', { cmd: 'cat', tty: true, yield_time_ms: 1_000 })
    const { session_id } = started.structured as { session_id: number }
    expect((await tools.execute('write_stdin', { session_id, chars: 'hello\n', yield_time_ms: 1_500 })).text).toMatch(
      /hello[^]*hello/,
    )
    const ended = await tools.execute('write_stdin', { session_id, chars: '\u0004', yield_time_ms: 20_000 })
    expect(ended.structured).toMatchObject({ exit_code: 0 })
  })
})
