/** The command line on a real terminal: questions, hidden prompts, Ctrl-C, the progress line. */
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { isInsideEngine } from '../../../src/os/process/inside-engine.js'
import { withTestEngine } from '../../../src/testing.js'
import { makeGate } from '../../fixtures/gate.js'
import { temporaryFolder } from '../../fixtures/folder.js'

const cli = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url))
const base = temporaryFolder('terminal')

const hasScript = spawnSync('script', ['--version']).status === 0

/**
 * Types as a person would, on the terminal that `script` gives: waits for the words on the screen, then answers, or
 * does something else.
 */
async function atTerminal(
  line: string,
  answers: readonly (readonly [seen: string, typed: string | (() => void)])[],
): Promise<string> {
  const env = { ...process.env, CERITH_HOME: join(base, 'state'), HOME: base, CERITH_ENGINE: undefined, TERM: 'xterm' }
  const child = spawn('script', ['-qefc', `${line}; echo "exit code $?"`, '/dev/null'], { env, cwd: base })
  const ended = new Promise((resolve) => child.once('close', resolve))
  let text = ''
  let at = 0
  const queue = [...answers]
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString()
    const [seen, typed] = queue[0] ?? []
    if (seen === undefined || !text.slice(at).includes(seen)) return
    at = text.length
    queue.shift()
    if (typeof typed === 'function') typed()
    else child.stdin.write(typed ?? '')
  })
  await ended
  return text
}

const cerith = `${process.execPath} ${cli}`

// Inside an agent's shell no caller is taken for a person.
describe.skipIf(!hasScript || isInsideEngine())('a person', () => {
  test('is asked, and no means no', async () => {
    const text = await atTerminal(`${cerith} run --set policy.preset=careful 'curl -s http://127.0.0.1:9/'`, [
      ['Run it', 'n\r'],
    ])
    expect(text).toContain('wants your approval')
    expect(text).toContain('exit code 126')
  })

  test('says yes, and it runs', async () => {
    expect(
      await atTerminal(`${cerith} run --set policy.preset=careful 'curl -s http://127.0.0.1:9/'`, [['Run it', 'y\r']]),
    ).toContain('exit code 7')
  })

  test('types a pass phrase and a secret that do not appear', async () => {
    const text = await atTerminal(`${cerith} secret set TYPED`, [
      ['Choose a pass phrase', 'open sesame please\r'],
      ['Once more', 'open sesame please\r'],
      ['Value of TYPED', 'never on the screen\r'],
    ])
    expect(text).toContain('Set TYPED')
    expect(text).toContain('exit code 0')
    expect(text).not.toContain('sesame')
    expect(text).not.toContain('never on')
    const used = await atTerminal(`${cerith} run 'printf %s {{secret:TYPED}} | wc -c'`, [
      ['Pass phrase of the vault', 'open sesame please\r'],
    ])
    expect(used).toContain('19')
  })

  test('presses Ctrl-C: the command is interrupted and its handler runs', async () => {
    const text = await atTerminal(
      `${cerith} run 'trap "echo cleaned up; exit 9" INT; echo ready; while :; do sleep 0.05; done'`,
      [['ready', '\u0003']],
    )
    expect(text).toContain('cleaned up')
  })

  test('waits with a progress line that goes away', async () => {
    const gate = makeGate()
    const text = await atTerminal(
      `${cerith} wait $(${cerith} run --background '${gate.wait}; echo over') --until over`,
      [['waiting ', gate.open]],
    )
    expect(text).toContain('waiting ')
    expect(text).toContain('\r\u001B[K')
    expect(text).toContain('until: over')
    expect(text).toContain('exit code 0')
  })
})

test('an agent that is given a terminal cannot say yes for a person, whatever it does to its environment', async () => {
  await withTestEngine(async (engine) => {
    const env = { CERITH_HOME: join(base, 'agent'), HOME: base }
    const command = `env -u CERITH_ENGINE setsid -w ${cerith} run --set policy.preset=careful 'curl -s http://127.0.0.1:9/'; echo "exit code $?"`
    const job = await engine.start({ command, pty: true, env })
    await job.send({ text: 'y', enter: true })
    await job.wait({ exit: true, timeoutMs: 60_000 })
    expect((await job.read({ ansi: 'strip' })).text).toContain('exit code 126')
    const approve = await engine.run({
      command: `id=$(${cerith} approve --json | grep -o 'ask_[0-9a-f]*'); env -u CERITH_ENGINE ${cerith} approve $id`,
      env,
    })
    expect(approve).toMatchObject({ exitCode: 125, stderr: expect.stringContaining('by a person') })
  })
})
