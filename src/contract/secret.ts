/** What the rooms say to each other about secrets: how one is called and where its value comes from. */

export type TokenKind = 'secret' | 'decrypt'

/** A place that knows values. It answers with a copy, or with undefined when it has never heard of the name. */
export interface SecretSource {
  lookup(kind: TokenKind, name: string): Promise<Uint8Array | undefined>
  names?(): Promise<readonly string[]>
  /**
   * Every value that can be had without asking anybody or running anything: masked from the
   * first command on, named by a token or not.
   */
  known?(): Promise<readonly { readonly name: string; readonly value: Uint8Array }[]>
}

/** Every name that the sources tell, once each. */
export async function namesOf(sources: readonly SecretSource[]): Promise<readonly string[]> {
  const lists = await Promise.all(sources.map((source) => source.names?.() ?? Promise.resolve([])))
  return [...new Set(lists.flat())].sort()
}

// Every character of a name means nothing to a shell, quoted or not: an unknown token can stay
// where it is and nothing moves.
export const SECRET_NAME = '[A-Za-z0-9_][A-Za-z0-9_.:/@+=-]{0,254}'
/** A reference to a secret in a command; make a RegExp of it with the flags that are needed. */
export const SECRET_TOKEN = `\\{\\{(secret|decrypt):(${SECRET_NAME})\\}\\}`
const WHOLE_NAME = new RegExp(`^${SECRET_NAME}$`)

/** Whether a secret may be called this: `secret set` refuses a name that no token could reach. */
export function isSecretName(name: string): boolean {
  return WHOLE_NAME.test(name)
}
