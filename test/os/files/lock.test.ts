/** A lock file belongs to whoever holds it now. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { takeLockFile } from '../../../src/os/files/lock.js'
import { temporaryFolder } from '../../fixtures/folder.js'

test('a holder that stood still too long does not remove the lock of the one that took over', async () => {
  const path = join(temporaryFolder('lock'), 'a.lock')
  const slow = await takeLockFile(path)
  const next = await takeLockFile(path, { heldAtMostMs: 1 })
  const about = readFileSync(path, 'utf8')
  slow.release()
  expect(readFileSync(path, 'utf8')).toBe(about)
  expect((await takeLockFile(path, { waitMs: 5 })).held).toBe(false)
  next.release()
  expect(existsSync(path)).toBe(false)
})
