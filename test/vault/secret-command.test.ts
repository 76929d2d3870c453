import { describe, expect, test } from 'vitest'
import { secretCommandSource } from '../../src/vault/secret-command.js'

const node = (code: string): [string, ...string[]] => [process.execPath, '-e', code]

describe('a value from a command of the host', () => {
  test('is its output without one final newline, and arguments are never expanded', async () => {
    const source = secretCommandSource({
      commands: { a: node("process.stdout.write('two\\n\\n')"), b: ['printf', '%s', '$HOME *'] },
    })
    expect(Buffer.from((await source.lookup('secret', 'a')) ?? []).toString()).toBe('two\n')
    expect(Buffer.from((await source.lookup('secret', 'b')) ?? []).toString()).toBe('$HOME *')
    expect(await source.lookup('secret', 'c')).toBeUndefined()
    expect(await source.lookup('secret', 'constructor')).toBeUndefined()
    expect(await source.lookup('decrypt', 'a')).toBeUndefined()
  })

  test('ENV-03: the command never sees the passphrase of the vault', async () => {
    const source = secretCommandSource({
      commands: { a: ['env'] },
      environment: {
        PATH: process.env.PATH,
        CERITH_PASSPHRASE: 'open sesame',
        LANGO_PASSPHRASE: 'open sesame',
        OTHER: 'kept',
      },
    })
    const seen = Buffer.from((await source.lookup('secret', 'a')) ?? []).toString()
    expect(seen).toContain('OTHER=kept')
    expect(seen).not.toContain('sesame')
  })

  test('a failing command is an error that shows nothing of what it printed', async () => {
    const source = secretCommandSource({
      commands: { a: node("console.log('half-a-secret'); console.error('half-a-secret'); process.exit(3)") },
    })
    const error = await source.lookup('secret', 'a').catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'SECRET_REFUSED', message: expect.stringContaining('exit code 3') })
    expect(String(error)).not.toContain('half-a-secret')
  })

  test('a command that hangs is ended with its children, also when a grandchild keeps the pipe', async () => {
    const source = secretCommandSource({ commands: { a: ['bash', '-c', 'setsid sleep 2 & sleep 2'] }, timeoutMs: 150 })
    await expect(source.lookup('secret', 'a')).rejects.toMatchObject({
      code: 'SECRET_REFUSED',
      message: expect.stringContaining('150 ms'),
    })
  })

  test('endless output and a missing program are clear errors', async () => {
    const source = secretCommandSource({ commands: { a: ['yes'], b: ['no-such-program-here'] }, maxBytes: 10_000 })
    await expect(source.lookup('secret', 'a')).rejects.toMatchObject({
      message: expect.stringContaining('10000 bytes'),
    })
    await expect(source.lookup('secret', 'b')).rejects.toMatchObject({ message: expect.stringContaining('ENOENT') })
  })
})
