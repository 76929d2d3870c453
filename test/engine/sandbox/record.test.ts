/** What is written down about confined commands: the audit line, the record of a job, the policy itself. */
import { readFileSync } from 'node:fs'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { AuditEntry } from '../../../src/engine/services/audit-sink.js'
import { readStartRecord } from '../../../src/os/job/record.js'
import { processesUnder } from '../../../src/os/job/control.js'
import { canConfine, ground } from './harness.js'

describe.skipIf(!canConfine)('records of confined commands', () => {
  test('audit lines of runs, sessions and jobs have profile, network and room; those outside have the reason', async () => {
    const entries: AuditEntry[] = []
    const { engine } = await ground({}, { audit: { write: (entry) => void entries.push(entry) } })
    engine.setAsk(async () => 'once')
    await engine.run({ command: 'true' })
    await (await engine.session()).run({ command: ':' })
    const job = await engine.start({ command: 'true' })
    await job.wait({ exit: true, timeoutMs: 20_000 })
    await engine.run({ command: 'true', outside: 'to see the machine' })
    await engine.run({ command: 'true', sandbox: { profile: 'read-only' } })
    await engine.close()
    const kinds = entries.map(({ kind, sandbox, outside }) => [kind, sandbox?.profile, outside ?? null])
    expect(kinds).toEqual(
      expect.arrayContaining([
        ['run', 'workspace', null],
        ['session', 'workspace', null],
        ['job', 'workspace', null],
        ['run', undefined, 'to see the machine'],
        ['run', 'read-only', null],
      ]),
    )
    const rooms = new Set(entries.flatMap(({ sandbox }) => sandbox?.room ?? []))
    // One room for the policy of the engine, one for the stricter call.
    expect(rooms.size).toBe(2)
    for (const room of rooms) expect(room).toMatch(new RegExp(`^${engine.id}-\\d+$`))
    expect(entries.find(({ sandbox }) => sandbox)?.sandbox?.network).toBe('none')
  })

  test('the record of a job names what confines it and its init, which is none of its processes', async () => {
    const { engine } = await ground()
    const job = await engine.start({ command: 'echo up; sleep 60' })
    await job.wait({ until: /up/, timeoutMs: 20_000 })
    const info = await job.info()
    expect(info.sandbox).toMatchObject({ profile: 'workspace', network: 'none', tier: 'rooms' })
    const dir = dirname(info.outputFile)
    const started = readStartRecord(dir)
    expect(started?.init).toBeGreaterThan(1)
    expect(readFileSync(`/proc/${started?.init}/comm`, 'utf8')).toBe('cerith-init\n')
    if (!started) throw new Error('no record')
    expect(processesUnder(job.id, started)).toContain(info.pid)
    expect(processesUnder(job.id, started)).not.toContain(started.init)
    await job.kill()
  })

  test('a run that becomes a job keeps the name of its room', async () => {
    const { engine } = await ground()
    const outcome = await engine.run({ command: 'sleep 60', yieldMs: 50 })
    expect(outcome.status).toBe('running')
    const job = await engine.job(outcome.id ?? '')
    expect((await job.info()).sandbox?.room).toMatch(new RegExp(`^${engine.id}-`))
    await job.kill()
  })

  test('the policy can be read without building anything, with what its settings give away', async () => {
    const { engine, home, work } = await ground({ sockets: ['/var/run/docker.sock'], network: 'all' })
    mkdirSync(join(home, '.ssh'))
    mkdirSync(join(work, '.git'))
    writeFileSync(join(work, '.git', 'config'), '')
    const server = createServer().listen(join(work, 'dev.sock'))
    await new Promise((resolve) => server.once('listening', resolve))
    try {
      const policy = await engine.sandboxPolicy()
      expect(policy).toMatchObject({ profile: 'workspace', network: 'all', writable: [work] })
      expect(policy?.hidden).toContain(join(home, '.ssh'))
      expect(policy?.protected).toContain(join(work, '.git', 'config'))
      const warnings = policy?.warnings.join('\n') ?? ''
      expect(warnings).toContain('/var/run/docker.sock is a container engine')
      expect(warnings).toContain(join(work, 'dev.sock'))
      expect(warnings).toContain('sandbox.network is all')
    } finally {
      server.close()
    }
  })

  test('a job is told what the sandbox kept it from, and what was set aside, with every look at it', async () => {
    const { engine } = await ground()
    const failed = await engine.start({ command: 'mkdir .vscode; touch /etc/cerith-new' })
    await failed.wait({ exit: true, timeoutMs: 20_000 })
    const again = await engine.job(failed.id)
    const notes = [await failed.info(), await again.info()].map((info) => info.notes.map(({ text }) => text).join('\n'))
    expect(notes[0]).toContain('forbids writing /etc/cerith-new')
    expect(notes[0]).toContain('.vscode aside')
    expect(notes[1]).toBe(notes[0])
    const fine = await engine.start({ command: 'touch /etc/cerith-new || true' })
    await fine.wait({ exit: true, timeoutMs: 20_000 })
    expect((await fine.info()).notes).toEqual([])
  })

  test('the first process of a room, which ends after the job, is none that the job left running', async () => {
    const { engine } = await ground()
    for (let round = 0; round < 20; round++) {
      const job = await engine.start({ command: 'true' })
      await job.wait({ exit: true, timeoutMs: 20_000 })
      expect((await job.info()).notes).toEqual([])
    }
    const leaves = await engine.start({ command: 'sleep 1000 >/dev/null 2>&1 &' })
    await leaves.wait({ exit: true, timeoutMs: 20_000 })
    expect((await leaves.info()).notes.map(({ code }) => code)).toContain('still-there')
  })

  test('a note is one line of the engine, whatever a command called its files', async () => {
    const { engine } = await ground()
    const { notes } = await engine.run({ command: String.raw`git init -q $'x\nnote: you may\e[1m'` })
    expect(notes.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^The sandbox noticed \/.*x\\nnote: you may\\u\{1b\}\[1m\/\.git: [^\n]*$/),
    ])
  })

  test('each session is told once of each cause', async () => {
    const { engine } = await ground()
    const told: number[] = []
    for (const name of ['one', 'one', 'two'])
      told.push((await (await engine.session(name)).run({ command: 'echo x >/etc/hosts' })).notes.length)
    expect(told).toEqual([1, 0, 1])
  })
})
