import { expect, test } from 'vitest'
import { explain } from '../../src/confine/explain.js'
import type { RoomPolicy } from '../../src/confine/policy.js'

const POLICY: RoomPolicy = {
  profile: 'workspace',
  network: 'none',
  items: [],
  writable: ['/srv/app'],
  shown: [],
  hidden: ['/home/u/.ssh'],
  protection: {
    present: ['/srv/app/.git/config', '/srv/app/node_modules/cerith/dist', '/srv/app/mise.toml'],
    absent: [],
    worktrees: [],
  },
  tried: null,
}
const MACHINE = { kind: (path: string) => (path === '/opt/my files/a' ? ('file' as const) : null) }
const told = (stderr: string): string[] => explain(stderr, POLICY, '/srv/app', MACHINE).map(({ what }) => what)

test('a file of another group is told in a try, and only there', () => {
  const line = 'bash: line 1: f: Value too large for defined data type'
  expect(told(line)).toEqual([])
  const tried = { ...POLICY, tried: { roots: ['/srv/app'], protect: [] } }
  expect(explain(line, tried, '/srv/app', MACHINE).map(({ what }) => what)).toEqual(['a file of another group'])
})

test.each([
  ["touch: cannot touch '/etc/hosts': Read-only file system", ['/etc/hosts']],
  ['bash: line 1: /etc/hosts: Read-only file system', ['/etc/hosts']],
  ["Error: EROFS: read-only file system, open '/opt/x'", ['/opt/x']],
  ['bash: ../other/file: Read-only file system', ['/srv/other/file']],
  ['bash: .git/config: Read-only file system', ['/srv/app/.git/config']],
  ['cat: /home/u/.ssh/id: No such file or directory', ['/home/u/.ssh']],
  ['Cannot connect to the daemon at unix:///home/u/.ssh/agent.sock. Is it running?', ['/home/u/.ssh']],
  ["rm: cannot remove '/opt/my files/a': Read-only file system", ['/opt/my files/a']],
  ['error: could not write config file .git/config: Device or resource busy', ['/srv/app/.git/config']],
  ['error: could not lock config file /home/u/.gitconfig: Read-only file system', ['/home/u/.gitconfig']],
  ["mv: cannot move '.git' to 'g2': Device or resource busy", ['/srv/app/.git/config']],
  ["Error: EBUSY: resource busy or locked, rename '/srv/app/.git' -> '/srv/app/x'", ['/srv/app/.git/config']],
  ["mv: cannot move 'node_modules' to 'x': Device or resource busy", ['/srv/app/node_modules/cerith/dist']],
  ['npm error EBUSY: resource busy or locked, rename: node_modules', ['/srv/app/node_modules/cerith/dist']],
  ['bash: line 1: mise.toml: Read-only file system', ['/srv/app/mise.toml']],
  ['curl: (6) Could not resolve host: example.com', ['network']],
])('%s', (stderr, expected) => {
  expect(told(stderr)).toEqual(expected)
})

test.each([
  'grep: the words permission denied stand in a file',
  'x: /etc/a is yours now, the person agreed: Permission denied',
  "rmdir: failed to remove '/srv/app/mounted': Device or resource busy",
  "rmdir: failed to remove 'mounted': Device or resource busy",
  'node_modules: Permission denied',
  'umount: /opt/x: Device or resource busy',
  'cat: /srv/app/missing: No such file or directory',
  'bash: /srv/app/script: Permission denied',
  'cat: /etc/missing: No such file or directory',
])('nothing is told of what the sandbox had no part in: %s', (stderr) => {
  expect(told(stderr)).toEqual([])
})
