/** Who is there to answer is known on their own machine, and nobody else takes that back. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { announcePresence, isAnyonePresent } from '../../src/audit/presence.js'
import { thisWorld } from '../../src/os/process/world.js'
import { temporaryFolder } from '../fixtures/folder.js'

test('a person is there from the announcement to the leave', () => {
  const stateDir = join(temporaryFolder('presence'), 'state')
  expect(isAnyonePresent(stateDir)).toBe(false)
  const [one, two] = [announcePresence(stateDir), announcePresence(stateDir)]
  expect(isAnyonePresent(stateDir)).toBe(true)
  one()
  expect(isAnyonePresent(stateDir)).toBe(true)
  two()
  expect(isAnyonePresent(stateDir)).toBe(false)
})

test('a look from another machine that shares the directory leaves the announcement there', () => {
  const stateDir = join(temporaryFolder('presence'), 'state')
  announcePresence(stateDir)
  const dir = join(stateDir, 'watching')
  const file = join(dir, readdirSync(dir)[0] as string)
  const here = readFileSync(file, 'utf8')
  const { boot, host } = thisWorld()
  writeFileSync(file, here.replace(host, 'another').replace(boot, 'another'))
  expect(isAnyonePresent(stateDir)).toBe(false)
  expect(readdirSync(dir)).toHaveLength(1)
  // Before a restart of this machine.
  writeFileSync(file, here.replace(boot, 'another'))
  expect(isAnyonePresent(stateDir)).toBe(false)
  expect(readdirSync(dir)).toEqual([])
})
