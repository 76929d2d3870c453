/** Gets from a started client to a link: sends the script, reads what it found, uploads what is missing. */
import { createHash, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip, gzipSync } from 'node:zlib'
import { ShellError } from '../../contract/errors.js'
import type { ReachOptions } from '../../contract/place.js'
import { within } from '../../engine/services/within.js'
import { startClient, type Client, type ClientEnd } from '../../os/process/client.js'
import { TAR_END, tarOf } from '../../os/package/archive.js'
import { builtAt, builtPackage, farFiles, helperPlatforms, type PackageFile } from '../../os/package/shipment.js'
import { foreignRuntime, ownRuntime, type RuntimeArchive } from '../../os/package/runtime-archive.js'
import type { OpenLink } from '../near/link.js'
import { lastWords, type Place } from '../places/place.js'
import { createLines } from './lines.js'
import { arrivalScript, BOOT } from './script.js'

export interface Arrival {
  readonly place: Place
  readonly reach: ReachOptions
  /** Of the run directory there, kept here. */
  readonly name: string
  readonly salt: string
  readonly key: Buffer
  /** Here; holds the runtime that is sent along. */
  readonly stateDir: string
}

/** Long enough for a platform that is slow to start a process, once it has answered; an upload has its own time. */
const START_MS = 30_000
const UPLOAD_MS = 10 * 60_000
const LAST_WORDS_MS = 1_000
/** Of a line that something else said. */
const MAX_SAID = 300
/** The oldest Node that can run the engine. */
const OLDEST_NODE = [20, 19] as const

/** `lookMs`: how long the client may take to say its first word. */
export async function arrive(arrival: Arrival, lookMs: number): Promise<OpenLink> {
  const use = arrival.reach.runtime ?? 'auto'
  const mayUseOurs = use === 'auto' || use === 'send'
  const known = mayUseOurs ? await ownRuntime(arrival.stateDir, { make: use === 'send' }) : null
  const link = await attempt(arrival, known, lookMs)
  if (!('needs' in link)) return link
  // Packing or fetching a runtime takes seconds, so it is done for the first place that needs one.
  const own = link.needs === process.arch && (await ownRuntime(arrival.stateDir, { make: true }))
  const made = own || (await foreignRuntime(arrival.stateDir, link.needs))
  const second = typeof made === 'string' ? made : await attempt(arrival, made, lookMs)
  if (typeof second !== 'string' && !('needs' in second)) return second
  throw unfit(
    arrival.place,
    `it has no Node 20.19 or newer, and none can be sent: ${typeof second === 'string' ? second : second.needs}`,
    'Install one there, or name it with reach.runtime.',
  )
}

async function attempt(
  arrival: Arrival,
  runtime: RuntimeArchive | null,
  lookMs: number,
): Promise<OpenLink | { readonly needs: string }> {
  const { place, reach, name, salt } = arrival
  const code = codeArchive(place.url)
  const use = reach.runtime ?? 'auto'
  const marker = `cerith-${randomBytes(12).toString('hex')}`
  const script = arrivalScript({
    marker,
    code: code.digest,
    runtime: runtime?.digest ?? 'none',
    files: code.files,
    name,
    salt,
    leaseMs: reach.leaseMs ?? 600_000,
    beatMs: reach.beatMs ?? 5_000,
    uploadDir: reach.uploadDir ?? '',
    use,
    start: place.start ?? 'here',
  })
  const client = startClient(place.argv(BOOT))
  const lines = createLines(client.output)
  const next = (ms: number): Promise<readonly string[]> => nextWords(client, lines, marker, place, ms)
  try {
    client.input.write(`${Buffer.byteLength(script)}\n${script}`)
    const [, system = '', architecture = '', hasCode, isLive, hasRuntime, version = ''] = await next(lookMs)
    if (system !== 'Linux') throw unfit(place, `it runs ${system}, not Linux`)
    if (!code.platforms.includes(architecture))
      throw unfit(place, `there is no helper for ${architecture} in this build`)
    const parts: Buffer[] = []
    if (hasCode === 'need') parts.push(await code.bytes(architecture))
    let uses = 'there'
    if (isLive !== 'live' && !isNewEnough(version)) {
      if (use !== 'auto' && use !== 'send') throw unfit(place, `its Node is ${version}, and 20.19 or newer is needed`)
      if (runtime?.architecture !== architecture) {
        client.destroy()
        return { needs: architecture }
      }
      uses = 'sent'
      if (hasRuntime === 'need') parts.push(await runtime.bytes())
    }
    const upload = joinArchives(parts)
    // The key only goes where no engine runs yet: one that runs must prove that it knows it.
    client.input.write(`${upload.length} ${isLive === 'live' ? '-' : arrival.key.toString('hex')} ${uses}\n`)
    if (upload.length > 0) client.input.write(upload)
    await next(upload.length > 0 ? UPLOAD_MS : START_MS)
    lines.stop()
    return {
      build: `${code.digest}-${architecture}`,
      input: client.output,
      output: client.input,
      closed: client.closed,
      destroy: client.destroy,
      hold: client.hold,
    }
  } catch (error) {
    client.destroy()
    throw error
  }
}

/** Comes last: without it the archive was cut off. */
const WHOLE = tarOf([{ path: 'whole', mode: 0o600, bytes: Buffer.alloc(0) }])

/** Gzip members behind each other are one gzip file; the end of the tar archive comes once. */
function joinArchives(parts: readonly Buffer[]): Buffer {
  return parts.length === 0 ? Buffer.alloc(0) : Buffer.concat([...parts, gzipSync(Buffer.concat([WHOLE, TAR_END]))])
}

/** The words of the next line of the arrival script; what else is printed on the way is passed over. */
async function nextWords(
  client: Client,
  lines: ReturnType<typeof createLines>,
  marker: string,
  place: Place,
  ms: number,
): Promise<readonly string[]> {
  const end = client.closed.then((ended) => ({ ended }))
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => (timer = setTimeout(resolve, ms, 'late')))
  // Some say on stdout why they run nothing: a login that is closed, a command that is forced.
  let noise = ''
  try {
    for (;;) {
      const line = await Promise.race([lines.next(), end, late])
      if (line === 'late') throw failure(place, await unanswered(client, ms, () => noise || lines.unfinished), 'retry')
      if (typeof line === 'object')
        throw failure(place, { ...line.ended, stderr: `${line.ended.stderr.trimEnd()}\n${noise}` })
      // Behind what a profile printed without a newline.
      const [before = '', said] = line.split(`${marker} `)
      if (said === undefined) {
        noise = before.slice(0, MAX_SAID)
        continue
      }
      const words = said.split(' ')
      if (words[0] === 'fail') throw refusedBy(place, words[1] ?? '', words.slice(2).join(' '))
      return words
    }
  } finally {
    clearTimeout(timer)
  }
}

/** What came instead of an answer. */
async function unanswered(client: Client, ms: number, noise: () => string): Promise<ClientEnd> {
  // Another shell that a profile has started may read its whole input first: at its end it says what it makes of it.
  client.input.end()
  await within(client.closed, LAST_WORDS_MS)
  // Without lines that only point at the one before.
  const words = (text: string): string => lastWords(text.slice(-MAX_SAID).replace(/^[^\p{L}\d]*$/gmu, ''), 2)
  const came = [client.said, noise()].map(words).filter((text) => text !== '')
  const why =
    came.length > 0
      ? `no answer within ${ms / 1_000} s, but this`
      : `no answer within ${ms / 1_000} s, and nothing else: the network is silent, or a profile there reads the ` +
        'input ' +
        'or starts another shell'
  return { code: null, signal: null, stderr: [why, ...came].join('\n') }
}

function refusedBy(place: Place, why: string, about: string): ShellError {
  switch (why) {
    case 'nowhere':
      return about === 'none'
        ? unfit(
            place,
            'there is no directory that we may write to',
            'Give it a writable directory and name it with reach.uploadDir.',
          )
        : unfit(
            place,
            `programs may not be executed from any directory that we may write to (${about} is mounted noexec)`,
            'Mount one without noexec (docker: --tmpfs /tmp:exec) and name it with reach.uploadDir.',
          )
    case 'unpack':
      return unfit(
        place,
        `the code could not be unpacked into ${about}`,
        'Is the disk full? It needs gzip, tar and head.',
      )
    case 'helper':
      return unfit(place, `the helper cannot be executed there: ${about}`)
    default:
      return unfit(place, `the engine could not be started (${why} ${about})`)
  }
}

const FAILURES = {
  refused: ['PLACE_REFUSED', 'refused the connection'],
  gone: ['PLACE_GONE', 'is not there'],
  full: ['PLACE_FULL', 'has no room'],
  retry: ['PLACE_UNREACHABLE', 'cannot be reached'],
} as const

/** What the end of a client means before there was a link. */
function failure(place: Place, end: ClientEnd, judgement = place.judge(end)): ShellError {
  const [code, what] = FAILURES[judgement]
  const said = lastWords(end.stderr, 3) || `the client ended (${end.signal ?? end.code ?? 'not started'})`
  return new ShellError(code, `${place.url} ${what}: ${said}`, place.hint(end))
}

function unfit(place: Place, what: string, hint = 'See docs/remote.md for what a place needs.'): ShellError {
  return new ShellError('PLACE_UNFIT', `${place.url} cannot run the engine: ${what}`, hint)
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = (/^v(\d+)\.(\d+)/.exec(version)?.slice(1) ?? []).map(Number)
  return major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])
}

interface CodeArchive {
  readonly digest: string
  readonly files: readonly PackageFile[]
  readonly platforms: readonly string[]
  /** For one kind of machine, without the helpers of the others. */
  bytes(architecture: string): Promise<Buffer>
}

let packed: { readonly at: number; readonly archive: CodeArchive } | null = null

/** Read and packed once per build: engines of one process share it. */
function codeArchive(url: string): CodeArchive {
  const dist = builtPackage()
  if (!dist)
    throw new ShellError(
      'PLACE_UNFIT',
      `There is nothing to send to ${url}: this checkout was not built`,
      'Run `npm run build`.',
    )
  const at = builtAt(dist)
  if (packed?.at === at) return packed.archive
  const files = farFiles(dist)
  const hash = createHash('sha256')
  for (const { path, mode, bytes } of files) hash.update(`${path} ${mode} ${bytes.length}\n`).update(bytes)
  const digest = hash.digest('hex')
  const made = new Map<string, Promise<Buffer>>()
  const pack = (arch: string): Promise<Buffer> => {
    const fitting = files.filter((file) => file.architecture === undefined || file.architecture === arch)
    return promisify(gzip)(tarOf(fitting.map((file) => ({ ...file, path: `${digest}-${arch}/${file.path}` }))))
  }
  const archive: CodeArchive = {
    digest,
    files,
    platforms: helperPlatforms(dist),
    bytes(architecture) {
      const bytes = made.get(architecture) ?? pack(architecture)
      made.set(architecture, bytes)
      return bytes
    },
  }
  packed = { at, archive }
  return archive
}
