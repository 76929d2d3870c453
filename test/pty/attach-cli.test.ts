/** `cerith attach` as a person uses it: the real command line on a real terminal, looking at another process's job. */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createEngine } from '../../src/index.js'
import { findHelper } from '../../src/os/helper/file.js'
import { temporaryFolder } from '../fixtures/folder.js'

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

test.skipIf(!findHelper() || !existsSync(cli))(
  'a person attaches, types, resizes and leaves; the agent goes on',
  async () => {
    const root = temporaryFolder('attach-cli')
    const agent = await createEngine({ cwd: root, stateDir: join(root, 'agent') })
    const desk = await createEngine({ cwd: root, stateDir: join(root, 'desk') })
    try {
      const job = await agent.start({
        command: `HISTFILE= PS1='$ ' bash --norc --noprofile -i`,
        pty: { cols: 70, rows: 20 },
      })
      await job.wait({ until: /\$ $/, timeoutMs: 10_000 })
      const person = await desk.start({
        command: ['node', cli, 'attach', job.id],
        env: { CERITH_HOME: join(root, 'agent'), USER: 'ann' },
        pty: { cols: 111, rows: 31 },
      })
      const shows = async (pattern: RegExp): Promise<void> => {
        const { reason } = await person.wait({ until: pattern, timeoutMs: 15_000 })
        if (reason !== 'until')
          throw new Error(`${pattern} never showed (${reason}):\n${(await person.read({ ansi: 'strip' })).text}`)
      }
      await shows(/C-\] leaves/)
      await shows(/\$ $/)
      await person.send({ text: 'stty size; echo typed-by-$((1 + 1))', enter: true })
      await shows(/^31 111/)
      await shows(/^typed-by-2/)
      await person.resize({ cols: 99, rows: 22 })
      // Keys and sizes travel on different ways: asked until the size has arrived.
      await person.send({
        text: 'until [ "$(stty size)" = "22 99" ]; do sleep 0.05; done; echo now $((20 + 2)) rows',
        enter: true,
      })
      await shows(/^now 22 rows/)
      await person.send({ keys: ['C-]'] })
      await shows(/left shell_.*goes on/)
      expect((await person.wait({ timeoutMs: 10_000 })).info.exitCode).toBe(0)
      const info = await job.info()
      expect(info.isRunning).toBe(true)
      expect(info.notes.map(({ text }) => text).join(' ')).toContain('Typed into by ann')
      await job.send({ text: 'stty size; exit 6', enter: true })
      expect((await job.wait({ timeoutMs: 10_000 })).info.exitCode).toBe(6)
      expect((await job.read()).text).toContain('20 70')
    } finally {
      await desk.close()
      await agent.close()
      rmSync(root, { recursive: true, force: true })
    }
  },
)
