/**
 * One command outside the sandbox: always asked about, bound to what was shown, used once. The room stands
 * still from the question to the end, so that nothing in it can exchange what the person looked at.
 */
import { createHash } from 'node:crypto'
import { realpathSync, statSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { isInside } from '../../contract/names/inside.js'
import { readRegular } from '../../os/files/shared-file.js'
import type { Services } from '../services/services.js'
import type { Plan } from './plan.js'

const MAX_FILES = 20
const MAX_BYTES = 16 << 20

/** The plan as it is asked about: what is denied stays denied, everything else is a question. */
export function outsidePlan(plan: Plan, services: Services): Plan {
  const { sandbox, baseEnv } = services
  const { outside = '' } = plan.request
  if (!sandbox || plan.verdict.decision === 'deny') return plan
  const env: Record<string, string> = { ...plan.env }
  // The room's caches, its /tmp and its proxy are not for a command outside.
  for (const name of Object.keys(sandbox.environment)) {
    const own = plan.request.env?.[name] ?? baseEnv[name]
    if (own === undefined) delete env[name]
    else env[name] = own
  }
  const forbidden = sandbox.options.outside === 'never'
  const verdict: Plan['verdict'] = {
    ...plan.verdict,
    decision: forbidden ? 'deny' : 'ask',
    rule: 'outside',
    reason: forbidden
      ? 'sandbox.outside is never: no command may run outside the sandbox'
      : 'it is to run OUTSIDE the sandbox, with all rights of the user. The reason given: ' +
        `${JSON.stringify(outside)}. ${contents(plan, services)}${variables(plan, services)}`,
    guidance: 'Do it inside the sandbox, or tell the person what to run.',
  }
  return { ...plan, env, verdict, summary: { ...plan.summary, verdict } }
}

/** What a program does depends on them as much as on its arguments. */
function variables({ request }: Plan, { secrets }: Services): string {
  const given = Object.entries(request.env ?? {}).map(([name, value]) =>
    secrets.mask(`${name}=${JSON.stringify(value)}`),
  )
  return given.length === 0 ? '' : ` It is given the variables ${given.join(', ')}.`
}

/** What a person agreed to; compared again before the start. */
export function shownContents(plan: Plan, services: Services): string {
  const { dev, ino } = statSync(plan.cwd)
  return `${dev}:${ino} ${contents(plan, services)}`
}

/** Files in writable directories that the command names or starts: commands in the sandbox could have written them. */
function contents({ verdict, cwd, env }: Plan, { sandbox }: Services): string {
  const roots = sandbox?.writable ?? []
  const found = new Map<string, string>()
  for (const argv of verdict.commands)
    for (const [at, word] of argv.entries())
      for (const path of at === 0 && !word.includes('/') ? onPath(word, env['PATH'] ?? '') : [resolve(cwd, word)]) {
        const digest = found.size < MAX_FILES ? digestOf(path, roots) : null
        if (digest !== null) found.set(path, digest)
      }
  if (found.size === 0) return 'It names no file that the sandbox could have written, but may read some.'
  const list = [...found].map(([path, digest]) => `${path} (sha256 ${digest})`).join(', ')
  return `It uses files that commands in the sandbox could have written: ${list}.`
}

function onPath(program: string, path: string): string[] {
  for (const directory of path.split(delimiter)) {
    if (directory === '') continue
    const file = join(directory, program)
    if (statSync(file, { throwIfNoEntry: false })?.isFile()) return [file]
  }
  return []
}

function digestOf(path: string, roots: readonly string[]): string | null {
  try {
    const real = realpathSync(path)
    const facts = statSync(real)
    if (!facts.isFile() || !roots.some((root) => isInside(real, root))) return null
    if (facts.size > MAX_BYTES) return `too large: ${facts.size} bytes, changed ${facts.mtimeMs}`
    const bytes = readRegular(real, MAX_BYTES, 'refuse')
    return bytes && createHash('sha256').update(bytes).digest('hex').slice(0, 16)
  } catch {
    return null
  }
}
