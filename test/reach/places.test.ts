/** Addresses become words of clients: the right ones, quoted once, and never an option that an address smuggled in. */
import { describe, expect, test } from 'vitest'
import { placeAt } from '../../src/reach/places/places.js'

const NONE = { read: () => null, write: () => {}, forget: () => {} }
const at = (url: string, clientArgs: readonly string[] = []) =>
  placeAt(url, { reach: { clientArgs }, name: 'n', made: NONE, batch: '' })
const words = (url: string, clientArgs?: readonly string[]): readonly string[] =>
  at(url, clientArgs).argv(['sh', '-c', "it's"])

describe('words', () => {
  test('ssh forwards nothing, asks nothing, leaves host keys alone, and quotes for the shell there', () => {
    const argv = words('ssh://ann@build:2222/srv/app', ['-J', 'bastion'])
    expect(argv[0]).toBe('ssh')
    for (const option of [
      'ForwardAgent=no',
      'ForwardX11=no',
      'ClearAllForwardings=yes',
      'BatchMode=yes',
      'ControlMaster=no',
      'PermitLocalCommand=no',
      'SendEnv=-*',
      'Tunnel=no',
    ])
      expect(argv).toContain(option)
    expect(argv.join(' ')).not.toMatch(/StrictHostKeyChecking|UserKnownHosts/)
    expect(argv.slice(-8)).toEqual(
      ['-J', 'bastion', '-p', '2222', '-l', 'ann', '--', 'build', `exec sh -c 'it'\\''s'`].slice(-8),
    )
    expect(at('ssh://build/srv/app').cwd).toBe('/srv/app')
  })

  test('containers, pods and allocations', () => {
    expect(words('docker://c1', ['--context', 'prod'])).toEqual([
      'docker',
      '--context',
      'prod',
      'exec',
      '-i',
      'c1',
      'sh',
      '-c',
      "it's",
    ])
    expect(words('podman://c1?user=1000')).toEqual(['podman', 'exec', '-i', '-u', '1000', 'c1', 'sh', '-c', "it's"])
    expect(words('k8s://prod/agents/box?container=main')).toEqual([
      'kubectl',
      '--context',
      'prod',
      '-n',
      'agents',
      'exec',
      '-i',
      '-c',
      'main',
      'box',
      '--',
      'sh',
      '-c',
      "it's",
    ])
    expect(words('slurm://?job=17')).toEqual([
      'srun',
      '--jobid',
      '17',
      '--overlap',
      '-n1',
      '-u',
      '--export=NONE',
      '--quiet',
      'sh',
      '-c',
      "it's",
    ])
  })

  test('names as companies have them: a user of a domain, a context with slashes', () => {
    expect(words('ssh://CORP\\ann@build').slice(-5, -1)).toEqual(['-l', 'CORP\\ann', '--', 'build'])
    expect(words('ssh://ann@corp.example@build').slice(-5, -1)).toEqual(['-l', 'ann@corp.example', '--', 'build'])
    expect(words('ssh://a!ssh://CORP\\ann@b').at(-1)).toContain(` -l 'CORP\\ann' -- b `)
    const context = 'arn:aws:eks:eu-west-1:1234:cluster/prod'
    expect(words(`k8s://${context}/agents/box`).slice(0, 7)).toEqual(
      ['kubectl', '--context', context, '-n', 'agents', 'exec', '-i'],
    ) // prettier-ignore
  })

  test('a chain is quoted once for each shell on the way; arguments of the person are for the first client', () => {
    const argv = words('ssh://login!docker://c1', ['-J', 'x'])
    expect(argv.at(-1)).toBe(`exec docker exec -i c1 sh -c 'it'\\''s'`)
    expect(argv.filter((word) => word === '-J')).toHaveLength(1)
    expect(words('ssh://a!ssh://b').at(-1)).toMatch(/^exec ssh -T .* -- b 'exec sh -c /)
  })
})

test.each([
  'ssh://', 'ssh://-oProxyCommand=id', 'ssh://-l@host', 'ssh://a b', 'ssh://host$(id)', 'docker://', 'docker://--privileged', 'docker://c1?image=x',
  'docker://c1?privileged=1', 'docker://?image=-v', 'k8s://box', 'k8s://ns/-x', 'k8s://ns/pod?context=x', 'slurm://', 'slurm://?job=1;id', 'slurm://-x',
  'slurm://p?mem=1 -x', 'ftp://x', 'x', '', 'docker://?image=i!ssh://x',
  'docker://?image=%zz', 'k8s://ns/?template=', 'k8s://ns/?template=-', 'k8s://ns/?template=--raw=/x', 'k8s://ns/?template=%2d',
])('%j is not a place', (url) => {
  expect(() => words(url)).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }))
}) // prettier-ignore

test.each([
  ['ssh://h', 'h: Permission denied (publickey).', 'refused'],
  ['ssh://h', 'bash: /opt/tools/env.sh: Permission denied\nConnection reset by 192.0.2.1 port 22', 'retry'],
  ['ssh://h', 'Host key verification failed.', 'refused'],
  ['ssh://h', 'ssh: connect to host h port 22: Connection refused', 'retry'],
  ['docker://c', 'Error response from daemon: No such container: c', 'gone'],
  ['docker://c', 'Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?', 'retry'],
  ['docker://c', 'Error response from daemon: Container c is paused, unpause the container before exec', 'retry'],
  ['podman://c', 'Error: no container with name or ID "c" found: no such container', 'gone'],
  ['k8s://n/p', 'Error from server (NotFound): pods "p" not found', 'gone'],
  ['k8s://n/p', 'Error from server (Forbidden): pods "p" is forbidden', 'refused'],
  ['k8s://n/p', 'The connection to the server was refused', 'retry'],
  ['slurm://?job=1', 'srun: error: Unable to confirm allocation for job 1: Invalid job id specified', 'gone'],
])('%s: %s means %s', (url, stderr, meaning) => {
  expect(at(url).judge({ code: 0, signal: null, stderr })).toBe(meaning)
})
