/**
 * The way out of a room with an allow-list: a process of its own outside, on a listener inside. Ends with the engine.
 */
import { parseRecord } from '../../contract/attempt.js'
import { readPipe, type PipeReader } from '../files/pipe-reader.js'
import { distFile } from '../package/file.js'
import type { Launcher, Room, Ward } from '../helper/launcher.js'

export interface Refused {
  readonly host: string
  readonly port: number
  readonly why: string
}

export interface Proxy {
  /** What the proxy refused since the last call. */
  refused(): Refused[]
  close(): void
}

const MAX_KEPT = 100
/** One that ends again and again would do so for ever. */
const MAX_ENDS = 5

export async function startProxy(launcher: Launcher, room: Room, domains: readonly string[]): Promise<Proxy> {
  const kept: Refused[] = []
  const keep = (said: Refused): unknown => kept.length < MAX_KEPT && kept.push(said)
  let isOpen = true
  let ends = 0
  let current = await begin(launcher, room, domains, keep)
  /** The listener stays with the room: connections that come meanwhile wait in it for the next proxy. */
  const follow = async (): Promise<void> => {
    while (isOpen) {
      await current.ward.exited
      if (!isOpen) return
      current.reader.drainNow()
      current.reader.close()
      const isLast = ++ends > MAX_ENDS || !room.alive
      keep({
        host: 'proxy',
        port: 0,
        why: `its proxy ended and ${isLast ? 'is not there any more' : 'was started anew'}`,
      })
      if (isLast) return
      const next = await begin(launcher, room, domains, keep)
      current = next
      if (!isOpen) end(next)
    }
  }
  follow().catch(() => {})
  return {
    refused: () => {
      // A refusal is written before the command that was refused hears of it.
      current.reader.drainNow()
      return kept.splice(0)
    },
    close: () => {
      isOpen = false
      end(current)
    },
  }
}

interface Running {
  readonly ward: Ward
  readonly reader: PipeReader
}

function end({ ward, reader }: Running): void {
  ward.kill({ signal: 9, graceMs: 0, why: 'close' })
  reader.close()
}

async function begin(
  launcher: Launcher,
  room: Room,
  domains: readonly string[],
  keep: (said: Refused) => unknown,
): Promise<Running> {
  const out = await launcher.pipe()
  const fd = out.readEnd()
  let ready!: () => void
  const isReady = new Promise<void>((resolve) => (ready = resolve))
  let ward: Ward
  try {
    ward = await launcher.start({
      path: process.execPath,
      argv: ['node', distFile('native', 'sandbox-proxy.mjs'), JSON.stringify(domains)],
      // Nothing of the engine's own: a proxy needs no secrets, and none may be read from it.
      env: { PATH: '/usr/bin:/bin' },
      cwd: '/',
      stdout: out,
      listenerOf: room,
    })
  } catch (error) {
    out.release()
    throw error
  }
  let rest = ''
  const reader = readPipe(fd, new Uint8Array(16_384), (chunk) => {
    const lines = (rest + Buffer.from(chunk).toString('utf8')).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const said = parse(line)
      if (said === 'ready') ready()
      else if (said) keep(said)
    }
  })
  await Promise.race([isReady, ward.exited])
  return { ward, reader }
}

function parse(line: string): Refused | 'ready' | null {
  const said = parseRecord(line) as (Partial<Refused> & { ready?: boolean }) | null
  if (said?.ready) return 'ready'
  return typeof said?.host === 'string' && typeof said.why === 'string'
    ? { host: said.host, port: Number(said.port), why: said.why }
    : null
}
