/**
 * A room is built from a look at the disk, and the disk goes on changing: a room is had all the same, and it is not a
 * weaker one.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { until } from '../harness.js'
import { canConfine, ground } from './harness.js'

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** A program beside the engine; it has begun when this returns. */
async function beside(program: string, ...words: string[]): Promise<void> {
  const child = spawn(process.execPath, ['-e', `console.log('begun'); ${program}`, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  await once(child.stdout, 'data')
}

/** Three names of the home that are a directory, a link, a file, and nothing, in turn. */
const CHURN = `const fs = require('node:fs'), names = ['pa', 'pb', 'pc'].map((name) => process.argv[1] + '/' + name)
for (let n = 0; ; n++) for (const [at, path] of names.entries()) {
  fs.rmSync(path, { recursive: true, force: true })
  const kind = (n + at) % 3
  kind === 0 ? fs.mkdirSync(path) : kind === 1 ? fs.symlinkSync('/etc', path) : fs.writeFileSync(path, '')
}`

/**
 * The person makes the folder of an editor when the room's first process is there: the look at the disk was before
 * that.
 */
const EDITOR = `const fs = require('node:fs'), [, parent, folder] = process.argv
const children = (pid) => { try { return fs.readFileSync('/proc/' + pid + '/task/' + pid + '/children', 'utf8').trim().split(' ').filter(Boolean) } catch { return [] } }
while (!children(parent).some((pid) => children(pid).length > 0)) {}
fs.mkdirSync(folder)`

/** Programs that listen on sockets, and go. */
const SOCKETS = `const net = require('node:net'), open = (path) => net.createServer().listen(path, function () { this.close(() => open(path)) })
for (let n = 0; n < 20; n++) open(process.argv[1] + '/s' + n)`

/** Sixty sockets that were all bound as `late.sock`; the last of them is there. */
const RELATIVE = `const fs = require('node:fs'), net = require('node:net')
process.chdir(process.argv[1])
const next = (n) => { fs.rmSync('late.sock', { force: true }); net.createServer((c) => c.end()).listen('late.sock', () => n < 60 ? next(n + 1) : fs.writeFileSync('60', '')) }
next(1)`

describe.skipIf(!canConfine)('while the disk changes', () => {
  test('sockets of the person come and go: every command enters its room', async () => {
    const { engine, home } = await ground()
    mkdirSync(join(home, 'other'))
    await beside(SOCKETS, join(home, 'other'))
    const ends = []
    for (let at = 0; at < 100; at++) ends.push((await engine.run({ command: 'true' })).exitCode)
    expect(ends).toEqual(ends.map(() => 0))
  })

  test('of many sockets under one relative name the one that is there is out of reach', async () => {
    const { engine, home } = await ground()
    const place = join(home, 'other')
    mkdirSync(place)
    await beside(RELATIVE, place)
    await until(() => existsSync(join(place, '60')), 'the sockets')
    const asks = `const s = require('node:net').connect('${place}/late.sock', () => console.log('reached')); s.on('error', () => {})`
    expect((await engine.run({ command: ['node', '-e', asks] })).stdout).toBe('')
  })

  test('directories, links and files of the home come and go: every room is built', async () => {
    const { engine, home } = await ground()
    await beside(CHURN, home)
    const ends = []
    for (let at = 0; at < 15; at++)
      ends.push((await engine.run({ command: 'true', sandbox: { hide: [`/nowhere${at}`] } })).exitCode)
    expect(ends).toEqual(ends.map(() => 0))
  })

  test('a protected name that appears while the room is built is protected in it', async () => {
    for (let round = 0; round < 5; round++) {
      const { engine, work } = await ground()
      const folder = join(work, '.vscode')
      await beside(EDITOR, String(process.pid), folder)
      await engine.run({ command: 'while [ ! -d .vscode ]; do sleep 0.01; done; echo evil >.vscode/tasks.json' })
      expect(existsSync(join(folder, 'tasks.json')), `round ${round}`).toBe(false)
      await engine.close()
    }
  })
})
