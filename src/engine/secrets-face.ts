/** `engine.secrets`, of an engine here or at another place: values by name, checked before they are kept. */
import type { Engine } from '../contract/engine.js'
import { badRequest } from '../contract/errors.js'
import { isSecretName } from '../contract/secret.js'
import { wrongValue } from './plan/wrong-value.js'
import type { SecretStore } from './services/secret-store.js'

export function secretsFace(secrets: SecretStore): Engine['secrets'] {
  return {
    set: (name, value) => secrets.set({ kind: 'secret', name: secretName(name) }, bytesOf(value)),
    setDecrypted: (name, value) => secrets.set({ kind: 'decrypt', name: secretName(name) }, bytesOf(value)),
    delete: (name) => secrets.refs.delete(textOf(name)),
    clear: () => secrets.refs.clear(),
    names: () => secrets.knownNames,
    mask: (text) => secrets.mask(textOf(text)),
  }
}

function secretName(name: string): string {
  if (typeof name !== 'string' || !isSecretName(name))
    throw wrongValue(
      'no token could name this secret',
      name,
      'Use letters, digits and . : / @ + = _ - (a letter, digit or _ first).',
    )
  return name
}

function textOf(text: string): string {
  if (typeof text !== 'string') throw wrongValue('a text was expected', text, 'Pass a string.')
  return text
}

function bytesOf(value: string | Uint8Array): Uint8Array {
  if (typeof value !== 'string' && !(value instanceof Uint8Array))
    throw badRequest('A secret must be text or bytes', 'Pass a string or a Uint8Array.')
  return typeof value === 'string' ? new TextEncoder().encode(value) : value
}
