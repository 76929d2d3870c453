import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as passed } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Quarantine } from '../../../src/os/confine/quarantine.js'
import { NestedRepositories } from '../../../src/os/confine/repositories.js'
import { temporaryFolder } from '../../engine/harness.js'

function ground() {
  const folder = temporaryFolder()
  const [root, state] = [join(folder, 'root'), join(folder, 'state')]
  mkdirSync(root)
  mkdirSync(state)
  const absent = ['.vscode', '.github/copilot-instructions.md'].map((name) => join(root, name))
  return { root, state, quarantine: new Quarantine(state, absent, [root]) }
}

test('what comes into being while no command is in the room is the person’s, also at the end of the room', () => {
  const { root, quarantine } = ground()
  quarantine.enter()
  quarantine.leave()
  expect(quarantine.isOutdated()).toBe(false)
  mkdirSync(join(root, '.github'))
  expect(quarantine.isOutdated()).toBe(false)
  mkdirSync(join(root, '.vscode'))
  expect(quarantine.isOutdated()).toBe(true)
  quarantine.lookLast()
  expect(existsSync(join(root, '.vscode'))).toBe(true)
})

test('what appeared when the last command left is set aside, and told with the next look', () => {
  const { root, state, quarantine } = ground()
  quarantine.enter()
  mkdirSync(join(root, '.github'))
  writeFileSync(join(root, '.github/copilot-instructions.md'), '')
  mkdirSync(join(root, '.vscode'))
  quarantine.leave()
  expect([
    readdirSync(root),
    readdirSync(join(root, '.github')),
    readdirSync(join(state, 'quarantine')).length,
  ]).toEqual([['.github'], [], 2])
  expect(quarantine.look().map(({ path }) => path)).toEqual([
    join(root, '.vscode'),
    join(root, '.github/copilot-instructions.md'),
  ])
  expect(quarantine.look()).toEqual([])
})

test('a second change within one tick of the file system’s clock is seen', () => {
  const { root, quarantine } = ground()
  quarantine.enter()
  for (let round = 0; round < 20; round++) {
    mkdirSync(join(root, '.vscode'))
    expect(quarantine.look().length).toBe(1)
  }
})

test('what appears in a directory of many files, or beside a name that is not ASCII, is set aside', () => {
  for (const names of [Array.from({ length: 600 }, (_, at) => `file${at}`), ['größe.txt'], ['.VSCODE']]) {
    const { root, quarantine } = ground()
    for (const name of names) writeFileSync(join(root, name), '')
    quarantine.enter()
    for (let round = 0; round < 3; round++) {
      mkdirSync(join(root, '.vscode'))
      expect(quarantine.look().map(({ path }) => path)).toEqual([join(root, '.vscode')])
    }
    expect(readdirSync(root).length).toBe(names.length)
  }
})

test('a repository whose look was left out is still a command’s when the next command has begun', async () => {
  const { root, quarantine } = ground()
  quarantine.enter()
  quarantine.look()
  const dot = join(root, 'sub', '.git')
  mkdirSync(dot, { recursive: true })
  writeFileSync(join(dot, 'config'), '[core] fsmonitor=evil\n[user]\n\tname = a\n')
  // A moment after the last look: repositories are not looked for again.
  quarantine.leave()
  await passed(120) // More than a tick of the file system's clock.
  quarantine.enter()
  quarantine.leave()
  quarantine.lookLast()
  expect(readFileSync(join(dot, 'config'), 'utf8')).toBe('[user]\n\tname = "a"\n')
})

test('many directories beside it hide no repository', () => {
  const { root, quarantine } = ground()
  quarantine.enter()
  for (let at = 0; at < 300; at++) mkdirSync(join(root, `d${at}`))
  const dot = join(root, 'z', '.git')
  mkdirSync(dot, { recursive: true })
  writeFileSync(join(dot, 'config'), '[core] fsmonitor=evil\n')
  quarantine.leave()
  expect(existsSync(join(dot, 'config'))).toBe(false)
})

test('what could not be set aside is tried again with the next look', () => {
  const { root, state, quarantine } = ground()
  quarantine.enter()
  writeFileSync(join(state, 'quarantine'), 'no directory')
  mkdirSync(join(root, '.vscode'))
  expect(quarantine.look().map(({ movedTo }) => movedTo)).toEqual([null])
  rmSync(join(state, 'quarantine'))
  quarantine.leave()
  expect(existsSync(join(root, '.vscode'))).toBe(false)
})

test('a command that hides a repository among more directories than are looked into is told of', () => {
  const root = join(temporaryFolder(), 'root')
  mkdirSync(root)
  const quarantine = new Quarantine(
    join(temporaryFolder(), 'state'),
    [],
    [root],
    [],
    new NestedRepositories([root], 10),
  )
  quarantine.enter()
  for (let at = 0; at < 12; at++) mkdirSync(join(root, `d${at}`))
  quarantine.leave()
  expect(quarantine.look().map(({ why }) => why)).toEqual([expect.stringContaining('more directories than')])
})

test('directories that a repository keeps for submodules and worktrees count among those that are looked into', () => {
  for (const name of ['modules', 'worktrees']) {
    const root = join(temporaryFolder(), 'root')
    const dot = join(root, 'sub', '.git')
    mkdirSync(dot, { recursive: true })
    writeFileSync(join(dot, 'HEAD'), 'ref: refs/heads/main')
    const nested = new NestedRepositories([root], 10)
    for (let at = 0; at < 12; at++) mkdirSync(join(dot, name, `d${at}`), { recursive: true })
    nested.look()
    expect([name, nested.isBeyond]).toEqual([name, true])
  }
})

test('of what a command made in thousands some are told one by one, and how many the others are', () => {
  const { root, quarantine } = ground()
  quarantine.enter()
  for (let at = 0; at < 60; at++) mkdirSync(join(root, `d${at}`, '.git'), { recursive: true })
  quarantine.leave()
  const told = quarantine.look()
  expect([told.length, told.at(-1)?.path]).toEqual([51, '10 more'])
})
