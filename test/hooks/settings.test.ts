/** The hook goes into settings files and out again, and every other byte stays. */
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { HOOK_HOSTS, type HookHostName } from '../../src/hooks/hosts/index.js'
import { parseJson } from '../../src/hooks/jsonc.js'
import { apply, install, isInstalled, settingsFile, uninstall } from '../../src/hooks/settings.js'
import { temporaryFolder } from '../fixtures/folder.js'

let home: string
beforeEach(() => void (home = temporaryFolder('settings')))

const placeOf = (name: HookHostName) => {
  const host = HOOK_HOSTS[name]
  const where = { home, cwd: home, env: {} }
  return { host, name, file: settingsFile(host, 'user', where) ?? (settingsFile(host, 'project', where) as string) }
}
const command = (name: HookHostName): string => `/usr/bin/node /opt/cerith/dist/cli.cjs hook ${name}`

const OTHER_HOOKS = `{
  "hooks": {
    "PreToolUse": [
      { "matcher": "Write", "hooks": [{ "type": "command", "command": "./fmt.sh" }] }
    ],
    "BeforeTool": [
    ]
  }
}
`
const COMMENTS = `// mine
{
  "theme": "dark", // night
  /* hooks */
  "hooks": {
    "PreToolUse": [
      { "matcher": "Edit", "hooks": [] }, // last
    ],
  },
}
`

const FILES: readonly (readonly [string, string])[] = [
  ['an empty file', ''],
  ['an empty object', '{}'],
  ['an empty object on two lines', '{\n}\n'],
  ['other settings', '{\n  "model": "x",\n  "permissions": { "allow": ["Bash(ls)"] }\n}\n'],
  ['tabs and no last newline', '{\n\t"model": "x"\n}'],
  ['one line with empty hooks', '{"model":"x","hooks":{}}'],
  ['other hooks of the same event', OTHER_HOOKS],
  ['comments and trailing commas', COMMENTS],
  ['a byte order mark and CRLF', '\uFEFF{\r\n  "a": 1\r\n}\r\n'],
]

describe.each(Object.keys(HOOK_HOSTS) as HookHostName[])('%s', (name) => {
  test.each(FILES)('in and out, twice, leaves %s byte for byte', (_, before) => {
    const place = placeOf(name)
    mkdirSync(dirname(place.file), { recursive: true })
    writeFileSync(place.file, before)
    for (let round = 0; round < 2; round++) {
      apply(install(place, command(name)))
      const once = readFileSync(place.file, 'utf8')
      expect(isInstalled(place)).toBe(true)
      expect(() => parseJson(once)).not.toThrow()
      expect(install(place, command(name)).what).toBe('already there')
      apply(install(place, command(name)))
      expect(readFileSync(place.file, 'utf8')).toBe(once)
      apply(uninstall(place, command(name)))
      expect(readFileSync(place.file, 'utf8')).toBe(before)
      expect(uninstall(place, command(name)).what).toBe('not there')
      expect(existsSync(`${place.file}.before-cerith`)).toBe(false)
    }
  })

  test('a file that was not there is gone again', () => {
    const place = placeOf(name)
    apply(install(place, command(name)))
    expect(JSON.parse(readFileSync(place.file, 'utf8'))).toMatchObject({ hooks: expect.anything() as object })
    expect(statSync(place.file).mode & 0o777).toBe(0o600)
    apply(uninstall(place, command(name)))
    expect(existsSync(place.file)).toBe(false)
  })

  test('what a person changed meanwhile stays, and only our entry goes', () => {
    const place = placeOf(name)
    mkdirSync(dirname(place.file), { recursive: true })
    writeFileSync(place.file, OTHER_HOOKS)
    apply(install(place, command(name)))
    writeFileSync(place.file, readFileSync(place.file, 'utf8').replace('"hooks": {', '"added": "later",\n  "hooks": {'))
    apply(uninstall(place, command(name)))
    const left = JSON.parse(readFileSync(place.file, 'utf8')) as Record<string, unknown>
    expect(left).toMatchObject({ added: 'later', hooks: { PreToolUse: [{ matcher: 'Write' }] } })
    expect(JSON.stringify(left)).not.toContain('cli.cjs')
  })

  test('other options replace the entry', () => {
    const place = placeOf(name)
    apply(install(place, command(name)))
    apply(install(place, `${command(name)} --auto-allow readonly`))
    const text = readFileSync(place.file, 'utf8')
    expect(text.match(/cli\.cjs/g)).toHaveLength(HOOK_HOSTS[name].settings.entries('').length)
    expect(text).toContain('--auto-allow readonly')
  })

  test('a broken file is refused with its line and left as it is', () => {
    const place = placeOf(name)
    mkdirSync(dirname(place.file), { recursive: true })
    for (const broken of ['{\n  "a": 1\n  "b": 2\n}', '[]', '{"hooks": []}', '{"hooks": {"x": 1}', 'nonsense']) {
      writeFileSync(place.file, broken)
      expect(() => install(place, command(name))).toThrow(expect.objectContaining({ code: 'BAD_CONFIG' }) as Error)
      expect(readFileSync(place.file, 'utf8')).toBe(broken)
    }
  })
})

test('a link to the settings stays a link, and its file keeps its mode', () => {
  const place = placeOf('claude-code')
  mkdirSync(dirname(place.file), { recursive: true })
  const real = join(home, 'dotfiles.json')
  writeFileSync(real, '{}\n', { mode: 0o640 })
  symlinkSync(real, place.file)
  apply(install(place, command('claude-code')))
  expect(readFileSync(real, 'utf8')).toContain('cli.cjs')
  expect(statSync(real).mode & 0o777).toBe(0o640)
  apply(uninstall(place, command('claude-code')))
  expect(readFileSync(real, 'utf8')).toBe('{}\n')
})

test('an entry of an earlier version, which says `claude`, is replaced and removed', () => {
  const place = placeOf('claude-code')
  mkdirSync(dirname(place.file), { recursive: true })
  const old = '/usr/bin/node /opt/cerith/dist/cli.cjs hook claude --wrap'
  writeFileSync(place.file, JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: old }] }] } }))
  apply(install(place, command('claude-code')))
  expect(readFileSync(place.file, 'utf8').match(/cli\.cjs hook [\w-]+/g)).toEqual(['cli.cjs hook claude-code'])
  apply(uninstall(place, command('claude-code')))
  expect(readFileSync(place.file, 'utf8')).not.toContain('cerith')
})

test('the folder that a host names by its variable is used', () => {
  const env = { CLAUDE_CONFIG_DIR: '/c', CODEX_HOME: '/x' }
  const at = (name: HookHostName, scope: 'user' | 'project') =>
    settingsFile(HOOK_HOSTS[name], scope, { home, cwd: '/p', env })
  expect(at('claude-code', 'user')).toBe('/c/settings.json')
  expect(at('codex', 'user')).toBe('/x/hooks.json')
  expect(at('codex', 'project')).toBe('/p/.codex/hooks.json')
})
