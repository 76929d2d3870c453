/** Looks at this machine: what cerith needs, what it could use, and how to get what is missing. */
import { execFile } from 'node:child_process'
import { statfsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { verifyAudit } from '../../audit/chain.js'
import { attempt } from '../../contract/attempt.js'
import { findBash } from '../../os/user/bash.js'
import { broken, degraded, ofError, ok, type Finding } from './finding.js'
import { configFinding, umaskFinding } from './config.js'
import { hookFindings } from './hooks.js'
import { kernelFindings } from './kernel.js'
import { mcpFindings } from './mcp.js'
import { placeFindings } from './place.js'
import { sandboxFindings } from './sandbox.js'
import { exposureFindings, limitFindings } from './sandbox-settings.js'
import { tryFindings } from './tries.js'
import { findHelper, findShellBuiltin, whyNoHelper } from '../../os/helper/file.js'
import { processesMarked } from '../../os/process/proc.js'
import { ensurePrivateDirectory, findStateDirectory } from '../../os/files/state-dir.js'
import { startLauncher } from '../../os/helper/tier.js'
import { namesIn } from '../../os/files/quietly.js'
import { isDeadEngine } from '../../os/helper/sweep.js'
import type { Io } from '../io/io.js'
import { placeOf } from '../verb/open-engine.js'

export interface Patient {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stateDir: string
  /** Why it is not the usual directory. */
  readonly elsewhere?: string | null
}

/** What `cerith doctor` says: about this machine, or about the place that the settings name. */
export async function allFindings(io: Io, { mcp }: { readonly mcp: boolean }): Promise<Finding[]> {
  // A configuration that cannot be read names no place; the finding about it says what is wrong.
  if (attempt(() => placeOf(io, undefined) !== null, false)) return [...(await placeFindings(io)), configFinding(io)]
  const { path: stateDir, problem: elsewhere } = findStateDirectory(io.env)
  return [
    ...(await examine({ env: io.env, stateDir, elsewhere })),
    ...exposureFindings(io),
    configFinding(io),
    umaskFinding(),
    ...hookFindings(io),
    ...(mcp ? await mcpFindings(io) : []),
  ]
}

/** Every finding about this machine, in the order in which they matter. Never throws. */
export async function examine(patient: Patient): Promise<Finding[]> {
  return [
    await bashFinding(),
    ...(await helperFindings(patient)),
    stateFinding(patient),
    leftoversFinding(patient),
    await auditFinding(patient),
    ...kernelFindings(),
    ...(await sandboxFindings()),
    ...limitFindings(),
    ...(await tryFindings(patient)),
  ]
}

async function bashFinding(): Promise<Finding> {
  try {
    const { path, version } = await findBash()
    return ok('bash', `${version} (${path})`)
  } catch (error) {
    return broken('bash', ...ofError(error))
  }
}

/** The helper decides on the tier, and a terminal needs it. */
async function helperFindings({ env }: Patient): Promise<Finding[]> {
  const file = findHelper(env)
  const missing = file
    ? { what: `${file} cannot be used`, fix: 'Run it by hand with the word `serve` and see what it says.' }
    : whyNoHelper(env)
  try {
    const launcher = await startLauncher('auto')
    const native = launcher.tier === 'native'
    await launcher.close()
    if (native)
      return [ok('native helper', String(file)), ok('terminals', 'provided by the helper'), await programsFinding(env)]
    return [
      degraded(
        'native helper',
        `${missing.what}${file ? await lastWords(file) : ''}; the plain tier is used`,
        missing.fix,
      ),
      degraded('terminals', 'need the native helper', missing.fix),
    ]
  } catch (error) {
    return [broken('native helper', ofError(error)[0], missing.fix)]
  }
}

/** Why a helper that is there gives up at once. */
async function lastWords(file: string): Promise<string> {
  return new Promise((resolve) => {
    const helper = execFile(file, ['serve'], { timeout: 5_000, env: {} }, (error, _, stderr) => {
      const said = stderr.trim().split('\n')[0] || (error as NodeJS.ErrnoException | null)?.code
      resolve(said ? `: ${said}` : '')
    })
    helper.stdin?.on('error', () => {}).end()
  })
}

/**
 * Whether bash really loads what is to start the programs of sessions. Without it everything works, a little slower.
 */
async function programsFinding(env: Patient['env']): Promise<Finding> {
  const name = 'programs in sessions'
  const byBash = (why: string): Finding => ok(name, `started by bash itself, which takes longer: ${why}`)
  try {
    const { path, version } = await findBash()
    const file = findShellBuiltin(version, env)
    if (file === null)
      return byBash(Number.parseInt(version, 10) < 5 ? `bash ${version} is older than 5` : 'the builtin is not there')
    await promisify(execFile)(path, ['--norc', '--noprofile', '-c', 'enable -f "$1" __cerith', 'bash', file], {
      timeout: 5_000,
      env: {},
    })
    return ok(name, `started by ${file}`)
  } catch (error) {
    return byBash((error as { stderr?: string }).stderr?.trim().split('\n')[0] || ofError(error)[0])
  }
}

function stateFinding({ stateDir, elsewhere = null }: Patient): Finding {
  const name = 'state directory'
  try {
    ensurePrivateDirectory(stateDir)
    if (elsewhere !== null) return degraded(name, elsewhere, 'Set CERITH_HOME to a directory of your own.')
    const { bavail, bsize } = statfsSync(stateDir)
    const freeMegabytes = Math.floor((bavail * bsize) / 1024 ** 2)
    if (freeMegabytes < 100)
      return degraded(
        name,
        `${stateDir} has ${freeMegabytes} MB left`,
        'Free some space, or set CERITH_HOME to another disk; `cerith clean` forgets finished jobs.',
      )
    return ok(
      name,
      `${stateDir} (0700, ` +
        `${freeMegabytes > 10_000 ? `${Math.floor(freeMegabytes / 1024)} GB` : `${freeMegabytes} MB`} free)`,
    )
  } catch (error) {
    return broken(name, ...ofError(error, 'Set CERITH_HOME to a directory of your own.'))
  }
}

/** Engines that died without closing, and processes that still carry their mark. */
function leftoversFinding({ stateDir }: Patient): Finding {
  const dir = join(stateDir, 'run')
  const engines = namesIn(dir)
  const dead = engines.filter((id) => isDeadEngine(join(dir, id)))
  const alive = engines.length - dead.length
  const pids = dead.flatMap((id) => processesMarked(`CERITH_ENGINE=${id}`)).map(({ pid }) => pid)
  const detail =
    `${alive} ${alive === 1 ? 'engine' : 'engines'} alive, ${dead.length} dead, ${pids.length} of their ` +
    'processes left'
  if (pids.length === 0) return ok('leftovers', detail)
  return degraded(
    'leftovers',
    `${detail}: ${pids.slice(0, 10).join(', ')}`,
    'The next engine ends them: run any command, for example `cerith ps`.',
  )
}

async function auditFinding({ stateDir }: Patient): Promise<Finding> {
  const { lines, intact, problems } = await verifyAudit(join(stateDir, 'audit.jsonl'))
  const told = problems.length === 0 ? '' : `, ${problems.length} ${problems.length === 1 ? 'remark' : 'remarks'}`
  const detail = `${lines} ${lines === 1 ? 'line' : 'lines'}${told}`
  if (intact) return ok('audit log', detail)
  return degraded('audit log', detail, 'Lines were changed or taken out; see `cerith audit --verify`.')
}
