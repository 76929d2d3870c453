/** Builds a sandbox on this machine, lets a command try its walls, and says what held. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SandboxOptions } from '../../contract/sandbox.js'
import { createEngine } from '../../engine/engine.js'
import { broken, degraded, ofError, ok, type Finding } from './finding.js'

/**
 * What Landlock and seccomp alone must hold. Each line prints the name of a wall that did not. Bash alone does it: a
 * missing program is no broken wall.
 */
const WEAKER_PROBE = `
( : >"$OUTSIDE/written" ) 2>/dev/null && echo 'files outside'
read -r key 2>/dev/null <~/.ssh/key && echo 'credentials'
mapfile -t lines </proc/self/status; status="\${lines[*]}"
[[ $status == *Seccomp:?2* ]] || echo 'system calls'
( : >inside ) || echo 'BROKEN: the workspace is not writable'
`

/** A room holds more. */
export const PROBE = `${WEAKER_PROBE}
pids=(/proc/[0-9]*); [ "\${#pids[@]}" -lt 20 ] || echo 'processes outside'
[[ $status == *NoNewPrivs:?1* ]] || echo 'new privileges'
[[ $status == *CapEff:?0000000000000000* ]] || echo 'capabilities'
mapfile -t lines </proc/net/dev; [[ "\${lines[*]}" != *:*:* ]] || echo 'network'
( : >/tmp/x ) || echo 'BROKEN: /tmp is not writable'
`

const RELY = 'Do not rely on it here; please report this.'

export async function sandboxFindings(): Promise<Finding[]> {
  const name = 'sandbox'
  if (process.platform !== 'linux')
    return [
      degraded(
        name,
        `not supported on ${process.platform}`,
        'Sandboxes need Linux (a container or virtual machine will do); everything else works.',
      ),
    ]
  return Promise.all([landlockFinding(), roomFinding(name)])
}

async function roomFinding(name: string): Promise<Finding> {
  try {
    const { fell, ms, tier } = await tryWalls({ profile: 'workspace' }, PROBE)
    if (fell) return broken(name, `did not hold: ${fell}`, RELY)
    return ok(name, `${tier}: files, credentials, processes, privileges, system calls and network held (${ms} ms)`)
  } catch (error) {
    return degraded(name, ...ofError(error))
  }
}

/** Tried, not looked up: the kernel's list of its modules is not there in a container. */
async function landlockFinding(): Promise<Finding> {
  const name = 'Landlock'
  try {
    const { fell } = await tryWalls({ profile: 'workspace', tier: 'landlock' }, WEAKER_PROBE)
    if (fell) return broken(name, `did not hold by itself: ${fell}`, RELY)
    return ok(name, 'available; files, credentials and system calls held by it and seccomp alone')
  } catch (error) {
    return ok(name, `cannot be used (${ofError(error)[0]}); only a sandbox would`)
  }
}

/** Lets a command try the walls of a sandbox; says which fell, or nothing. */
async function tryWalls(
  sandbox: SandboxOptions,
  command: string,
): Promise<{ readonly fell: string; readonly ms: number; readonly tier: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'cerith-doctor-'))
  try {
    const home = join(folder, 'home')
    const work = join(home, 'work')
    const outside = join(folder, 'outside')
    for (const one of [work, outside, join(home, '.ssh')]) mkdirSync(one, { recursive: true })
    writeFileSync(join(home, '.ssh', 'key'), 'secret\n')
    const engine = await createEngine({
      cwd: work,
      stateDir: join(folder, 'state'),
      env: { PATH: process.env['PATH'], HOME: home, OUTSIDE: outside },
      sandbox,
    })
    try {
      const began = performance.now()
      const { stdout, sandbox: entered } = await engine.run({ command: `${command}echo done`, timeoutMs: 20_000 })
      const lines = stdout.trim().split('\n')
      const fell = lines.filter((line) => line !== 'done')
      if (lines.at(-1) !== 'done') fell.push('the probe did not end')
      return {
        fell: fell.join(', '),
        ms: Math.round(performance.now() - began),
        tier: entered?.tier ?? 'no sandbox',
      }
    } finally {
      await engine.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
