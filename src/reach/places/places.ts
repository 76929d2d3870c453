/** Makes a place from its address: the steps of a chain, each run where the one before it leads. */
import { badRequest } from '../../contract/errors.js'
import type { ReachOptions } from '../../contract/place.js'
import { runClient } from '../../os/process/client.js'
import { badAddress, KINDS_HELP, readAddress } from './address.js'
import { containerStep } from './container.js'
import { kubernetesStep } from './kubernetes.js'
import type { Made, Place, Step, StepContext } from './place.js'
import { slurmStep } from './slurm.js'
import { sshStep } from './ssh.js'

export interface PlaceContext {
  readonly reach: ReachOptions
  readonly name: string
  readonly made: Made
  readonly batch: string
}

/** This machine, through a link: for tests, and for engines that must outlive their host. */
const LOOP: Step = { wrap: (words) => words, judge: () => 'retry', hint: 'Is there a shell called sh?' }

export function placeAt(url: string, { reach, name, made, batch }: PlaceContext): Place {
  const steps = url.split('!').map(stepFor)
  const clientArgs = reach.clientArgs ?? []
  const last = steps.at(-1) as Step
  // The arguments of the person are for the client that runs here.
  const wrap = (words: readonly string[], count: number): readonly string[] =>
    steps.slice(0, count).reduceRight((inner, step, i) => step.wrap(inner, i === 0 ? clientArgs : []), words)
  const context = (i: number): StepContext => ({
    run: (words, options) => runClient(wrap(words, i), options),
    made,
    name,
    labels: reach.labels ?? {},
    batch,
    clientArgs: i === 0 ? clientArgs : [],
  })
  if (steps.slice(0, -1).some(({ release }) => release)) throw badAddress(url, 'only its last step can be made')
  return {
    url,
    cwd: last.cwd ?? null,
    isMade: last.release !== undefined,
    start: last.start ?? 'here',
    argv: (words) => wrap(words, steps.length),
    judge: ({ stderr }) => steps.map((step) => step.judge(stderr)).find((each) => each !== 'retry') ?? 'retry',
    hint: ({ stderr }) => (/ENOENT/.test(stderr) ? `Is ${wrap([], 1)[0]} installed here?` : last.hint),
    acquire: async () => {
      for (const [i, step] of steps.entries()) await step.acquire?.(context(i))
    },
    release: async () => last.release?.(context(steps.length - 1)),
  }
}

function stepFor(text: string): Step {
  const address = readAddress(text)
  switch (address.kind) {
    case 'loop':
      return LOOP
    case 'ssh':
      return sshStep(address)
    case 'docker':
    case 'podman':
      return containerStep(address.kind, address)
    case 'k8s':
      return kubernetesStep(address)
    case 'slurm':
      return slurmStep(address)
    default:
      throw badRequest(`There is no kind of place called ${address.kind}`, `Places: ${KINDS_HELP}.`)
  }
}
