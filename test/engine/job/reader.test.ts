/** Jobs for a process that only looks and steps in: no launcher, no run directory, the same answers. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createEngine, type Engine } from '../../../src/index.js'
import { openJobsReader, type JobsReader } from '../../../src/engine/job/reader.js'
import type { AuditEntry } from '../../../src/engine/services/audit-sink.js'
import { temporaryFolder } from '../../fixtures/folder.js'

let dir: string
let engine: Engine
let reader: JobsReader
const audited: AuditEntry[] = []
beforeEach(async () => {
  dir = temporaryFolder('reader')
  engine = await createEngine({ stateDir: dir })
  audited.length = 0
  reader = openJobsReader({ stateDir: dir, door: 'cli', audit: { write: (entry) => void audited.push(entry) } })
})
afterEach(async () => {
  await reader.close()
  await engine.close()
})

test('lists, reads, waits and kills what another engine started, and leaves no engine of its own behind', async () => {
  const job = await engine.start({ command: 'echo here; sleep 60' })
  const ended = await engine.start({ command: 'true' })
  await ended.wait({ exit: true })
  expect((await reader.jobs()).map(({ id }) => id)).toEqual([job.id])
  expect((await reader.jobs({ all: true })).map(({ id }) => id).sort()).toEqual([job.id, ended.id].sort())
  const seen = await reader.job(job.id)
  await seen.wait({ until: 'here' })
  expect((await seen.read()).text).toBe('here\n')
  expect((await seen.kill({ by: 'ann' })).info.status).toBe('killed')
  expect(audited).toMatchObject([{ kind: 'kill', by: 'ann', job: job.id, door: 'cli' }])
  expect(readdirSync(join(dir, 'run'))).toEqual([engine.id])
  await expect(reader.job('shell_nothere')).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' })
})

test('types into a terminal of another engine', async () => {
  const job = await engine.start({ command: 'read -p "Name? " n; echo "hello $n"', pty: { cols: 80, rows: 24 } })
  const seen = await reader.job(job.id)
  await seen.wait({ input: true })
  let text = ''
  const attachment = await seen.attach({ by: 'ann', readOnly: false, size: null, show: (each) => void (text += each) })
  attachment.type(Buffer.from('Ann\r'))
  await job.wait({ exit: true })
  await attachment.done
  expect(text).toContain('hello Ann')
  expect(audited.map(({ kind, by }) => [kind, by])).toEqual([['attach', 'ann']])
})
