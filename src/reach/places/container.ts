/**
 * `docker://name` or `docker://?image=I`, and the same for podman: a running container, or one
 * that is made and removed.
 */
import { ShellError } from '../../contract/errors.js'
import { badAddress, wordOf, wordSettings, type Address } from './address.js'
import { forgetRemoved, judgeBy, lastWords, type Step, type StepContext } from './place.js'

/** Stays for ever in any image that has a shell. */
const IDLE = ['sh', '-c', 'while :; do sleep 86400; done']
const CREATE_MS = 10 * 60_000
const IN_USE = /already in use/i
const NOT_THERE = /no such container|no container with name or id/i

export function containerStep(program: 'docker' | 'podman', address: Address): Step {
  const setting = wordSettings(address, ['image', 'network', 'memory', 'cpus', 'user'])
  const network = setting('network')
  if (network !== undefined && /^(?:host$|ns:|container:)/.test(network))
    throw badAddress(`${program}://?network=${network}`, 'a container that is made has a network of its own, or none')
  const image = setting('image')
  if ((image === undefined) === (address.rest === ''))
    throw badAddress(`${program}://${address.rest}`, 'it must name a container, or an image')
  const user = setting('user')
  const asUser = user ? ['-u', user] : []
  // The id of what was made here; the name could be another container's by now.
  let target = image === undefined ? wordOf(address.rest, 'the container', address, /^[\w][\w.-]*$/) : ''

  const create = async ({ run, made, name, labels, clientArgs }: StepContext): Promise<void> => {
    const before = made.read()
    if (before?.['id'] && (await isRunning(before['id']))) {
      target = before['id']
      return made.write(before)
    }
    if (before?.['id']) await run([program, ...clientArgs, 'rm', '-f', before['id']])
    const own = `cerith-${name}`
    // Written down before it is there: when this process is killed, its client goes on making it.
    made.write({ kind: program, id: own, until: String(Date.now() + CREATE_MS) })
    const words = [
      'run',
      '-d',
      // podman brings no init of its own; the shell that idles there waits for orphans itself.
      ...(program === 'docker' ? ['--init'] : []),
      `--name=${own}`,
      '--label=cerith=1',
      `--label=cerith/name=${name}`,
      ...Object.entries(labels).flatMap(([key, value]) => ['--label', `${key}=${value}`]),
      ...['network', 'memory', 'cpus', 'user'].flatMap((each) => (setting(each) ? [`--${each}`, setting(each)!] : [])),
    ]
    const end = await run([program, ...clientArgs, ...words, '--entrypoint', 'sh', image as string, ...IDLE.slice(1)], {
      timeoutMs: CREATE_MS,
    })
    if (end.code !== 0) {
      const failed = makingFailed(program, image as string, end.stderr)
      // One that could not be started is there all the same.
      if (!IN_USE.test(end.stderr)) await run([program, ...clientArgs, 'rm', '-f', own])
      made.forget()
      throw failed
    }
    target = end.stdout.trim().split('\n').at(-1) ?? ''
    made.write({ kind: program, id: target })

    async function isRunning(id: string): Promise<boolean> {
      const { stdout } = await run([program, ...clientArgs, 'inspect', '-f', '{{.State.Running}}', id])
      return stdout.trim() === 'true'
    }
  }

  return {
    wrap: (words, clientArgs) => [program, ...clientArgs, 'exec', '-i', ...asUser, target, ...words],
    judge: judgeBy([
      [NOT_THERE, 'gone'],
      [/is not running|can only create exec sessions on running/i, 'gone'],
      [/executable file not found|not found in \$PATH|permission denied/i, 'refused'],
    ]),
    hint:
      image === undefined
        ? `See \`${program} ps -a\`; try: ${program} exec ${target} true`
        : `Try: ${program} run --rm ${image} true`,
    ...(image === undefined
      ? {}
      : {
          acquire: create,
          async release({ run, made, clientArgs }) {
            const { id, until } = made.read() ?? {}
            if (id === undefined) return
            const end = await run([program, ...clientArgs, 'rm', '-f', id])
            // The client of a process that was killed may still be about to make it.
            if (NOT_THERE.test(end.stderr) && Number(until ?? 0) > Date.now()) return
            forgetRemoved(made, end, `The container ${id}`, NOT_THERE)
          },
        }),
  }
}

function makingFailed(program: string, image: string, stderr: string): ShellError {
  const said = lastWords(stderr, 2)
  if (IN_USE.test(said))
    return new ShellError(
      'PLACE_REFUSED',
      `A container of this name exists that was not made from here: ${said}`,
      `Remove it by hand: ${program} ps -a`,
    )
  if (/cannot connect|connection refused|is the docker daemon running/i.test(said))
    return new ShellError('PLACE_UNREACHABLE', `${program} cannot be reached: ${said}`, `Try: ${program} version`)
  return new ShellError(
    'PLACE_REFUSED',
    `No container could be made from ${image}: ${said}`,
    `Try: ${program} run --rm ${image} true`,
  )
}
