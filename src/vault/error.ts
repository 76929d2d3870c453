/**
 * What can go wrong with a vault, told apart by `vaultCode`: to every other part of cerith it
 * is a ShellError with the code VAULT.
 */
import { ShellError } from '../contract/errors.js'

export type VaultErrorCode =
  | 'VAULT_WRONG_KEY'
  | 'VAULT_TAMPERED'
  | 'VAULT_TRUNCATED'
  | 'VAULT_LOCKED'
  | 'VAULT_UNSAFE'
  | 'VAULT_NO_KEY'
  | 'VAULT_IO'

export class VaultError extends ShellError {
  readonly vaultCode: VaultErrorCode

  constructor(vaultCode: VaultErrorCode, message: string, hint: string, options?: { cause?: unknown }) {
    super('VAULT', message, hint, options)
    this.vaultCode = vaultCode
  }
}
