import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { createKeyFile, openVault, VaultError } from '../../src/vault/vault.js'
import { temporaryFolder } from '../fixtures/folder.js'

const cost = { N: 2 ** 10, r: 8, p: 1 }
const passphrase = 'correct horse battery staple'
let dir: string
let file: string
beforeEach(() => {
  dir = temporaryFolder('vault')
  file = join(dir, 'vault')
})

const open = (options: object = {}) => openVault({ file, passphrase, cost, ...options })
const failure = async (promise: Promise<unknown>) =>
  promise.then(
    () => 'opened',
    (error: unknown) => (error instanceof VaultError ? error.vaultCode : error),
  )

describe('the vault keeps secrets', () => {
  test('REF-05: a value comes back byte for byte after reopening, and only its name is listed', async () => {
    const value = Uint8Array.from({ length: 256 }, (_, index) => index)
    await (await open()).set('api-key', value)
    const vault = await open()
    expect(await vault.get('api-key')).toEqual(value)
    expect(await vault.lookup('decrypt', 'api-key')).toEqual(value)
    expect((await vault.list()).map(({ name }) => name)).toEqual(['api-key'])
    expect(JSON.stringify(await vault.list())).not.toContain(Buffer.from(value).toString('base64'))
  })

  test('neither a value nor a name is readable in the file, which is private whatever the umask', async () => {
    const before = process.umask(0)
    try {
      await (await open()).set('very-visible-name', 'very-visible-value')
    } finally {
      process.umask(before)
    }
    const text = readFileSync(file, 'latin1')
    expect(text).not.toContain('very-visible')
    expect(text).not.toContain(Buffer.from('very-visible-value').toString('base64').slice(0, 20))
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(dir)).toEqual(['vault'])
  })

  test('set replaces and keeps the date of creation, remove says whether there was something', async () => {
    const vault = await open()
    await vault.set('a', 'one-value')
    const [first] = await vault.list()
    await vault.set('a', 'two-value')
    expect(Buffer.from((await vault.get('a')) ?? []).toString()).toBe('two-value')
    expect((await vault.list())[0]?.created).toBe(first?.created)
    expect([await vault.remove('a'), await vault.remove('a')]).toEqual([true, false])
  })

  test('names that are properties of every object are ordinary names', async () => {
    const vault = await open()
    expect(await vault.get('constructor')).toBeUndefined()
    await vault.set('__proto__', 'value-of-proto')
    expect(Buffer.from((await (await open()).get('__proto__')) ?? []).toString()).toBe('value-of-proto')
  })

  test('a name that no token could reach is refused', async () => {
    expect(await failure((await open()).set('two words', 'x'))).toBe('VAULT_UNSAFE')
  })
})

describe('what can be wrong with a vault has three different names, and never costs the file', () => {
  test('a wrong passphrase', async () => {
    await (await open()).set('a', 'value')
    const before = readFileSync(file)
    expect(await failure(open({ passphrase: 'wrong' }))).toBe('VAULT_WRONG_KEY')
    expect(readFileSync(file)).toEqual(before)
  })

  test('every truncation is told as such', async () => {
    await (await open()).set('a', 'value-that-is-long-enough')
    const whole = readFileSync(file)
    for (let length = 0; length < whole.length - 1; length += 3) {
      writeFileSync(file, whole.subarray(0, length))
      expect(await failure(open()), `cut at ${length}`).toBe('VAULT_TRUNCATED')
      expect(readFileSync(file).length).toBe(length)
    }
  })

  test('every changed byte is noticed', async () => {
    await (await open()).set('a', 'value')
    const whole = readFileSync(file)
    const outcomes = new Set<unknown>()
    for (let at = 0; at < whole.length - 1; at++) {
      const changed = Buffer.from(whole)
      changed[at] = (changed[at] as number) ^ 1
      writeFileSync(file, changed)
      outcomes.add(await failure(open()))
    }
    expect(outcomes).not.toContain('opened')
    for (const outcome of outcomes) expect(['VAULT_TAMPERED', 'VAULT_TRUNCATED', 'VAULT_WRONG_KEY']).toContain(outcome)
  })

  test('a header that asks for absurd work is refused before the work', async () => {
    await (await open()).set('a', 'value')
    writeFileSync(file, readFileSync(file, 'utf8').replace('"N":1024', '"N":1073741824'))
    expect(await failure(open())).toBe('VAULT_TAMPERED')
  })

  test('F67: a vault that is a symbolic link, or that others may read, is refused', async () => {
    await (await open()).set('a', 'value')
    chmodSync(file, 0o644)
    expect(await failure(open())).toBe('VAULT_UNSAFE')
    chmodSync(file, 0o600)
    symlinkSync(file, join(dir, 'link'))
    expect(await failure(open({ file: join(dir, 'link') }))).toBe('VAULT_UNSAFE')
  })
})

describe('keys', () => {
  test('a key file opens what it sealed, another does not, and a public one is refused', async () => {
    const [one, two] = [join(dir, 'one'), join(dir, 'two')]
    await createKeyFile(one)
    await createKeyFile(two)
    await (await open({ passphrase: undefined, keyFile: one })).set('a', 'value')
    expect(await failure(open({ passphrase: undefined, keyFile: one }))).toBe('opened')
    expect(await failure(open({ passphrase: undefined, keyFile: two }))).toBe('VAULT_WRONG_KEY')
    expect(await failure(open())).toBe('VAULT_WRONG_KEY')
    chmodSync(one, 0o640)
    expect(await failure(open({ passphrase: undefined, keyFile: one }))).toBe('VAULT_UNSAFE')
    await expect(createKeyFile(two)).rejects.toThrow('EEXIST')
  })

  test('without any key it says what is missing', async () => {
    expect(await failure(open({ passphrase: undefined }))).toBe('VAULT_NO_KEY')
    expect(await failure(open({ passphrase: '' }))).toBe('VAULT_NO_KEY')
    expect(await failure(open({ passphrase: undefined, keyFile: join(dir, 'absent') }))).toBe('VAULT_NO_KEY')
  })
})

test('F63: a writer that is killed at any moment leaves a whole vault', async () => {
  const keyFile = join(dir, 'key')
  await createKeyFile(keyFile)
  await (await open({ passphrase: undefined, keyFile })).set('first', 'value')
  const script = `import { openVault } from ${JSON.stringify(new URL('../../src/vault/vault.ts', import.meta.url).href)}
    const vault = await openVault({ file: process.env.VAULT, keyFile: process.env.KEY })
    console.log('ready')
    for (let n = 0; ; n++) await vault.set('n' + n % 5, 'x'.repeat(5000))`
  const loader = join(dir, 'writer.mts')
  writeFileSync(loader, script)
  const { build } = await import('vite')
  await build({
    logLevel: 'silent',
    configFile: false,
    build: { ssr: loader, outDir: join(dir, 'out'), rollupOptions: { output: { entryFileNames: 'writer.mjs' } } },
  })
  for (const delayMs of [3, 11, 23]) {
    const child = spawn(process.execPath, [join(dir, 'out', 'writer.mjs')], {
      env: { ...process.env, VAULT: file, KEY: keyFile },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    await new Promise((resolve) => setTimeout(resolve, delayMs))
    child.kill('SIGKILL')
    await once(child, 'close')
    const vault = await open({ passphrase: undefined, keyFile })
    expect(Buffer.from((await vault.get('first')) ?? []).toString()).toBe('value')
    await vault.set('after', 'works')
  }
  expect(readdirSync(dir).filter((name) => name.includes('vault'))).toEqual(['vault'])
})

describe('F81: two writers', () => {
  test('concurrent writes through two openings all survive', async () => {
    const vaults = [await open(), await open()]
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        (vaults[index % 2] as (typeof vaults)[number]).set(`n${index}`, `value-${index}`),
      ),
    )
    expect((await (await open()).list()).length).toBe(12)
    expect(readdirSync(dir)).toEqual(['vault'])
  })

  test('a lock of a process that is gone is taken over, one of a living process is respected', async () => {
    const gone = spawn('true')
    await once(gone, 'exit')
    writeFileSync(`${file}.lock`, `${gone.pid} 1 x\n`)
    await (await open()).set('a', 'value')
    const started = readFileSync(`/proc/${process.pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19]
    writeFileSync(`${file}.lock`, `${process.pid} ${started} someone-else\n`)
    expect(await failure((await open({ lockWaitMs: 60 })).set('b', 'value'))).toBe('VAULT_LOCKED')
    expect(readFileSync(`${file}.lock`, 'utf8')).toContain('someone-else')
  })

  test('a directory that cannot be written leaves the vault as it was', async () => {
    await (await open()).set('a', 'value')
    const before = readFileSync(file)
    const vault = await open({ file: join(dir, 'vault', 'impossible') }).catch((error: unknown) => error)
    expect(vault).toBeInstanceOf(VaultError)
    expect(readFileSync(file)).toEqual(before)
    const other = await open({ file: join(dir, 'later', 'vault') })
    writeFileSync(join(dir, 'later'), '')
    expect(await failure(other.set('a', 'value'))).toBe('VAULT_IO')
  })
})

test('F63: the empty lock draft of a writer that was killed before it filled it is swept, one of a living writer stays', async () => {
  const vault = await open()
  const dead = spawn('true', { stdio: 'ignore' })
  await once(dead, 'exit')
  writeFileSync(`${file}.lock.${dead.pid}.01234567`, '')
  writeFileSync(`${file}.lock.${process.pid}.01234567`, '')
  await vault.set('name', 'value')
  expect(readdirSync(dir).filter((name) => name.includes('vault'))).toEqual([
    'vault',
    `vault.lock.${process.pid}.01234567`,
  ])
})
