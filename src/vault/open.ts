/**
 * Opens the vault of a state directory with what this process was given: a pass phrase, a key file, or a person to ask.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { SecretSource } from '../contract/secret.js'
import { openVault, type Vault, VaultError } from './vault.js'

export interface VaultKeys {
  readonly stateDir: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly keyFile: string | null
  readonly askPassphrase?: () => Promise<string | null>
}

export function vaultFile(stateDir: string): string {
  return join(stateDir, 'vault')
}

/** The key file that `cerith secret key` makes, found without any setting. */
export function defaultKeyFile(stateDir: string): string {
  return join(stateDir, 'vault.key')
}

export async function openVaultWith(keys: VaultKeys): Promise<Vault> {
  const file = vaultFile(keys.stateDir)
  const passphrase = keys.env['CERITH_PASSPHRASE'] || keys.env['LANGO_PASSPHRASE']
  if (passphrase) return openVault({ file, passphrase })
  const keyFile = keys.keyFile ?? (existsSync(defaultKeyFile(keys.stateDir)) ? defaultKeyFile(keys.stateDir) : null)
  if (keyFile) return openVault({ file, keyFile })
  const typed = await keys.askPassphrase?.()
  if (typed) return openVault({ file, passphrase: typed })
  throw new VaultError(
    'VAULT_NO_KEY',
    'The vault is locked: there is no pass phrase and no key file',
    'Set CERITH_PASSPHRASE for cerith itself, or make a key file with `cerith secret key`.',
  )
}

/**
 * Knows nothing while there is no vault. One that is there and cannot be opened is an error: a
 * token must not reach a program as text.
 */
export async function vaultSource(keys: VaultKeys): Promise<SecretSource> {
  let vault: Vault | null = null
  const open = async (by: VaultKeys): Promise<Vault | null> => {
    if (!vault && !existsSync(vaultFile(keys.stateDir))) return null
    return (vault ??= await openVaultWith(by))
  }
  /** No pass phrase is asked for here: a vault that needs one stays closed until a token names it. */
  const opened = (): Promise<Vault | null> => open({ ...keys, askPassphrase: async () => null }).catch(() => null)
  return {
    lookup: async (kind, name) => (await open(keys))?.lookup(kind, name),
    async names() {
      return (await (await opened())?.names?.()) ?? []
    },
    async known() {
      try {
        const known = await opened()
        const names = (await known?.list()) ?? []
        const values = await Promise.all(names.map(async ({ name }) => ({ name, value: await known?.get(name) })))
        return values.flatMap(({ name, value }) => (value ? [{ name, value }] : []))
      } catch {
        return []
      }
    },
  }
}
