/** What `doctor --at` finds at another place: the link, the shell, and what would surprise its user. */
import type { Engine } from '../../contract/engine.js'
import type { Io } from '../io/io.js'
import { withEngine } from '../verb/open-engine.js'
import { broken, degraded, ofError, ok, type Finding } from './finding.js'

const ROUNDS = 5

export async function placeFindings(io: Io): Promise<Finding[]> {
  const startedAt = performance.now()
  try {
    return await withEngine(io, {}, (engine) => look(engine, performance.now() - startedAt))
  } catch (error) {
    return [broken('place', ...ofError(error))]
  }
}

async function look(engine: Engine, openMs: number): Promise<Finding[]> {
  const { url = '', host = '', platform = '' } = engine.place ?? {}
  const session = await engine.session('doctor')
  const times: number[] = []
  for (let i = 0; i < ROUNDS; i++) {
    const at = performance.now()
    await session.run({ command: 'true' })
    times.push(performance.now() - at)
  }
  const say = async (command: string): Promise<string> => (await session.run({ command })).stdout.trim()
  const facts = [
    'grep -hs "^KillUserProcesses=yes" /etc/systemd/logind.conf /etc/systemd/logind.conf.d/*.conf | head -1',
    'test -S /var/run/docker.sock && echo socket',
    'test "$(cat /proc/2/comm 2>/dev/null)" = kthreadd && echo kernel',
    'sed -n "s/^CapEff:.//p" /proc/self/status',
    'stat -f -c %T /dev/shm 2>/dev/null',
  ]
  const [kills, socket, kernel, caps, memory] = await Promise.all(facts.map(say))
  await session.close()
  const isContainer = /(?:docker|podman|k8s):\/\/[^!]*$/.test(url)
  const findings = [
    ok('place', `${url}: ${host}, ${platform}, bash ${engine.shell.version}, in ${engine.cwd}`),
    ok('link', `open after ${Math.round(openMs)} ms; \`true\` takes ${Math.min(...times).toFixed(1)} ms`),
  ]
  const warn = (name: string, detail: string, fix: string): void => void findings.push(degraded(name, detail, fix))
  if (engine.place && !engine.place.isSameBuild)
    warn(
      'build',
      'the engine there was started by another build of cerith, and has the guard and the fixes of that one',
      `It ends when it had no link for the time of \`reach.leaseMs\`, or at once, with its sessions, by \`kill ` +
        `${engine.place.pid}\` there.`,
    )
  if (kills)
    warn(
      'logout',
      'the machine ends all processes of a user at logout',
      'KillUserProcesses=no, or `loginctl enable-linger`: without it a cut link loses the sessions.',
    )
  if (memory !== 'tmpfs')
    warn(
      'run directory',
      '/dev/shm is no tmpfs: the state of sessions may reach a disk',
      'Set XDG_RUNTIME_DIR there to a directory on tmpfs.',
    )
  if (isContainer && socket)
    warn(
      'docker socket',
      'the container holds the socket of its docker: commands can leave it',
      'Start it without that mount.',
    )
  if (isContainer && kernel)
    warn('processes', 'the container sees the processes of its host', 'Start it without --pid=host.')
  // CAP_SYS_ADMIN, bit 21.
  if (isContainer && ((BigInt(`0x${caps || '0'}`) >> 21n) & 1n) === 1n)
    warn('privileges', 'the container may administer its host (CAP_SYS_ADMIN)', 'Start it without --privileged.')
  return findings
}
