/**
 * What belongs to cerith itself: neither changed nor, where it holds secrets, read; and everyday work beside it goes
 * on. Nothing of these tables ever runs.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { inspect } from '../../../src/guard/inspect.js'
import type { GuardContext } from '../../../src/guard/policy/context.js'
import { compilePolicy } from '../../../src/guard/policy/policy.js'

const state = '/home/u/.local/state/cerith'
const FILES = ['vault', 'vault.key', 'http-tokens', 'audit.jsonl', 'audit.head', 'jobs'].map(
  (name) => `${state}/${name}`,
)
const THERE = new Set(['/home', '/home/u', '/home/u/proj', '/home/u/.local', '/home/u/.local/state', state, ...FILES])

/** A repository without a configuration of its own, as most are, and a machine on which cerith has worked before. */
const context: GuardContext = {
  cwd: '/home/u/proj',
  home: '/home/u',
  tmp: '/tmp',
  protectedPaths: [state, '/home/u/.config/cerith/config.json', '/home/u/proj/cerith.config.json'],
  unreadablePaths: FILES.slice(0, 3),
  resolveSymlink: (path) => (THERE.has(path) ? path : undefined),
}

function commands(file: string): string[] {
  return readFileSync(new URL(`../variants/${file}`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replaceAll('␤', '\n'))
}

describe('files of cerith', () => {
  test.each(['open', 'careful', 'readonly'] as const)('are safe in the preset %s', (preset) => {
    const policy = compilePolicy({ preset })
    const others = commands('own-deny.txt').filter(
      (command) => inspect(command, { ...context, policy }).decision !== 'deny',
    )
    expect(others).toEqual([])
  })

  test('do not stand in the way of everyday work', () => {
    const others = commands('own-allow.txt').flatMap((command) => {
      const { decision, rule, reason } = inspect(command, context)
      return decision === 'allow' ? [] : [`${command} -> ${rule}: ${reason}`]
    })
    expect(others).toEqual([])
  })

  test('are not read through a link in the directory', () => {
    const links: Readonly<Record<string, string>> = {
      '/home/u/proj/l': state,
      '/home/u/proj/l/vault.key': FILES[1] ?? '',
    }
    const linked: GuardContext = { ...context, resolveSymlink: (path) => links[path] ?? context.resolveSymlink?.(path) }
    const through = [
      'cat l/vault.key',
      'cat l/*',
      'head -c 9 ./l/v*',
      'cd l && cat vault.key',
      'grep -r . l',
      'cp -r l y',
    ]
    for (const command of [...through, 'tar cf - l', 'base64 l/vault.key', 'cat < l/vault.key'])
      expect([command, inspect(command, linked).rule]).toEqual([command, 'protected-path'])
    expect(inspect('cat vault.key', { ...linked, cwd: '/home/u/proj/l' }).rule).toBe('protected-path')
    for (const command of ['cat l/config', 'grep -rn x src', 'cp -r src y', 'cat *.md', 'cat vault.key'])
      expect([command, inspect(command, linked).decision]).toEqual([command, 'allow'])
  })

  test.each([
    `du --f=${state}/vault`,
    `file --f=${state}/vault`,
    `file -m ${state}/vault x`,
    `file --magic-file=${state}/vault x`,
    `grep -nd recurse . ${state}`,
    `grep --di=recurse . ${state}`,
    `grep --der . ${state}`,
    `/bin/cp -r ${state} x`,
    `/usr/bin/grep -r . ${state}`,
    `/usr/bin/du --files0-from=${state}/vault`,
  ])('are not read by %s', (command) => expect(inspect(command, context).rule).toBe('protected-path'))

  test('are not read where they lie by an option that holds the name, or as all that is here', () => {
    const beside = { ...context, cwd: state }
    for (const command of ['date -fvault', 'grep -nfvault x', 'sed -fv* x', 'tar cz .', 'grep -r x', 'cp -r . /tmp/x'])
      expect([command, inspect(command, beside).rule]).toEqual([command, 'protected-path'])
    expect(inspect('grep -rf a src', context).decision).toBe('allow')
  })

  test('an allow rule of the person does not open the vault', () => {
    const policy = compilePolicy({ rules: [{ decision: 'allow', commands: ['cat', 'cp'] }] })
    expect(inspect(`cat ${state}/vault.key`, { ...context, policy }).rule).toBe('protected-path')
  })
})

test('the message names the variable that is unset, and how to be safe', () => {
  for (const command of ['rm -rf "$BUILD/"*', 'rm -rf $BUILD/*', 'rm -rf "${BUILD}"/']) {
    const { decision, reason, guidance } = inspect(command, { cwd: '/home/u/proj', home: '/home/u' })
    expect([command, decision]).toEqual([command, 'deny'])
    expect(reason).toContain('if BUILD is unset or empty')
    expect(guidance).toContain('${BUILD:?}')
  }
  expect(inspect('rm -rf "${BUILD:?}/"*', { cwd: '/home/u/proj', home: '/home/u' }).decision).toBe('allow')
})
