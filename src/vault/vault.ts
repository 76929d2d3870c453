/**
 * Secrets that outlive the engine: one encrypted file, readable with a passphrase or a key file.
 * Whatever goes wrong, the file survives.
 */
import { constants } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { isSecretName, type SecretSource } from '../contract/secret.js'
import { replacePrivateFile } from '../os/files/private.js'
import { VaultError } from './error.js'
import { DEFAULT_COST, sealVault, unsealVault, type KeyMaterial, type ScryptCost, type VaultContent } from './file.js'
import { withVaultLock } from './lock.js'

export { VaultError, type VaultErrorCode } from './error.js'

/** One of the two ways to unlock must be given: `passphrase` or `keyFile`. */
export interface VaultOptions {
  readonly file: string
  readonly passphrase?: string | Uint8Array
  /** A private file (0600) of at least 32 random bytes; `createKeyFile` makes one. */
  readonly keyFile?: string
  readonly cost?: ScryptCost
  readonly lockWaitMs?: number
}

/** Names and dates, never values. */
export interface VaultEntry {
  readonly name: string
  readonly created: string
  readonly updated: string
}

/** Also a source for tokens: `secret:NAME` and `decrypt:ID` both resolve an item by its name. */
export interface Vault extends SecretSource {
  set(name: string, value: Uint8Array | string): Promise<void>
  get(name: string): Promise<Uint8Array | undefined>
  list(): Promise<readonly VaultEntry[]>
  remove(name: string): Promise<boolean>
}

/**
 * Opens a vault, or prepares an empty one that is written with the first `set`. A file that
 * cannot be opened is an error now, not later.
 */
export async function openVault(options: VaultOptions): Promise<Vault> {
  const { file, cost = DEFAULT_COST, lockWaitMs = 10_000 } = options
  const material = await keyMaterial(options)
  let cached: { text: string; content: VaultContent } | undefined

  async function load(): Promise<VaultContent> {
    const text = (await readPrivate(file, 'vault'))?.toString('utf8')
    if (text === undefined) return { items: Object.create(null) as VaultContent['items'] }
    if (cached?.text !== text) cached = { text, content: withoutPrototype(await unsealVault(text, material)) }
    return cached.content
  }

  /**
   * Reads, changes and replaces the file under the lock, so that two writers add up instead of overwriting each other.
   */
  async function change<T>(edit: (items: VaultContent['items']) => { result: T; changed: boolean }): Promise<T> {
    try {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      return await withVaultLock(file, lockWaitMs, async () => {
        const content = { items: Object.assign(Object.create(null) as VaultContent['items'], (await load()).items) }
        const { result, changed } = edit(content.items)
        if (changed) await replaceFile(file, await sealVault(content, material, cost))
        return result
      })
    } catch (error) {
      if (error instanceof VaultError) throw error
      throw new VaultError(
        'VAULT_IO',
        `Cannot write the vault: ${(error as Error).message}`,
        'The old vault is unchanged. Check space and permissions.',
        { cause: error },
      )
    }
  }

  const vault: Vault = {
    async set(name, value) {
      if (!isSecretName(name))
        throw new VaultError(
          'VAULT_UNSAFE',
          `Not a name for a secret: ${JSON.stringify(name)}`,
          'Use letters, digits and _ . : / @ + = -, beginning with a letter, a digit or _.',
        )
      const bytes = typeof value === 'string' ? Buffer.from(value) : Buffer.from(value)
      await change((items) => {
        const now = new Date().toISOString()
        items[name] = { value: bytes.toString('base64'), created: items[name]?.created ?? now, updated: now }
        return { result: undefined, changed: true }
      })
    },
    async get(name) {
      const item = (await load()).items[name]
      return item ? new Uint8Array(Buffer.from(item.value, 'base64')) : undefined
    },
    async list() {
      const { items } = await load()
      return Object.entries(items)
        .map(([name, { created, updated }]) => ({ name, created, updated }))
        .sort((a, b) => (a.name < b.name ? -1 : 1))
    },
    remove: (name) =>
      change((items) => {
        const result = name in items
        delete items[name]
        return { result, changed: result }
      }),
    lookup: (_kind, name) => vault.get(name),
    names: async () => (await vault.list()).map(({ name }) => name),
  }
  await load()
  return vault
}

/** Makes a new private key file; refuses to replace one, since that would lock the vault for good. */
export async function createKeyFile(path: string): Promise<void> {
  const handle = await open(path, 'wx', 0o600)
  try {
    await handle.writeFile(`${randomBytes(32).toString('base64')}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function keyMaterial({ passphrase, keyFile }: VaultOptions): Promise<KeyMaterial> {
  if (passphrase !== undefined && passphrase.length > 0)
    return { kind: 'passphrase', secret: Buffer.from(passphrase as string) }
  if (keyFile !== undefined) return { kind: 'key', secret: await readKeyFile(keyFile) }
  throw new VaultError(
    'VAULT_NO_KEY',
    'No passphrase and no key file for the vault.',
    'Set CERITH_PASSPHRASE for the cerith process, or configure a key file.',
  )
}

async function readKeyFile(path: string): Promise<Uint8Array> {
  const bytes = await readPrivate(path, 'key file')
  if (bytes === undefined)
    throw new VaultError(
      'VAULT_NO_KEY',
      `Key file not found: ${path}`,
      'Create one with `cerith secret key`, and keep a copy: without it the vault cannot be opened.',
    )
  if (bytes.length < 32)
    throw new VaultError(
      'VAULT_NO_KEY',
      `Key file is too short: ${path} has ${bytes.length} bytes.`,
      'A key file holds at least 32 random bytes.',
    )
  return bytes
}

/** Reads a regular file that belongs to this user and that no other user can read; undefined when there is none. */
async function readPrivate(path: string, what: string): Promise<Buffer | undefined> {
  let handle
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    if (code === 'ELOOP')
      throw new VaultError('VAULT_UNSAFE', `The ${what} is a symbolic link: ${path}`, 'Name the file itself.')
    throw new VaultError(
      'VAULT_IO',
      `Cannot read the ${what}: ${path} (${code})`,
      'Check the permissions of the file and of its directory.',
      { cause: error },
    )
  }
  try {
    const info = await handle.stat()
    if (!info.isFile())
      throw new VaultError('VAULT_UNSAFE', `The ${what} is not a regular file: ${path}`, 'Name a file.')
    if (process.getuid && info.uid !== process.getuid())
      throw new VaultError('VAULT_UNSAFE', `The ${what} belongs to another user: ${path}`, 'Use a file of your own.')
    if (info.mode & 0o077)
      throw new VaultError(
        'VAULT_UNSAFE',
        `Others may read the ${what}: ${path} has mode ${(info.mode & 0o777).toString(8)}`,
        `Run: chmod 600 ${path}`,
      )
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

/** A crash at any point leaves the old file or the new one, whole. */
async function replaceFile(file: string, text: string): Promise<void> {
  replacePrivateFile(file, text)
  const folder = await open(dirname(file), 'r')
  await folder.sync().catch(() => {})
  await folder.close()
}

function withoutPrototype(content: VaultContent): VaultContent {
  return { items: Object.assign(Object.create(null) as VaultContent['items'], content.items) }
}
