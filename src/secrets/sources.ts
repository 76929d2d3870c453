/** Where values come from: one small interface, asked in order, and the lookup that a single command gets. */
import { namesOf, type SecretSource } from '../contract/secret.js'
import { findTokens, type Token } from './deliver/tokens.js'

/** Asks each source in turn; the first that knows the name wins. */
export function firstOf(sources: readonly SecretSource[]): SecretSource {
  return {
    async lookup(kind, name) {
      for (const source of sources) {
        const value = await source.lookup(kind, name)
        if (value) return value
      }
      return undefined
    },
    names: () => namesOf(sources),
  }
}

/**
 * Fetches every value that the text names, once each, and hands back the synchronous lookup
 * that `planDelivery` wants.
 */
export async function fetchValues(
  text: string,
  source: SecretSource,
): Promise<(token: Token) => Uint8Array | undefined> {
  const values = new Map<string, Uint8Array | undefined>()
  for (const token of findTokens(text)) {
    if (!values.has(token.text)) values.set(token.text, await source.lookup(token.kind, token.name))
  }
  return (token) => values.get(token.text)
}

/**
 * Variables of the host by explicit mapping, secret name to variable name: nothing else of the
 * environment can be reached by a token. The caller passes the environment in, so that it may
 * take the variables out of its own process first.
 */
export function environmentSource(
  mapping: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string | undefined>>,
): SecretSource {
  const variables = new Map(Object.entries(mapping))
  return {
    async lookup(kind, name) {
      const variable = kind === 'secret' ? variables.get(name) : undefined
      if (variable === undefined || !Object.hasOwn(environment, variable)) return undefined
      const value = environment[variable]
      return value === undefined ? undefined : new TextEncoder().encode(value)
    },
    async names() {
      return [...variables.keys()]
    },
    async known() {
      return [...variables].flatMap(([name, variable]) =>
        environment[variable] === undefined ? [] : [{ name, value: new TextEncoder().encode(environment[variable]) }],
      )
    },
  }
}
