/** Reads an address into its steps. No part may begin with `-`: it would be an option of the client. */
import { attempt } from '../../contract/attempt.js'
import { badRequest, type ShellError } from '../../contract/errors.js'

export interface Address {
  readonly kind: string
  /** What stands between `://` and `?`. */
  readonly rest: string
  readonly query: ReadonlyMap<string, string>
}

export const KINDS_HELP =
  'ssh://host, docker://name, docker://?image=I, podman://name, k8s://namespace/pod, slurm://partition, loop:'

export function readAddress(text: string): Address {
  if (text === 'loop:' || text === 'loop://') return { kind: 'loop', rest: '', query: new Map() }
  const [, kind, rest = '', query = ''] = /^([a-z0-9]+):\/\/([^?]*)(?:\?(.*))?$/s.exec(text) ?? []
  if (kind === undefined) throw badAddress(text, `it is none of ${KINDS_HELP}`)
  return { kind, rest, query: readQuery(text, query) }
}

function readQuery(text: string, query: string): Map<string, string> {
  const pairs = new Map<string, string>()
  for (const part of query === '' ? [] : query.split('&')) {
    const [name = '', written = ''] = part.split(/=(.*)/s)
    const value = attempt(() => decodeURIComponent(written), null)
    if (!/^[a-z]+$/.test(name) || pairs.has(name) || value === null)
      throw badAddress(text, `${JSON.stringify(part)} is no setting`)
    pairs.set(name, value)
  }
  return pairs
}

export function badAddress(text: string, why: string): ShellError {
  const hint = `Places: ${KINDS_HELP}; chains: ssh://login!docker://c1.`
  return badRequest(`${JSON.stringify(text)} is not a place: ${why}`, hint)
}

/** A part that becomes a word of a client: of known characters, and never an option. */
export function wordOf(text: string, what: string, address: Address, pattern = /^[\w][\w.@:/+%=,-]*$/): string {
  if (!pattern.test(text) || text.startsWith('-'))
    throw badAddress(
      `${address.kind}://${address.rest}`,
      `${what} ${JSON.stringify(text)} has other characters than it may have`,
    )
  return text
}

/** The settings of a kind whose values become words of its client, all of them checked. */
export function wordSettings(address: Address, names: readonly string[]): (name: string) => string | undefined {
  knownSettings(address, names)
  for (const [name, value] of address.query) wordOf(value, name, address)
  return (name) => address.query.get(name)
}

/** Says which settings a kind has when one is not known. */
export function knownSettings(address: Address, names: readonly string[]): void {
  const unknown = [...address.query.keys()].find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw badAddress(
      `${address.kind}://${address.rest}`,
      `unknown setting ${unknown}; known: ${names.join(', ') || 'none'}`,
    )
}
