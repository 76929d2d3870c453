/** Verbs on a real terminal whose other side does not read: nothing is lost, a hangup ends them. */
import { execFile, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { findHelper } from '../../src/os/helper/file.js'
import { temporaryFolder } from '../fixtures/folder.js'

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const hasPython = spawnSync('python3', ['-c', 'import pty']).status === 0
const base = temporaryFolder('slow-terminal')
const env = { ...process.env, CERITH_HOME: join(base, 'state') }

/** Runs argv on a terminal, reads nothing for some seconds, then everything (or hangs up); tells what it saw. */
const TERMINAL = `
import json, os, pty, sys, termios, time
how, argv = sys.argv[1], sys.argv[2:]
pid, master = pty.fork()
if pid == 0:
    settings = termios.tcgetattr(0)
    settings[1] &= ~termios.OPOST
    termios.tcsetattr(0, termios.TCSANOW, settings)
    os.execv(argv[0], argv)
seen = bytearray()
# The job of an attachment begins when a key is typed.
while argv[2] == 'attach' and how == 'read' and b'leaves' not in seen:
    seen += os.read(master, 1024)
if seen:
    os.write(master, b'\\r')
time.sleep(2)
while how == 'read':
    try:
        block = os.read(master, 65536)
    except OSError:
        break
    if not block:
        break
    seen += block
    # C-] leaves an attachment, once all of it was seen.
    if b'the-end' in seen[-70000:]:
        os.write(master, b'\\x1d')
if how == 'hangup':
    os.close(master)
_, status = os.waitpid(pid, 0)
numbers = [int(l) for l in seen.replace(b'\\r', b'').split(b'\\n') if l.isdigit()]
print(json.dumps({'whole': numbers == list(range(1, 400001)), 'status': status}))
`

async function onTerminal(how: 'read' | 'hangup', ...words: string[]): Promise<{ whole: boolean; status: number }> {
  const { stdout } = await promisify(execFile)('python3', ['-c', TERMINAL, how, process.execPath, cli, ...words], {
    env,
  })
  return JSON.parse(stdout) as never
}

async function cerith(...words: string[]): Promise<string> {
  return (await promisify(execFile)(process.execPath, [cli, ...words], { env })).stdout.trim()
}

const LINES = 'seq 1 400000'

describe.skipIf(!findHelper() || !existsSync(cli) || !hasPython)(
  'a terminal that does not take what is written',
  () => {
    test('gets every line of a run later', async () => {
      expect(await onTerminal('read', 'run', LINES)).toMatchObject({ whole: true, status: 0 })
    })

    test('gets every line of a job that is read', async () => {
      const id = await cerith('run', '--background', LINES)
      await cerith('wait', id)
      expect(await onTerminal('read', 'read', id)).toMatchObject({ whole: true, status: 0 })
      expect(await onTerminal('read', 'read', '--follow', id)).toMatchObject({ whole: true, status: 0 })
    })

    test('gets every line of a job it is attached to', async () => {
      const id = await cerith('run', '--background', '--pty', `stty -opost; read -r; ${LINES}; echo the-end; read -r`)
      expect(await onTerminal('read', 'attach', id)).toEqual({ whole: true, status: 0 })
      await cerith('kill', id)
    })

    test.each([
      ['run', 'yes'],
      ['attach', null],
    ])('that hangs up ends %s', async (verb, word) => {
      const id = word ?? (await cerith('run', '--background', '--pty', 'while :; do seq 1 1000; sleep 0.1; done'))
      const { status } = await onTerminal('hangup', verb, id)
      expect(status).not.toBe(0)
      if (word === null) {
        expect(await cerith('ps')).toContain(id)
        await cerith('kill', id)
      }
    })
  },
)
