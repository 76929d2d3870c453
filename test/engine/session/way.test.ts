/** The one choice between the ways to have a command done. */
import { expect, test } from 'vitest'
import type { CallText } from '../../../src/engine/session/lines/call-text.js'
import { chooseWay, type Way } from '../../../src/engine/session/lines/way.js'

const USUAL: CallText = {
  script: 'ls',
  whole: true,
  bare: false,
  stdin: '/dev/null',
  keepStdin: false,
  merged: false,
  redirects: [],
  cwd: null,
  env: {},
  secrets: null,
  status: 0,
  lastArgument: null,
  stages: null,
  traps: null,
  watchTraps: false,
  errTrap: false,
  prompts: false,
  xtrace: false,
  verbose: 'no',
  dumpFirst: null,
  inert: true,
  programs: null,
  native: true,
  hasBuiltin: true,
  traceFd: null,
  repairBuiltins: false,
}

const LS = { joint: ';', program: 'ls', words: 'ls -l', stderr: 'kept' } as const

test.each<readonly [Partial<CallText>, Way]>([
  [{}, 'native'],
  [{ inert: false }, 'native'],
  [{ whole: false }, 'native'],
  [{ bare: true }, 'sourced'],
  [{ status: 3 }, 'native'],
  [{ dumpFirst: 4, inert: false }, 'native'],
  [{ programs: [LS] }, 'native'],
  [{ programs: [LS], dumpFirst: 4 }, 'native'],
  [{ native: false }, 'sourced'],
  [{ hasBuiltin: false, programs: [LS] }, 'sourced'],
  [{ stdin: null }, 'sourced'],
  [{ stdin: '/some/file' }, 'sourced'],
  [{ keepStdin: true }, 'sourced'],
  [{ merged: true }, 'native'],
  [{ redirects: [{ fd: 1, path: '/x' }] }, 'native'],
  [{ cwd: '/x' }, 'sourced'],
  [{ env: { A: 'b' } }, 'sourced'],
  [{ secrets: { prelude: '', epilogue: '' } }, 'sourced'],
  [{ lastArgument: '' }, 'sourced'],
  [{ stages: [0, 1] }, 'sourced'],
  [{ traps: { exit: null, debug: null, return: null, listed: false, exitStays: false } }, 'sourced'],
  [{ watchTraps: true }, 'sourced'],
  [{ errTrap: true }, 'sourced'],
  [{ prompts: true }, 'sourced'],
  [{ xtrace: true }, 'sourced'],
  [{ verbose: 'begins' }, 'sourced'],
  [{ repairBuiltins: true }, 'sourced'],
])('a call with %j is %s', (what, way) => {
  expect(chooseWay({ ...USUAL, ...what })).toBe(way)
})
