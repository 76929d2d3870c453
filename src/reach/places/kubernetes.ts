/** `k8s://[context/]namespace/pod` or `k8s://[context/]namespace/?template=pod.yaml`: the person's own kubectl. */
import { attempt } from '../../contract/attempt.js'
import { badRequest, ShellError } from '../../contract/errors.js'
import { badAddress, knownSettings, wordOf, type Address } from './address.js'
import { codeOf, forgetRemoved, judgeBy, lastWords, type Step, type StepContext } from './place.js'

const READY_MS = 5 * 60_000
/** A client whose process was killed may still be about to make something for so long. */
const CREATE_MS = 10 * 60_000
/**
 * Kubernetes ends a pod that cerith made after so long, whatever happens on this side; a template may say otherwise.
 */
const BACKSTOP_SECONDS = 24 * 60 * 60
const NOT_THERE = /notfound|not found/i

/** A Pod, or a claim on one that a controller makes or has ready (SandboxClaim of kubernetes-sigs/agent-sandbox). */
interface Template {
  apiVersion?: string
  kind?: string
  metadata?: { name?: string; generateName?: string; labels?: Record<string, string>; [key: string]: unknown }
  spec?: Record<string, unknown>
}

export function kubernetesStep(address: Address): Step {
  knownSettings(address, ['template', 'container'])
  const word = (text: string, what: string): string => wordOf(text, what, address)
  const parts = address.rest.split('/').filter((part) => part !== '')
  const template = address.query.get('template')
  const names = template === undefined ? parts.slice(0, -1) : parts
  if (names.length < 1 || (template === undefined && parts.length < 2))
    throw badAddress(`k8s://${address.rest}`, 'it must be k8s://[context/]namespace/pod, or a namespace and ?template=')
  if (template?.startsWith('-') || template === '')
    throw badAddress(`k8s://${address.rest}`, `${JSON.stringify(template)} is no file`)
  const namespace = word(names.at(-1) as string, 'the namespace')
  // A context may have slashes, as those of EKS do.
  const context = names.slice(0, -1).join('/')
  // Fixed with the first link: a changed current-context changes nothing for an engine that runs.
  let cluster: readonly string[] = context === '' ? [] : ['--context', word(context, 'the context')]
  let pod = template === undefined ? word(parts.at(-1) as string, 'the pod') : ''
  const container = address.query.get('container')
  const inContainer = container === undefined ? [] : ['-c', word(container, 'the container')]

  const inNamespace = (words: readonly string[], clientArgs: readonly string[]): string[] => {
    return ['kubectl', ...clientArgs, ...cluster, '-n', namespace, ...words]
  }

  const fix = async ({ run, clientArgs }: StepContext): Promise<void> => {
    if (cluster.includes('--server')) return
    const context = cluster[1] ?? (await run(['kubectl', ...clientArgs, 'config', 'current-context'])).stdout.trim()
    const view = ['config', 'view', '--minify', '--context', context, '-o', 'jsonpath={.clusters[0].cluster.server}']
    const server = context === '' ? '' : (await run(['kubectl', ...clientArgs, ...view])).stdout.trim()
    // In a pod with a service account there is neither a context nor a file; its server does not change.
    cluster = context === '' ? [] : ['--context', context, ...(server === '' ? [] : ['--server', server])]
  }

  const create = async (context: StepContext): Promise<void> => {
    const { run, made, name, labels, clientArgs } = context
    const kubectl = (...words: string[]): string[] => inNamespace(words, clientArgs)
    const get = async (what: string, path: string): Promise<string> =>
      (await run(kubectl('get', ...what.split(' '), '-o', `jsonpath=${path}`))).stdout.trim()
    const before = made.read()
    if (before?.['podUid']) {
      const seen = await get(`pod ${before['pod']}`, '{.metadata.uid} {.status.phase}')
      if (seen === `${before['podUid']} Running`) {
        pod = before['pod'] as string
        return made.write(before)
      }
    }
    // Not running, or never ready: its name is taken until it is removed.
    if (before) await remove(context, 0)
    const read = await run(kubectl('create', '-f', template as string, '--dry-run=client', '-o', 'json'))
    if (read.code !== 0) throw makingFailed(template as string, read.stderr)
    const wanted = JSON.parse(read.stdout) as Template
    const isClaim = wanted.kind === 'SandboxClaim'
    if (wanted.kind !== 'Pod' && !isClaim)
      throw badRequest(
        `${template} describes a ${wanted.kind}, not a Pod or a SandboxClaim`,
        'See docs/remote.md for a template.',
      )
    const own = `cerith-${name}`
    const { generateName: _, ...metadata } = wanted.metadata ?? {}
    const shutdownTime = new Date(Date.now() + BACKSTOP_SECONDS * 1_000).toISOString()
    const backstop = isClaim
      ? { lifecycle: { shutdownTime, shutdownPolicy: 'Delete' } }
      : { activeDeadlineSeconds: BACKSTOP_SECONDS }
    const body = {
      ...wanted,
      metadata: { ...metadata, name: own, labels: { ...metadata.labels, 'cerith/name': name, cerith: '1', ...labels } },
      spec: { ...backstop, ...wanted.spec },
    }
    const api = isClaim ? `apis/${wanted.apiVersion}` : 'api/v1'
    const path = `/${api}/namespaces/${namespace}/${isClaim ? 'sandboxclaims' : 'pods'}/${own}`
    const planned = { kind: 'k8s', path, cluster: cluster.join('\n') }
    // Written down before it is there: when this process is killed, its client goes on making it.
    made.write({ ...planned, until: String(Date.now() + CREATE_MS) })
    const done = await run(kubectl('create', '-f', '-', '-o', 'jsonpath={.metadata.uid}'), {
      input: JSON.stringify(body),
    })
    if (done.code !== 0) {
      // An answer that did not come says nothing about the pod. What cannot be looked at stays written down.
      made.write(planned)
      await remove(context).catch(() => {})
      throw makingFailed(template as string, done.stderr)
    }
    const record = { ...planned, uid: done.stdout.trim() }
    made.write(record)
    const what = isClaim ? `sandboxclaim ${own}` : `pod ${own}`
    const ready = await run(
      kubectl('wait', '--for=condition=Ready', ...what.split(' '), `--timeout=${READY_MS / 1_000}s`),
      { timeoutMs: READY_MS + 10_000 },
    )
    if (ready.code === 0) {
      pod = isClaim ? await podOf(await get(what, '{.status.sandbox.name}'), get) : own
      return made.write({ ...record, pod, podUid: await get(`pod ${pod}`, '{.metadata.uid}') })
    }
    const why = await get(what, '{.status.phase}: {.status.conditions[*].message}')
    await remove(context)
    throw new ShellError(
      'PLACE_FULL',
      `The pod did not become ready: ${why || ready.stderr.trim()}`,
      `See: kubectl -n ${namespace} get events`,
    )
  }

  const remove = async (context: StepContext, gracePeriodSeconds = 1): Promise<void> => {
    const { run, made, name, clientArgs } = context
    const mine = made.read()
    if (!mine?.['path']) return made.forget()
    // Written down with the pod: a later process may have another context.
    const where = cluster.length > 0 ? cluster : (mine['cluster'] ?? '').split('\n').filter((word) => word !== '')
    let { uid } = mine
    if (!uid) {
      // The pod was about to be made: one of this name was made from here when its label says so.
      const found = await run(['kubectl', ...clientArgs, ...where, 'get', '--raw', mine['path']])
      if (NOT_THERE.test(found.stderr) && Number(mine['until'] ?? 0) > Date.now()) return
      const metadata = attempt(() => (JSON.parse(found.stdout) as Template).metadata, undefined)
      if (found.code === 0 && metadata?.labels?.['cerith/name'] === name) uid = String(metadata['uid'])
      else return forgetRemoved(made, found, `What was to be made at ${mine['path']}`, NOT_THERE)
    }
    // By uid: a pod of the same name may have been made by another program.
    const input = JSON.stringify({
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      preconditions: { uid },
      gracePeriodSeconds,
    })
    const words = ['delete', '--raw', mine['path'], '-f', '-']
    const end = await run(['kubectl', ...clientArgs, ...where, ...words], { input })
    forgetRemoved(made, end, `What was made at ${mine['path']}`, /notfound|not found|conflict/i)
  }

  return {
    wrap: (words, clientArgs) => inNamespace(['exec', '-i', ...inContainer, pod, '--', ...words], clientArgs),
    judge: judgeBy([
      [/forbidden|unauthorized|must be logged in|x509|executable file not found/i, 'refused'],
      [/notfound|not found|cannot exec into a container in a completed pod|container not running/i, 'gone'],
      [/exceeded quota/i, 'full'],
    ]),
    hint: `Try: kubectl -n ${namespace} get pods`,
    async acquire(context) {
      await fix(context)
      if (template !== undefined) await create(context)
    },
    ...(template === undefined ? {} : { release: remove }),
  }
}

/** A sandbox says which labels its pod has; one from a warm pool has another name than its sandbox. */
async function podOf(sandbox: string, get: (what: string, path: string) => Promise<string>): Promise<string> {
  const labels = await get(`sandboxes.agents.x-k8s.io ${sandbox}`, '{.status.selector}')
  return labels === '' ? sandbox : get(`pods -l ${labels}`, '{.items[0].metadata.name}')
}

function makingFailed(template: string, stderr: string): ShellError {
  const said = lastWords(stderr, 2)
  const code = codeOf(said, { full: /exceeded quota/i, unreachable: /refused|unable to connect|timed out/i })
  return new ShellError(
    code,
    `No pod could be made from ${template}: ${said}`,
    `Try: kubectl create --dry-run=server -f ${template}`,
  )
}
