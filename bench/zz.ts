import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine } from '../src/index.js'
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
const q = (v: number[]) => v.sort((a, b) => a - b)[v.length >> 1]!
const out: string[] = []
for (const cmd of [':', '/bin/true']) {
  const a: number[] = [],
    b: number[] = []
  for (let i = 0; i < 5; i++) await plain(cmd)
  for (let i = 0; i < 5; i++) await session.run({ command: cmd })
  for (let i = 0; i < 300; i++) {
    let t = performance.now()
    await plain(cmd)
    a.push(performance.now() - t)
    t = performance.now()
    await session.run({ command: cmd })
    b.push(performance.now() - t)
  }
  out.push((q(b) / q(a)).toFixed(4))
}
console.log(out.join(' '))
await engine.close()
rmSync(stateDir, { recursive: true, force: true })
