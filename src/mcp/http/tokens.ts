/** Bearer tokens: one per client, in a private file, compared in constant time. */
import { randomBytes } from 'node:crypto'
import { badRequest } from '../../contract/errors.js'
import { createPrivateFile, readPrivateFile, replacePrivateFile } from '../../os/files/private.js'
import { isSameSecret } from '../../os/peer/same-secret.js'

const NAME = /^[A-Za-z0-9_-]{1,40}$/
const TOKEN = /^[A-Za-z0-9_-]{32,200}$/

export interface Tokens {
  /** Name to token, in the order of the file. */
  readonly byName: ReadonlyMap<string, string>
  /** Names whose tokens were made just now: the one time they are shown. */
  readonly made: readonly string[]
}

/** Reads the file (lines `name token`) and makes a token for every wanted name that has none. */
export function loadTokens(file: string, wanted: readonly string[]): Tokens {
  for (const name of wanted)
    if (!NAME.test(name))
      throw badRequest(`Not a client name: ${JSON.stringify(name.slice(0, 80))}`, 'Use letters, digits, - and _.')
  for (;;) {
    const text = readPrivateFile(file)
    const byName = parse(text ?? '')
    const made = wanted.filter((name) => !byName.has(name))
    if (made.length === 0) return { byName, made }
    for (const name of made) byName.set(name, randomBytes(32).toString('base64url'))
    const lines = [...byName].map(([name, token]) => `${name} ${token}\n`).join('')
    if (text !== null) replacePrivateFile(file, lines)
    // Two servers that start at once must not each believe in a token of their own.
    else if (!createPrivateFile(file, lines)) continue
    return { byName, made }
  }
}

/** The client that this Authorization header belongs to, or null. */
export function clientOf(header: string | undefined, tokens: ReadonlyMap<string, string>): string | null {
  const given = /^Bearer +([^\s]+)\s*$/i.exec(header ?? '')?.[1]
  if (given === undefined) return null
  let found: string | null = null
  // Every token is compared: how long it takes tells nothing.
  for (const [name, token] of tokens) if (isSameSecret(given, token)) found = name
  return found
}

function parse(text: string): Map<string, string> {
  const byName = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [name = '', token = ''] = line.trim().split(/\s+/)
    if (NAME.test(name) && TOKEN.test(token)) byName.set(name, token)
  }
  return byName
}
