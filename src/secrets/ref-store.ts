/**
 * Values held in memory for as long as the engine lives: what goes in and what comes out are
 * copies, so a caller cannot change a kept value.
 */
import type { SecretSource, TokenKind } from '../contract/secret.js'
import { findTokens } from './deliver/tokens.js'

/**
 * Maps references to values. A reference is a whole token (`{{decrypt:uuid-123}}`) or, for short, the name of a secret.
 */
export class RefStore implements SecretSource {
  readonly #values = new Map<string, Uint8Array>()

  set(ref: string, value: Uint8Array | string): void {
    // Not slice(): on a Buffer that is only another view of the same memory.
    const copy = typeof value === 'string' ? new TextEncoder().encode(value) : new Uint8Array(value)
    const key = keyOf(ref)
    this.#values.get(key)?.fill(0)
    this.#values.set(key, copy)
  }

  get(ref: string): Uint8Array | undefined {
    return this.#values.get(keyOf(ref))?.slice()
  }

  has(ref: string): boolean {
    return this.#values.has(keyOf(ref))
  }

  delete(ref: string): boolean {
    const key = keyOf(ref)
    this.#values.get(key)?.fill(0)
    return this.#values.delete(key)
  }

  clear(): void {
    for (const value of this.#values.values()) value.fill(0)
    this.#values.clear()
  }

  /** The references as tokens without braces: `secret:api-key`, `decrypt:uuid-123`. */
  refs(): readonly string[] {
    return [...this.#values.keys()]
  }

  async lookup(kind: TokenKind, name: string): Promise<Uint8Array | undefined> {
    return this.#values.get(`${kind}:${name}`)?.slice()
  }

  async names(): Promise<readonly string[]> {
    return this.refs()
      .filter((ref) => ref.startsWith('secret:'))
      .map((ref) => ref.slice('secret:'.length))
  }
}

function keyOf(ref: string): string {
  const [token] = findTokens(ref)
  if (token?.text === ref) return `${token.kind}:${token.name}`
  return ref.startsWith('secret:') || ref.startsWith('decrypt:') ? ref : `secret:${ref}`
}
