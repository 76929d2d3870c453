/**
 * `slurm://partition?cpus=&mem=&time=` or `slurm://?job=J`: the person's own sbatch and srun. The engine is
 * a job of its own (or a step that this machine keeps): what a link's step starts would end with the step.
 */
import { ShellError } from '../../contract/errors.js'
import { startClient } from '../../os/process/client.js'
import { badAddress, wordOf, wordSettings, type Address } from './address.js'
import { codeOf, forgetRemoved, judgeBy, lastWords, type Step, type StepContext } from './place.js'

const START_MS = 5 * 60_000
const LOOK_EVERY_MS = 250
const WAITING = ['PENDING', 'CONFIGURING']

export function slurmStep(address: Address): Step {
  const setting = wordSettings(address, ['job', 'cpus', 'mem', 'time', 'account', 'qos', 'gres'])
  const given = setting('job')
  if (given !== undefined && !/^\d+$/.test(given)) throw badAddress(`slurm://${address.rest}`, 'a job is a number')
  const partition = address.rest === '' ? undefined : wordOf(address.rest, 'the partition', address)
  if (given === undefined && partition === undefined) throw badAddress('slurm://', 'it must name a partition, or a job')
  let job = given ?? ''

  const enqueue = async ({ run, name, batch, clientArgs }: StepContext): Promise<string> => {
    // Neither our environment nor a file of output: the job gets its key over the first link.
    const words = [
      'sbatch',
      '--parsable',
      '--export=NONE',
      '--output=/dev/null',
      '--error=/dev/null',
      `--job-name=cerith-${name}`,
      '-n1',
      `--partition=${partition}`,
    ]
    for (const name of ['cpus', 'mem', 'time', 'account', 'qos', 'gres'])
      if (setting(name)) words.push(`--${name === 'cpus' ? 'cpus-per-task' : name}=${setting(name)}`)
    const end = await run([...words, ...clientArgs], { input: batch })
    if (end.code !== 0) throw submitFailed(end.stderr)
    return end.stdout.trim().split(';')[0] ?? ''
  }

  const submit = async (context: StepContext): Promise<void> => {
    const { run, made } = context
    const before = made.read()?.['job']
    // Also one that still waits for its turn.
    const isThere = before !== undefined && ['RUNNING', ...WAITING].includes(await stateOf(before, run))
    job = isThere ? before : await enqueue(context)
    made.write({ kind: 'slurm', job })
    for (const startedAt = performance.now(); ; await new Promise((next) => setTimeout(next, LOOK_EVERY_MS))) {
      const state = await stateOf(job, run)
      if (state === 'RUNNING') return
      if (!WAITING.includes(state))
        throw new ShellError(
          'PLACE_GONE',
          `The Slurm job ${job} ended before it was used (${state || 'unknown'})`,
          `See: scontrol show job ${job}`,
        )
      if (performance.now() - startedAt < START_MS) continue
      const reason = (await run(['squeue', '-h', '-j', job, '-o', '%r'])).stdout.trim()
      await run(['scancel', job])
      made.forget()
      throw new ShellError(
        'PLACE_FULL',
        `The Slurm job ${job} did not start within ${START_MS / 60_000} min (${reason})`,
        `See: squeue -p ${partition}`,
      )
    }
  }

  /** A step in an allocation of the person's: it lives as long as the client that is started for it here. */
  const keepStep = async ({ batch, clientArgs }: StepContext): Promise<void> => {
    const step = startClient(['srun', ...clientArgs, ...stepWords(job), '/bin/sh', '-s'])
    step.input.end(batch)
    step.hold(false)
  }

  return {
    start: 'batch',
    wrap: (words, clientArgs) => ['srun', ...clientArgs, ...stepWords(job), ...words],
    judge: judgeBy([
      // The step that would have become the engine ended with an earlier one.
      [/the engine there did not start/, 'gone'],
      [
        /invalid job id|job\/step already completing|has been cancelled|job has been revoked|expired|unable to confirm allocation/i,
        'gone',
      ],
      [/access\/permission denied|invalid partition|invalid account/i, 'refused'],
    ]),
    hint: given === undefined ? `Try: srun -p ${partition} -n1 true` : `Try: srun --jobid ${given} --overlap -n1 true`,
    acquire: given === undefined ? submit : keepStep,
    async release({ run, made }) {
      const mine = made.read()?.['job']
      if (mine) forgetRemoved(made, await run(['scancel', mine]), `The Slurm job ${mine}`, /invalid job id/i)
    },
  }
}

/** Unbuffered: lines of the protocol do not wait for a newline. */
function stepWords(job: string): string[] {
  return ['--jobid', job, '--overlap', '-n1', '-u', '--export=NONE', '--quiet']
}

async function stateOf(job: string, run: StepContext['run']): Promise<string> {
  return (await run(['squeue', '-h', '-j', job, '-o', '%T'])).stdout.trim()
}

function submitFailed(stderr: string): ShellError {
  const said = lastWords(stderr, 1)
  const code = codeOf(said, { full: /limit|quota/i, unreachable: /unable to contact|connect/i })
  return new ShellError(code, `sbatch refused the job: ${said}`, 'Try the same with sbatch --test-only.')
}
