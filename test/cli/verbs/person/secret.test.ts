/** `cerith secret` and `cerith audit`: values go in by stdin or prompt, come out masked, and are never written down. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeWorld } from '../../harness.js'

const VALUE = 'hunter2-"quoted" $(id)'

describe('the vault', () => {
  const world = makeWorld()
  const env = { CERITH_PASSPHRASE: 'correct horse' }
  const cli = world.with({ env })

  test('takes a value from stdin, lists names only, and a command can use it without showing it', async () => {
    expect(await world.with({ env, stdin: `${VALUE}\n` })('secret', 'set', 'API_KEY')).toMatchObject({
      code: 0,
      out: 'Set API_KEY; use it as {{secret:API_KEY}}.\n',
    })
    const list = await cli('secret', 'list')
    expect(list.out).toContain('API_KEY')
    expect(list.out).not.toContain('hunter2')
    const { code, out } = await cli('run', 'printf "%s" {{secret:API_KEY}} | wc -c; echo {{secret:API_KEY}}')
    expect({ code, out }).toEqual({ code: 0, out: `${VALUE.length}\n[secret:API_KEY]\n` })
  })

  test('leaves the value nowhere in the state directory, and the audit log has the token', async () => {
    const log = readFileSync(join(world.home, 'audit.jsonl'), 'utf8')
    expect(log).toContain('{{secret:API_KEY}}')
    for (const file of readdirSync(world.home, { recursive: true, withFileTypes: true }))
      if (file.isFile())
        expect(readFileSync(join(file.parentPath, file.name)).includes('hunter2'), file.name).toBe(false)
    expect(statSync(join(world.home, 'vault')).mode & 0o777).toBe(0o600)
  })

  test('the pass phrase never reaches a command', async () => {
    expect((await cli('run', 'env; cat /proc/self/environ')).out).not.toContain('correct horse')
  })

  test('a wrong pass phrase is told, and a locked vault is an error, not an empty one', async () => {
    const wrong = await world.with({ env: { CERITH_PASSPHRASE: 'wrong' } })('run', '--json', 'echo {{secret:API_KEY}}')
    expect(wrong.code).toBe(125)
    expect(JSON.parse(wrong.out)).toMatchObject({ status: 'error', error: { code: 'VAULT' } })
    expect((await world.cli('run', 'echo {{secret:API_KEY}}')).err).toContain('locked')
    expect((await world.cli('run', 'echo no token')).out).toBe('no token\n')
  })

  test('a person at a terminal is asked for what is missing', async () => {
    expect((await world.with({ tty: true, types: ['correct horse'] })('run', 'echo {{secret:API_KEY}}')).out).toBe(
      '[secret:API_KEY]\n',
    )
    expect(
      (await world.with({ tty: true, types: ['correct horse', 'typed value'] })('secret', 'set', 'TYPED')).code,
    ).toBe(0)
    expect((await cli('run', 'printf %s {{secret:TYPED}} | wc -c')).out).toBe('11\n')
  })

  test('remove forgets; unknown names, empty values and short ones are said', async () => {
    expect((await cli('secret', 'remove', 'TYPED')).code).toBe(0)
    expect((await cli('secret', 'remove', 'TYPED')).code).toBe(1)
    expect((await world.with({ env, stdin: '' })('secret', 'set', 'EMPTY')).code).toBe(125)
    expect((await world.with({ env, stdin: 'abc' })('secret', 'set', 'SHORT')).err).toContain('too short to be masked')
    // White space around it and runs of it do not make it longer.
    const blank = await world.with({ env, stdin: 'a    b  \n' })('secret', 'set', 'BLANK', '--json')
    expect(blank.err).toContain('too short to be masked')
    expect(JSON.parse(blank.out)).toMatchObject({ masked: false })
    const plain = async (value: string) => (await world.with({ env, stdin: value })('secret', 'set', 'PLAIN')).err
    expect(await plain('production')).toContain(
      'a plain word or number; output that holds it by chance will read [secret:PLAIN]',
    )
    expect(await plain('12345678\n')).toContain('a plain word or number')
    expect(await plain('hunter2!')).toBe('')
    expect((await cli('secret', 'set')).code).toBe(125)
    expect((await cli('secret', 'show', 'API_KEY')).code).toBe(125)
    expect((await world.with({ env, stdin: 'x' })('secret', 'set', 'bad name!')).code).toBe(125)
    expect(JSON.parse((await cli('secret', 'list', '--json')).out).secrets).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: 'SHORT' })]),
    )
  })

  test('values come from the environment and from programs where the user says so', async () => {
    const config = world.with({ env: { HOST_TOKEN: 'from-the-host' } })
    expect(
      (
        await config(
          'run',
          '--set',
          'secrets.environment={"T": "HOST_TOKEN"}',
          '--set',
          'secrets.commands={"P": ["printf", "from-a-program"]}',
          'printf %s {{secret:T}}{{secret:P}} | wc -c; echo {{secret:T}}',
        )
      ).out,
    ).toBe('27\n[secret:T]\n')
  })
})

describe('a key file', () => {
  const world = makeWorld()

  test('opens the vault without a pass phrase', async () => {
    expect((await world.cli('secret', 'list')).out).toBe('No secrets.\n')
    expect((await world.with({ stdin: 'value-of-it' })('secret', 'set', 'X')).code).toBe(125)
    expect((await world.cli('secret', 'key')).out).toContain('Keep a copy')
    expect((await world.cli('secret', 'key')).out).toContain('already')
    expect((await world.with({ stdin: 'value-of-it' })('secret', 'set', 'X')).code).toBe(0)
    expect((await world.cli('run', 'echo {{secret:X}}')).out).toBe('[secret:X]\n')
    expect((await world.cli('run', `cat ${world.home}/vault.key`)).code).toBe(126)
    expect((await world.cli('run', 'cat $CERITH_HOME/vault.key')).code).toBe(126)
    expect((await world.cli('run', '--session', 'thief', 'cat "${CERITH_HOME}/vault.key"')).code).toBe(126)
  })
})

describe('audit', () => {
  const world = makeWorld()
  const { cli } = world

  test('shows what was run and refused, by time and number, and verifies', async () => {
    expect((await cli('audit')).out).toBe('Nothing yet.\n')
    await cli('run', 'echo one')
    await cli('run', 'exit 3')
    await cli('run', 'mkfs.ext4 /dev/sda')
    await cli('run', '--session', 's', 'echo in session')
    const { out } = await cli('audit')
    expect(out).toMatch(/exit 0 .*echo one/)
    expect(out).toMatch(/exit 3 .*exit 3/)
    expect(out).toMatch(/refused .*mkfs/)
    // A command that takes longer than a moment has a line of its own when it starts.
    const linesOf = async (...argv: string[]) =>
      (await cli('audit', ...argv, '--json')).out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    const all = await linesOf()
    const entries = all.filter(({ kind }) => kind !== 'start')
    expect(entries).toHaveLength(4)
    expect(entries[2]).toMatchObject({
      door: 'cli',
      kind: 'refused',
      decision: 'deny',
      command: 'mkfs.ext4 /dev/sda',
      cwd: world.dir,
      bytes: 0,
    })
    expect(entries[3]).toMatchObject({ session: 's', status: 'completed' })
    expect(await linesOf('--last', '1')).toHaveLength(1)
    expect(await linesOf('--refused')).toHaveLength(1)
    expect(await linesOf('--since', '1h')).toHaveLength(all.length)
    expect(await cli('audit', '--verify')).toMatchObject({
      code: 0,
      out: expect.stringContaining(`Intact: ${all.length} lines`),
    })
    expect(JSON.parse((await cli('audit', '--verify', '--json')).out)).toMatchObject({
      intact: true,
      lines: all.length,
    })
  })

  test('a changed line makes verify exit with 1', async () => {
    const file = join(world.home, 'audit.jsonl')
    const { writeFileSync } = await import('node:fs')
    writeFileSync(file, readFileSync(file, 'utf8').replace('mkfs.ext4', 'ls -l -----'))
    expect(await cli('audit', '--verify')).toMatchObject({ code: 1, out: expect.stringContaining('NOT INTACT') })
  })

  test('can be switched off by the user', async () => {
    const before = (await cli('audit', '--json')).out
    await world.with({ env: { CERITH_AUDIT: 'off' } })('run', 'echo unseen')
    expect((await cli('audit', '--json')).out).toBe(before)
  })
})
