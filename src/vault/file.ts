/**
 * The vault's file format: one header with the key's parameters, authenticated, and one sealed
 * body. Reading never changes the file.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { VaultError } from './error.js'

/** Where the key comes from: a passphrase is stretched with scrypt, random key material is only spread. */
export type KeyMaterial =
  | { readonly kind: 'passphrase'; readonly secret: Uint8Array }
  | { readonly kind: 'key'; readonly secret: Uint8Array }

/** What an opened vault holds. Dates are ISO strings. */
export interface VaultContent {
  readonly items: Record<string, { value: string; created: string; updated: string }>
}

/** The work a passphrase costs; stored in the file, so that it can be raised later without breaking old files. */
export interface ScryptCost {
  readonly N: number
  readonly r: number
  readonly p: number
}

const MAGIC = 'cerith-vault-1'
export const DEFAULT_COST: ScryptCost = { N: 2 ** 15, r: 8, p: 1 }
/** A file may not ask for more work than this: a planted header must not take all memory. */
const MOST_MEMORY = 512 * 1024 * 1024

interface Header {
  readonly magic: string
  readonly kdf: ({ readonly name: 'scrypt' } & ScryptCost) | { readonly name: 'hkdf-sha256' }
  readonly salt: string
  /** Tells a wrong key from a damaged body: derived beside the key, from the same secret. */
  readonly check: string
  readonly nonce: string
  readonly bodyBytes: number
}

/**
 * Text lines: the header as JSON, then the body in base64, then the word END; a file that stops earlier was cut off.
 */
export async function sealVault(content: VaultContent, material: KeyMaterial, cost: ScryptCost): Promise<string> {
  const salt = randomBytes(16)
  const kdf =
    material.kind === 'passphrase' ? ({ name: 'scrypt', ...cost } as const) : ({ name: 'hkdf-sha256' } as const)
  const { key, check } = await deriveKey(material, kdf, salt)
  const plain = Buffer.from(JSON.stringify(content))
  const nonce = randomBytes(12)
  const header: Header = {
    magic: MAGIC,
    kdf,
    salt: salt.toString('base64'),
    check: check.toString('base64'),
    nonce: nonce.toString('base64'),
    bodyBytes: plain.length + 16,
  }
  const headerLine = JSON.stringify(header)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(headerLine))
  const body = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  plain.fill(0)
  key.fill(0)
  return `${headerLine}\n${body.toString('base64')}\nEND\n`
}

/** Opens the text of a vault file, or says which of the things that can be wrong is wrong. */
export async function unsealVault(text: string, material: KeyMaterial): Promise<VaultContent> {
  const [headerLine = '', bodyLine = '', end] = text.split('\n')
  const header = readHeader(headerLine, text)
  if (end !== 'END') throw truncated()
  const body = Buffer.from(bodyLine, 'base64')
  if (body.toString('base64') !== bodyLine) throw tampered('its body is not what was written')
  if (body.length < header.bodyBytes) throw truncated()
  if (body.length > header.bodyBytes || header.bodyBytes < 16) throw tampered('its body has the wrong length')
  const isScrypt = header.kdf.name === 'scrypt'
  if (isScrypt !== (material.kind === 'passphrase')) {
    throw new VaultError(
      'VAULT_WRONG_KEY',
      `The vault was sealed with a ${isScrypt ? 'passphrase' : 'key file'}, not with a ` +
        `${isScrypt ? 'key file' : 'passphrase'}.`,
      'Open it the way it was made.',
    )
  }
  const { key, check } = await deriveKey(material, header.kdf, Buffer.from(header.salt, 'base64'))
  if (!check.equals(Buffer.from(header.check, 'base64'))) {
    throw new VaultError(
      'VAULT_WRONG_KEY',
      `Wrong ${isScrypt ? 'passphrase' : 'key'} for the vault.`,
      'Check CERITH_PASSPHRASE or the key file. The vault was not changed.',
    )
  }
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(header.nonce, 'base64')).setAAD(
      Buffer.from(headerLine),
    )
    decipher.setAuthTag(body.subarray(-16))
    return JSON.parse(
      Buffer.concat([decipher.update(body.subarray(0, -16)), decipher.final()]).toString(),
    ) as VaultContent
  } catch {
    throw tampered('its contents fail the integrity check')
  } finally {
    key.fill(0)
  }
}

function readHeader(line: string, text: string): Header {
  let header: Header
  try {
    header = JSON.parse(line) as Header
  } catch {
    // A header that was cut in two has no second line either; anything else that cannot be read was changed.
    throw text.includes('\n') ? tampered('its header cannot be read') : truncated()
  }
  if (header?.magic !== MAGIC) throw tampered('its header is not that of a cerith vault')
  const { kdf } = header
  const isSound =
    [header.salt, header.check, header.nonce].every((field) => typeof field === 'string') &&
    Number.isSafeInteger(header.bodyBytes)
  if (!isSound || Buffer.from(header.nonce, 'base64').length !== 12) throw tampered('its header is incomplete')
  if (kdf?.name === 'hkdf-sha256') return header
  const isWork =
    kdf?.name === 'scrypt' &&
    [kdf.N, kdf.r, kdf.p].every((part) => Number.isSafeInteger(part) && part > 0) &&
    Number.isInteger(Math.log2(kdf.N)) &&
    kdf.N > 1
  if (!isWork || 128 * kdf.N * kdf.r * kdf.p > MOST_MEMORY) throw tampered('its key parameters are out of range')
  return header
}

async function deriveKey(
  material: KeyMaterial,
  kdf: Header['kdf'],
  salt: Buffer,
): Promise<{ key: Buffer; check: Buffer }> {
  const stretched =
    kdf.name === 'scrypt'
      ? await stretch(material.secret, salt, 64, { N: kdf.N, r: kdf.r, p: kdf.p, maxmem: MOST_MEMORY + 1024 * 1024 })
      : Buffer.from(hkdfSync('sha256', material.secret, salt, 'cerith-vault', 64))
  return {
    key: stretched.subarray(0, 32),
    check: createHash('sha256').update('cerith-vault-check').update(stretched.subarray(32)).digest().subarray(0, 16),
  }
}

const stretch = promisify<Uint8Array, Buffer, number, object, Buffer>(scrypt)

function tampered(why: string): VaultError {
  return new VaultError(
    'VAULT_TAMPERED',
    `The vault was changed by someone else: ${why}.`,
    'Restore it from a backup. cerith left the file as it is.',
  )
}

function truncated(): VaultError {
  return new VaultError(
    'VAULT_TRUNCATED',
    'The vault file is incomplete: its end is missing.',
    'Restore it from a backup. cerith left the file as it is.',
  )
}
