/**
 * The engine's own knowledge of secrets: values by name, the sources behind them, and the
 * masker every text goes through.
 */
import { createMasker, type Masker } from '../../secrets/mask/masker.js'
import { RefStore } from '../../secrets/ref-store.js'
import { namesOf, type SecretSource } from '../../contract/secret.js'
import { fetchValues, firstOf } from '../../secrets/sources.js'
import { findTokens, type Token } from '../../secrets/deliver/tokens.js'

export class SecretStore {
  readonly refs = new RefStore()
  readonly masker: Masker = createMasker()
  /** By token, as text: what commands were given so far. A session may still hold it. */
  readonly delivered = new Map<string, string>()
  readonly #source: SecretSource
  #sourceNames: readonly string[] = []

  /** Settled when the values that can be had without asking are masked; commands wait for it. */
  readonly ready: Promise<void>

  constructor(sources: readonly SecretSource[]) {
    this.#source = firstOf([this.refs, ...sources])
    this.ready = this.#maskKnown(sources)
  }

  async #maskKnown(sources: readonly SecretSource[]): Promise<void> {
    const known = await Promise.all(sources.map((source) => source.known?.() ?? Promise.resolve([])))
    for (const { name, value } of known.flat()) this.masker.add(name, value)
    this.#sourceNames = await namesOf(sources)
  }

  /** Names that tokens can use, as far as they are known now. */
  get knownNames(): readonly string[] {
    const own = this.refs.refs().flatMap((ref) => (ref.startsWith('secret:') ? [ref.slice('secret:'.length)] : []))
    return [...new Set([...own, ...this.#sourceNames])].sort()
  }

  /** The masker, or null while there is nothing to hide: masking then costs nothing. */
  get activeMasker(): Masker | null {
    return this.masker.size > 0 ? this.masker : null
  }

  set(ref: { kind: 'secret' | 'decrypt'; name: string }, value: Uint8Array): void {
    this.refs.set(`{{${ref.kind}:${ref.name}}}`, value)
    this.masker.add(ref.name, value)
  }

  /** Values for the tokens of one text; whatever is resolved is masked from then on. */
  async valuesFor(text: string): Promise<((token: Token) => Uint8Array | undefined) | null> {
    const tokens = findTokens(text)
    if (tokens.length === 0) return null
    const lookup = await fetchValues(text, this.#source)
    for (const token of tokens) {
      const value = lookup(token)
      if (!value) continue
      this.masker.add(token.name, value)
      this.delivered.set(token.text, new TextDecoder().decode(value))
    }
    return lookup
  }

  /** Names that tokens can use, as far as the sources tell. */
  async names(): Promise<readonly string[]> {
    return (await this.#source.names?.()) ?? []
  }

  /** The value of one secret, for the engine's own use; masked from then on. */
  async value(name: string): Promise<Uint8Array | undefined> {
    const value = await this.#source.lookup('secret', name)
    if (value) this.masker.add(name, value)
    return value
  }

  mask(text: string): string {
    return this.masker.size > 0 ? this.masker.maskText(text) : text
  }
}
