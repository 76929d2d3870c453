/** What one call in a live session costs, against starting a bash for it. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine } from './lib/built.js'
import { compare } from './lib/ratio.js'

const stateDir = mkdtempSync(join(tmpdir(), 'cerith-bench-'))
const engine = await createEngine({ stateDir })
const session = await engine.session()

function plain(command: string): Promise<unknown> {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-c', command])
    child.stdout.on('data', () => {})
    child.on('close', resolve)
  })
}

const run = (command: string) => () => session.run({ command })
const rounds = Number(process.env['ROUNDS'] ?? 300)
await compare(
  'a builtin',
  [
    ['spawn bash -c :', () => plain(':')],
    ['session :', run(':')],
  ],
  rounds,
)
await compare(
  'a builtin, blocks of 20 calls in turn',
  [
    ['spawn bash -c :', () => plain(':')],
    ['session :', run(':')],
  ],
  Math.ceil(rounds / 20),
  20,
)
await compare(
  'a program',
  [
    ['spawn bash -c /bin/true', () => plain('/bin/true')],
    ['session /bin/true', run('/bin/true')],
  ],
  rounds,
)
let n = 0
await compare(
  'a program with another argument each time',
  [
    ['spawn bash -c', () => plain(`/bin/true ${++n}`)],
    ['session', () => session.run({ command: `/bin/true ${++n}` })],
  ],
  rounds,
)
await compare(
  'a different command each time',
  [
    ['spawn bash -c', () => plain(`x=${++n}; echo $x`)],
    ['session', () => session.run({ command: `x=${++n}; echo $x` })],
  ],
  rounds,
)
await run('sleep 1000 &')()
await compare(
  'with a process of an earlier call',
  [
    ['spawn bash -c :', () => plain(':')],
    ['session :', run(':')],
  ],
  rounds,
)
const large = await engine.session('large')
await large.run({ command: String.raw`x=$(head -c 30000000 /dev/zero | tr '\0' a)` })
await compare(
  'a program, from a shell that holds 30 MB',
  [
    ['spawn bash -c /bin/true', () => plain('/bin/true')],
    ['session /bin/true', () => large.run({ command: '/bin/true' })],
  ],
  rounds,
)
await engine.close()
rmSync(stateDir, { recursive: true, force: true })
