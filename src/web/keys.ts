/**
 * The keys of the page: one-time keys of links, and the session keys that pages get for them.
 * In memory only; they end with the process.
 */
import { createHash, randomBytes } from 'node:crypto'
import { isSameSecret } from '../os/peer/same-secret.js'
import type { LookLink, Role } from './words.js'

/** What a link lets its holder do. */
interface Right {
  readonly role: Role
  /** Named by the person who made the link. */
  readonly label: string
  readonly id: string
  /** Epoch milliseconds. Null: with the process. */
  readonly until: number | null
  /** The one job that it shows; null: everything. */
  readonly only: string | null
}

export interface Session extends Right {
  usedAt: number
  /** Ends every page that holds it. */
  readonly pages: Set<() => void>
}

interface Link extends Right {
  readonly opensUntil: number
}

export interface LinkOptions {
  readonly label?: string
  readonly livesMs?: number | null
  readonly only?: string | null
}

export type Entry =
  | { readonly kind: 'in'; readonly session: Session; readonly key: string }
  | { readonly kind: 'no' }
  /** A link that was used already: it may have leaked. All keys have been ended. */
  | { readonly kind: 'used' }
  | { readonly kind: 'slow down' }

const LINK_LIVES_MS = 10 * 60_000
const IDLE_MS = 12 * 60 * 60_000
const WRONG_PER_MINUTE = 10
const MINUTE_MS = 60_000

export class Keys {
  readonly #links = new Map<string, Link>()
  readonly #used = new Set<string>()
  readonly #sessions = new Map<string, Session>()
  readonly #now: () => number
  #wrong: number[] = []
  #count = 0

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** The key for a link. Good once, and not for long. */
  link(role: Role, { label = role, livesMs = null, only = null }: LinkOptions = {}): { key: string; id: string } {
    const key = randomBytes(24).toString('base64url')
    const id = String(++this.#count)
    const now = this.#now()
    const until = livesMs === null ? null : now + livesMs
    this.#links.set(digest(key), { role, label, id, until, only, opensUntil: now + (livesMs ?? LINK_LIVES_MS) })
    return { key, id }
  }

  enter(given: unknown): Entry {
    if (this.#tooMany()) return { kind: 'slow down' }
    if (typeof given !== 'string' || given.length > 128) return this.#refuse()
    const name = digest(given)
    const session = find(this.#sessions, name)
    if (session && !this.#isOver(session)) {
      session.usedAt = this.#now()
      return { kind: 'in', session, key: given }
    }
    const link = find(this.#links, name)
    if (link && this.#now() < link.opensUntil) {
      this.#links.delete(name)
      this.#used.add(name)
      const key = randomBytes(24).toString('base64url')
      const { opensUntil: _, ...right } = link
      const opened = { ...right, usedAt: this.#now(), pages: new Set<() => void>() }
      this.#sessions.set(digest(key), opened)
      return { kind: 'in', session: opened, key }
    }
    if (!this.#used.has(name)) return this.#refuse()
    // Two hold the same link, and only one of them is the person.
    this.revokeAll()
    return { kind: 'used' }
  }

  /** A page shows that it is used. */
  touch(session: Session): void {
    session.usedAt = this.#now()
  }

  /** Ends the pages of sessions whose time is over, and forgets links that were not opened in time. */
  sweep(): void {
    for (const [name, session] of this.#sessions) if (this.#isOver(session)) this.#end(name, session)
    for (const [name, link] of this.#links) if (this.#now() >= link.opensUntil) this.#links.delete(name)
  }

  revoke(id: string): void {
    for (const [name, session] of this.#sessions) if (session.id === id) this.#end(name, session)
    for (const [name, link] of this.#links) if (link.id === id) this.#links.delete(name)
  }

  revokeAll(): void {
    this.#links.clear()
    for (const [name, session] of this.#sessions) this.#end(name, session)
  }

  /** Links to look that are open, or in use. */
  lookers(): LookLink[] {
    const open = [...this.#links.values()].map((link) => ({ ...link, pages: 0 }))
    const used = [...this.#sessions.values()].map((session) => ({ ...session, pages: session.pages.size }))
    return [...open, ...used]
      .filter(({ role }) => role === 'look')
      .map(({ id, label, until, pages, only }) => ({ id, label, until, pages, only }))
  }

  #end(name: string, session: Session): void {
    this.#sessions.delete(name)
    for (const close of session.pages) close()
  }

  #refuse(): Entry {
    this.#wrong.push(this.#now())
    return { kind: 'no' }
  }

  #tooMany(): boolean {
    const minute = this.#now() - MINUTE_MS
    this.#wrong = this.#wrong.filter((at) => at > minute)
    return this.#wrong.length >= WRONG_PER_MINUTE
  }

  #isOver({ until, usedAt, pages }: Session): boolean {
    if (until !== null && this.#now() > until) return true
    return pages.size === 0 && this.#now() - usedAt > IDLE_MS
  }
}

function digest(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

/** Every entry is compared, in constant time. */
function find<T>(all: ReadonlyMap<string, T>, name: string): T | undefined {
  let found: T | undefined
  for (const [each, value] of all) if (isSameSecret(name, each)) found = value
  return found
}
