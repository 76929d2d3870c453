/** A call that is stopped before the shell has opened the pipes that were made for it. */
import { spawn } from 'node:child_process'
import { afterEach, expect, test } from 'vitest'
import { SessionStreams, type Sinks } from '../../../src/engine/session/shell/streams.js'
import type { Services } from '../../../src/engine/services/services.js'
import { startLauncher } from '../../../src/os/helper/tier.js'
import type { Watched } from '../../../src/os/helper/processes.js'
import { until } from '../harness.js'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

function sink(): Sinks & { readonly said: string[] } {
  const said: string[] = []
  const take = (name: string) => (chunk: Uint8Array) => void said.push(`${name} ${Buffer.from(chunk).toString()}`)
  return { said, out: take('out'), err: take('err') }
}

test.each(['auto', 'plain'] as const)(
  'what the shell prints into its old pipes is still read, tier %s',
  async (tier) => {
    const launcher = await startLauncher(tier)
    ends.push(() => launcher.close())
    const shell = spawn('bash', ['--norc'], { stdio: ['pipe', 'ignore', 'ignore'] })
    ends.push(() => shell.kill())
    const ward = { pid: shell.pid, wardenPid: shell.pid, initPid: null, mark: null, leaderStart: null }
    const services = { launcher, scratch: new Uint8Array(65_536) }
    const streams = new SessionStreams(services as unknown as Services, ward as unknown as Watched)
    ends.push(() => streams.close())

    const first = sink()
    const { redirects } = await streams.attach(first, false, false)
    shell.stdin.write(`exec ${redirects.map(({ fd, path }) => `${fd}>${path}`).join(' ')}; echo one; echo two >&2\n`)
    await until(() => first.said.length === 2)
    streams.detach()

    // This one is stopped: the shell never hears of its pipes.
    const stopped = sink()
    expect((await streams.attach(stopped, true, false)).redirects).toHaveLength(2)
    streams.detach()

    const next = sink()
    expect((await streams.attach(next, false, false)).redirects).toEqual([])
    shell.stdin.write('echo three; echo four >&2\n')
    await until(() => next.said.length === 2)
    expect(next.said.sort()).toEqual(['err four\n', 'out three\n'])
    expect(stopped.said).toEqual([])
  },
)
