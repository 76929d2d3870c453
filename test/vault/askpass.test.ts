import { execFile } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startAskpass, type Askpass } from '../../src/vault/askpass.js'
import { temporaryFolder } from '../fixtures/folder.js'

let dir: string
let askpass: Askpass
const prompts: unknown[] = []
beforeEach(async () => {
  dir = temporaryFolder('askpass')
  prompts.length = 0
  askpass = await startAskpass({
    dir,
    answers: [
      { program: 'sudo', name: 'root-password', value: async () => Buffer.from(`pa'ss $(id)\xff`, 'latin1') },
      {
        program: 'git',
        prompt: /^Password for 'https:\/\/git\.example\//,
        name: 'git-token',
        value: async () => Buffer.from('git-token-value'),
      },
      {
        program: 'git',
        prompt: /broken/,
        name: 'broken',
        value: async () => Promise.reject(new Error('no such item')),
      },
    ],
    onPrompt: (event) => prompts.push(event),
  })
})
afterEach(async () => {
  await askpass.close()
})

const run = (script: string, args: string[], env: Record<string, string> = {}) =>
  new Promise<{ code: unknown; stdout: Buffer }>((resolve) =>
    execFile(script, args, { encoding: 'buffer', env: { PATH: process.env.PATH, ...env } }, (error, stdout) =>
      resolve({ code: error?.code ?? 0, stdout }),
    ),
  )

describe('askpass answers prompts that are mapped', () => {
  test('sudo gets the exact bytes and a newline, and the audit hears of it without the value', async () => {
    const { SUDO_ASKPASS = '' } = askpass.environment
    const { code, stdout } = await run(SUDO_ASKPASS, ['[sudo] password for u: '])
    expect({ code, bytes: stdout.toString('latin1') }).toEqual({ code: 0, bytes: "pa'ss $(id)\xff\n" })
    expect(prompts).toEqual([{ program: 'sudo', prompt: '[sudo] password for u: ', answeredWith: 'root-password' }])
  })

  test('a prompt that fits no rule, another program, or a failing source is answered by nothing and a failure', async () => {
    const { GIT_ASKPASS = '', SSH_ASKPASS } = askpass.environment
    expect(SSH_ASKPASS).toBeUndefined()
    expect(await run(GIT_ASKPASS, ["Password for 'https://evil.example/': "])).toEqual({
      code: 1,
      stdout: Buffer.alloc(0),
    })
    expect(await run(GIT_ASKPASS, ['broken'])).toEqual({ code: 1, stdout: Buffer.alloc(0) })
    expect((await run(GIT_ASKPASS, ["Password for 'https://git.example/repo': "])).stdout.toString()).toBe(
      'git-token-value\n',
    )
  })

  test('the environment of the asking command cannot load code into the helper', async () => {
    const { SUDO_ASKPASS = '' } = askpass.environment
    expect((await run(SUDO_ASKPASS, ['x'], { NODE_OPTIONS: '--require /does/not/exist.cjs' })).code).toBe(0)
  })

  test('scripts are 0700, the socket 0600, and nothing is left after close', async () => {
    const home = dirname(askpass.environment.SUDO_ASKPASS ?? '')
    const modes = Object.fromEntries(
      readdirSync(home).map((name) => [name, (statSync(join(home, name)).mode & 0o777).toString(8)]),
    )
    expect(modes).toEqual({ 'ask.mjs': '600', git: '700', s: '600', sudo: '700' })
    await askpass.close()
    expect(existsSync(home)).toBe(false)
  })

  // The second has as many characters as a ticket, and more bytes.
  test.each(['0', '\u00e9'])('whoever finds the socket but not the ticket gets nothing: %s', async (character) => {
    const socket = connect(join(dirname(askpass.environment.SUDO_ASKPASS ?? ''), 's'))
    socket.end(`${character.repeat(48)}\n[sudo] password`)
    const chunks: Buffer[] = []
    for await (const chunk of socket) chunks.push(chunk as Buffer)
    expect(Buffer.concat(chunks).length).toBe(0)
    expect(prompts).toEqual([])
  })

  test('a directory that others can enter is refused', async () => {
    await expect(startAskpass({ dir: '/tmp', answers: [] })).rejects.toMatchObject({ code: 'STATE_UNWRITABLE' })
  })
})
