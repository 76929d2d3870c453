import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { exposures } from '../../../src/confine/exposure.js'
import { limitFindings } from '../../../src/cli/doctor/sandbox-settings.js'
import { tree } from '../../confine/tree.js'
import { makeWorld } from '../harness.js'

const world = makeWorld()
const userFile = join(world.home, '..', '.config', 'cerith', 'cerith.config.json')
const configure = (sandbox: unknown): void => {
  mkdirSync(join(userFile, '..'), { recursive: true })
  writeFileSync(userFile, JSON.stringify({ sandbox }))
}

interface Row {
  readonly name: string
  readonly state: string
  readonly detail: string
}

async function row(name: string): Promise<Row | undefined> {
  const { out } = await world.cli('doctor', '--json', '--no-mcp')
  return (JSON.parse(out) as { findings: Row[] }).findings.find((finding) => finding.name === name)
}

test.skipIf(process.platform !== 'linux')('doctor says which limits can be kept, by trying', () => {
  const [finding] = limitFindings()
  expect(finding?.detail).toContain('tmpBytes')
  for (const limit of ['memoryBytes', 'processes', 'cpus']) expect(finding?.detail).toContain(limit)
  expect(finding?.state === 'ok').toBe(finding?.fix === null)
})

test('doctor warns of what a configured sandbox gives away, and is silent without a sandbox', async () => {
  configure({ profile: 'workspace', sockets: ['/var/run/docker.sock'] })
  const finding = await row('sandbox settings')
  expect(finding?.state).toBe('degraded')
  expect(finding?.detail).toContain('owns the machine')
  configure({ profile: 'off' })
  expect(await row('sandbox settings')).toBeUndefined()
})

describe('sockets by their names', () => {
  test.each([
    ['/var/run/docker.sock', 'owns the machine'],
    ['/run/user/1000/podman/podman.sock', 'owns the machine'],
    ['/tmp/ssh-abc/agent.4711', 'signs with your keys'],
    ['/run/user/1000/gnupg/S.gpg-agent', 'signs with your keys'],
    ['/run/user/1000/bus', 'start anything'],
    ['/run/dbus/system_bus_socket', 'start anything'],
    ['/tmp/.X11-unix/X0', 'watch and type'],
    ['/run/user/1000/wayland-0', 'watch and type'],
    ['/tmp/tmux-1000/default', 'type there'],
  ])('%s', (path, why) => {
    expect(exposures({ profile: 'workspace', sockets: [path] }, [], tree([])).join()).toContain(why)
  })

  test('nothing is said of what gives nothing away', () => {
    expect(exposures({ profile: 'workspace', show: ['/opt/data'] }, ['/srv/app'], tree(['/srv/app/']))).toEqual([])
  })
})
