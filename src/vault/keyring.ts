/**
 * The vault's key in the system's keyring (Secret Service, macOS Keychain, Windows Credential
 * Manager), when the optional package for it is installed.
 */
import { randomBytes } from 'node:crypto'
import { VaultError } from './error.js'

interface KeyringModule {
  readonly Entry: new (
    service: string,
    account: string,
  ) => { getPassword(): string | null; setPassword(password: string): void }
}

/** The key for a vault file; a random one is stored at first use. */
export async function keyringKey(file: string): Promise<Uint8Array> {
  const packageName: string = '@napi-rs/keyring'
  let keyring: KeyringModule
  try {
    keyring = (await import(packageName)) as KeyringModule
  } catch (error) {
    throw new VaultError(
      'VAULT_NO_KEY',
      'The system keyring cannot be reached: the package @napi-rs/keyring is not installed.',
      'Install it, or use a passphrase or a key file.',
      { cause: error },
    )
  }
  try {
    const entry = new keyring.Entry('cerith', file)
    const stored = entry.getPassword()
    if (stored) return Buffer.from(stored, 'base64')
    const fresh = randomBytes(32)
    entry.setPassword(fresh.toString('base64'))
    return fresh
  } catch (error) {
    throw new VaultError(
      'VAULT_NO_KEY',
      `The system keyring refused: ${(error as Error).message}`,
      'Unlock the keyring, or use a passphrase or a key file.',
      { cause: error },
    )
  }
}
