/** The page's copy of the world, and its connection to the server. */
import { useEffect, useState } from 'preact/hooks'
import type { AskRow, CallRow, Disk, EngineRow, JobRow, Role } from '../../words'

export type Link = 'connecting' | 'live' | 'lost' | 'no key' | 'ended' | 'used'
/** What the server sends is told apart by `t`; its fields are the server's word. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Fields = Record<string, any>
export type Message = Fields & { readonly t: string }

export const world = {
  engines: new Map<string, EngineRow>(),
  calls: new Map<string, CallRow>(),
  jobs: new Map<string, JobRow>(),
  asks: new Map<string, AskRow>(),
  role: '' as '' | Role,
  until: null as number | null,
  /** The one job that this page may see. */
  only: null as string | null,
  disk: null as Disk | null,
  link: 'connecting' as Link,
  hasState: false,
  toast: '',
}

const KEY = 'cerith-key'
const listeners = new Set<() => void>()
const hearers = new Set<(message: Message) => void>()
let socket: WebSocket | null = null
let waitMs = 500
let drawing = false
let retryAt: ReturnType<typeof setTimeout> | undefined

/** Once per frame, however much has changed. */
export function changed(): void {
  if (drawing) return
  drawing = true
  requestAnimationFrame(() => {
    drawing = false
    for (const listener of listeners) listener()
  })
}

export function useWorld(): typeof world {
  const [, tick] = useState(0)
  useEffect(() => {
    const listener = (): void => tick((n) => n + 1)
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }, [])
  return world
}

export function useMessages(hear: (message: Message) => void, about: readonly unknown[]): void {
  useEffect(() => {
    hearers.add(hear)
    return () => void hearers.delete(hear)
  }, about)
}

export function say(message: object): void {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
}

export function toast(text: string): void {
  world.toast = text
  changed()
  setTimeout(() => {
    if (world.toast === text) world.toast = ''
    changed()
  }, 5_000)
}

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    toast('Copied.')
  } catch {
    toast('The browser did not let this page copy.')
  }
}

/**
 * The key stands in the fragment, which no server and no other site sees. It is used up at once
 * and does not stay in the address.
 */
export function start(): void {
  const given = /^#k=([\w-]+)$/.exec(location.hash)?.[1]
  if (given) {
    sessionStorage.setItem(KEY, given)
    history.replaceState(null, '', '/')
  }
  addEventListener('hashchange', () => location.hash.startsWith('#k=') && location.reload())
  document.addEventListener('visibilitychange', () =>
    say({ do: 'visible', on: document.visibilityState === 'visible' }),
  )
  connect()
}

function connect(): void {
  const key = sessionStorage.getItem(KEY)
  if (!key) return setLink('no key')
  socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/live`)
  socket.onopen = () => say({ do: 'key', key })
  socket.onmessage = (event) => hear(JSON.parse(event.data as string) as Message)
  socket.onclose = ({ code }) => {
    if (code === 4403) return end('used')
    if (code === 4401) return end(world.hasState ? 'ended' : 'no key')
    setLink('lost')
    retryAt = setTimeout(connect, (waitMs = Math.min(waitMs * 2, 15_000)))
    void lookForAnother()
  }
}

/** A server that answers but does not know this page's name is a later one: it knows nothing of our key. */
async function lookForAnother(): Promise<void> {
  const { status } = await fetch('/', { cache: 'no-store' }).catch(() => ({ status: 0 }))
  if (status !== 403) return
  clearTimeout(retryAt)
  end('ended')
}

/** The person does not want to wait for the next attempt. */
export function retryNow(): void {
  clearTimeout(retryAt)
  connect()
}

function end(link: Link): void {
  sessionStorage.removeItem(KEY)
  setLink(link)
}

function setLink(link: Link): void {
  world.link = link
  changed()
}

function hear(message: Message): void {
  if (message.t === 'welcome') {
    sessionStorage.setItem(KEY, message['key'])
    waitMs = 250
    Object.assign(world, { role: message['role'], until: message['until'], only: message['only'], link: 'live' })
    if (document.visibilityState !== 'visible') say({ do: 'visible', on: false })
  } else if (message.t === 'delta') {
    if (message['first']) {
      for (const each of [world.engines, world.calls, world.jobs, world.asks]) each.clear()
      world.hasState = true
    }
    for (const [collection, id, value] of message['set']) collectionOf(collection).set(id, value)
    for (const [collection, id] of message['gone']) collectionOf(collection).delete(id)
  } else if (message.t === 'disk') world.disk = message as unknown as Disk
  else if (message.t === 'error') toast(message['text'])
  else if (message.t === 'said' && message['ok'] === false)
    toast(NOT_ACCEPTED[message['result']] ?? 'It had ended already.')
  for (const hearer of hearers) hearer(message)
  if (message.t !== 'out') changed()
}

function collectionOf(name: string): Map<string, unknown> {
  return world[name as 'jobs']
}

const NOT_ACCEPTED: Record<string, string> = {
  differs: 'What you saw is not what the agent asks any more. Nothing was approved.',
  answered: 'It was answered elsewhere.',
  unknown: 'The question is no longer open.',
  untrusted: 'The helper of that engine was killed: it takes no answers any more. Start it anew.',
}

/** Of what was shown on this page; the engine compares it with its own. */
export async function digestOf({ command, cwd, session, env, envMode, pty, reason, rule }: AskRow): Promise<string> {
  const text = JSON.stringify([command, cwd, session, env, envMode, pty, reason, rule])
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** With the key of this page, which is in no cookie. */
export function fetchWithKey(path: string): Promise<Response> {
  return fetch(path, { headers: { authorization: `Bearer ${sessionStorage.getItem(KEY) ?? ''}` } })
}
