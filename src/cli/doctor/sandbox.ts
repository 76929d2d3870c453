/** Builds a sandbox on this machine, lets a command try its walls, and says what held. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine } from '../../engine/engine.js'
import { broken, degraded, ofError, ok, type Finding } from './finding.js'

/** Each line of the probe prints the name of a wall that did not hold. */
const PROBE = `
( : >"$OUTSIDE/written" ) 2>/dev/null && echo 'files outside'
cat ~/.ssh/key 2>/dev/null && echo 'credentials'
[ "$(ls -d /proc/[0-9]* | wc -l)" -lt 20 ] || echo 'processes outside'
grep -q 'NoNewPrivs:.1' /proc/self/status || echo 'new privileges'
grep -q 'CapEff:.0000000000000000' /proc/self/status || echo 'capabilities'
grep -q 'Seccomp:.2' /proc/self/status || echo 'system calls'
[ "$(grep -c : /proc/net/dev)" -le 1 ] || echo 'network'
( : >inside ) || echo 'BROKEN: the workspace is not writable'
( : >/tmp/x ) || echo 'BROKEN: /tmp is not writable'
echo done`

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
  const folder = mkdtempSync(join(tmpdir(), 'cerith-doctor-'))
  try {
    const [home, work, outside] = ['home', 'home/work', 'outside'].map((one) => join(folder, one)) as [
      string,
      string,
      string,
    ]
    for (const one of [work, outside, join(home, '.ssh')]) mkdirSync(one, { recursive: true })
    writeFileSync(join(home, '.ssh', 'key'), 'secret\n')
    const engine = await createEngine({
      cwd: work,
      stateDir: join(folder, 'state'),
      env: { PATH: process.env['PATH'], HOME: home, OUTSIDE: outside },
      sandbox: { profile: 'workspace' },
    })
    try {
      const began = performance.now()
      const { stdout, sandbox } = await engine.run({ command: PROBE, timeoutMs: 20_000 })
      const lines = stdout.trim().split('\n')
      const fell = lines.filter((line) => line !== 'done')
      if (fell.length > 0 || lines.at(-1) !== 'done')
        return [
          broken(
            name,
            `did not hold: ${fell.join(', ') || 'the probe did not end'}`,
            'Do not rely on it here; please report this.',
          ),
        ]
      const ms = Math.round(performance.now() - began)
      return [
        ok(
          name,
          `${sandbox?.tier ?? 'rooms'}: files, credentials, processes, privileges, system calls and network held (${ms} ms)`,
        ),
      ]
    } finally {
      await engine.close()
    }
  } catch (error) {
    return [degraded(name, ...ofError(error))]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
