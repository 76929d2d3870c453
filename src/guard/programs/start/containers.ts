/** Containers and far machines: a path inside is the host's only where a mount says so. */
import { nameList } from '../../../contract/quote.js'
import { resolvePath } from '../../words/paths.js'
import { hasUnknown, plain, UNKNOWN } from '../../words/text.js'
import { type Call, options, type Program } from '../row/call.js'

/** Options with a value. */
const DOCKER_RUN_VALUES = nameList(`
  volume env workdir user publish name mount network entrypoint hostname label memory cpus env-file platform pid ipc
  device cap-add security-opt restart add-host dns gpus shm-size ulimit userns runtime pull tmpfs log-driver cidfile
  volumes-from expose ip init-path stop-signal net
`)

/** Verbs behind which `run` or `create` is no verb of its own. */
const OTHER_VERBS = /^(?:build|ps|images|pull|push|volume|network|system|image)$/

/** docker run -v HOST:INSIDE IMAGE CMD: inside paths are the host's only where a mount says so. */
export const docker: Program = (call, name) => {
  const words = call.args
  // The user's own namespace, on the machine's own files.
  if (name === 'podman' && words[0] === 'unshare') return call.startExternal(words.slice(1))
  // `docker cp CONTAINER:PATH HERE`.
  const [copied, target] = words[0] === 'cp' ? options(words.slice(1)).operands : []
  if (copied?.includes(':') && target !== undefined && !target.includes(':') && target !== '-')
    call.effect('overwrite', target)
  if ((name === 'docker-compose' || words.includes('compose')) && words.some((word) => /^(?:up|run|start)$/.test(word)))
    composed(call)
  const at = words.findIndex((word) => /^(run|exec|create)$/.test(plain(word)))
  const isOther = words.slice(0, at).some((word) => OTHER_VERBS.test(word))
  if (name !== 'docker-compose' && at >= 0 && !isOther) {
    const given = options(words.slice(at + 1), { short: 'vewuphlmcan', long: DOCKER_RUN_VALUES, stop: true })
    const entry = given.get('entrypoint')
    const command = [...(entry === undefined ? [] : [entry]), ...given.operands.slice(1)]
    if (command.length === 0) return
    const running = plain(words[at] ?? '') === 'exec'
    const mounts = running ? undefined : mountsOf(given, call)
    const input = given.has('i', 'interactive') ? call.stdin : null
    const own = !['pid', 'pid=host'].some((flag) => given.get(flag) === 'host')
    // A privileged container sees the machine's devices.
    if (given.has('privileged') && mounts) for (const place of ['/dev', '/sys', '/proc']) mounts.set(place, place)
    for (const device of given.all('device')) mounts?.set(device.split(':').at(-1) ?? '', device.split(':')[0] ?? '')
    const inner = call.shell.fork()
    const directory = given.get('w', 'workdir')
    if (directory !== undefined) inner.cwd = [resolvePath(directory, '/')]
    // The image says where a command of its container begins; that is not where this shell is.
    else if (running) inner.cwd = [UNKNOWN]
    const run = (): unknown => call.walker.argv(command, inner, input)
    call.walker.namesakes.inside(mounts, () => (own ? call.walker.namesakes.within(run) : run()))
  }
}

/** A compose file that this command or its session wrote: its commands, with what all its services mount. */
function composed(call: Call): void {
  const given = options(call.args, { short: 'fp', long: ['file', 'project-name'] })
  const named = given.all('f', 'file')
  const files = named.length > 0 ? named : ['compose.yml', 'compose.yaml', 'docker-compose.yml', 'docker-compose.yaml']
  const home = call.shell.home[0] ?? '~'
  for (const text of call.texts(files)) {
    if (hasUnknown(text)) continue
    const mounts = new Map<string, string>()
    for (const [, host = '', inside = ''] of plain(text).matchAll(
      /(?<![\w.])([/~][^\s:"',]*):(\/[^\s:"',\]]*)(?!:ro)/g,
    ))
      mounts.set(resolvePath(inside, '/'), host.startsWith('~') ? home + host.slice(1) : host)
    for (const [, line = ''] of plain(text).matchAll(/^\s*(?:command|entrypoint):\s*(.+)$/gm)) {
      const words = line.startsWith('[') ? line.replace(/[[\],"']+/g, ' ') : line.replace(/^["']|["']$/g, '')
      call.walker.namesakes.inside(mounts, () => call.tryScript(words))
    }
  }
}

function mountsOf(given: ReturnType<typeof options>, call: Call): Map<string, string> {
  const mounts = new Map<string, string>()
  const add = (host: string, inside: string): void => {
    const named = call.resolve(host)
    const source = call.walker.namesakes.meaning(named) ?? call.walker.disk.real(named) ?? named
    if (/^[./~\uFDD0]/.test(host)) mounts.set(resolvePath(inside, '/'), source)
  }
  for (const volume of given.all('v', 'volume')) {
    const [host, inside, mode = ''] = volume.replace(/^=/, '').split(':')
    if (host !== undefined && inside !== undefined && !/\bro\b/.test(mode)) add(host, inside)
  }
  for (const mount of given.all('mount')) {
    const source = /(?:source|src)=([^,]+)/.exec(mount)?.[1]
    const target = /(?:target|dst|destination)=([^,]+)/.exec(mount)?.[1]
    if (source !== undefined && target !== undefined && !/readonly|\bro\b/.test(mount)) add(source, target)
  }
  return mounts
}

const POD_VALUES = nameList('container namespace filename shell context kubeconfig pod-running-timeout timeout')

/**
 * kubectl exec POD -- CMD, nomad, fly ssh console -C: the command runs on another machine, and is judged all the same.
 */
export const remoteExec: Program = (call) => {
  const dashes = call.argv.indexOf('--')
  const bare = call.argv.findIndex((word) => /^(exec|rsh)$/.test(word))
  const at = dashes > 0 ? dashes : bare
  const verb = call.argv.slice(1, at + 1).find((word) => /^(exec|run|ssh|debug|rsh|shell)$/.test(word))
  // `oc rsh POD CMD`: without dashes the command follows the pod, and without a command there is a shell.
  const given = options(call.argv.slice(bare + 1), { short: 'cnfsl', long: POD_VALUES, stop: true })
  const [, ...behind] = given.operands
  const command = dashes > 0 ? call.argv.slice(dashes + 1) : behind.length > 0 ? behind : ['sh']
  const run = (): unknown => call.start(command, call.stdin)
  const { namesakes } = call.walker
  if (verb === 'exec' || verb === 'rsh') namesakes.within(run)
  // What debugs a node has the node's root at /host.
  else if (verb === 'debug') namesakes.inside(new Map([['/host', '/']]), run)
  else if (verb !== undefined) run()
  for (const line of options(call.args, { short: 'C', long: ['command'] }).all('command', 'C'))
    call.tryScript(plain(line))
}
