/**
 * The way out of a room with an allow-list: a process of its own outside, on a listener inside. Ends with the engine.
 */
import { readPipe } from '../files/pipe-reader.js'
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

export async function startProxy(launcher: Launcher, room: Room, domains: readonly string[]): Promise<Proxy> {
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
  const kept: Refused[] = []
  let rest = ''
  const reader = readPipe(fd, new Uint8Array(16_384), (chunk) => {
    const lines = (rest + Buffer.from(chunk).toString('utf8')).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const said = parse(line)
      if (said === 'ready') ready()
      else if (said && kept.length < MAX_KEPT) kept.push(said)
    }
  })
  await Promise.race([isReady, ward.exited])
  return {
    refused: () => {
      // A refusal is written before the command that was refused hears of it.
      reader.drainNow()
      return kept.splice(0)
    },
    close: () => {
      ward.kill({ signal: 9, graceMs: 0, why: 'close' })
      reader.close()
    },
  }
}

function parse(line: string): Refused | 'ready' | null {
  try {
    const said = JSON.parse(line) as Partial<Refused> & { ready?: boolean }
    if (said.ready) return 'ready'
    return typeof said.host === 'string' && typeof said.why === 'string'
      ? { host: said.host, port: Number(said.port), why: said.why }
      : null
  } catch {
    return null
  }
}
