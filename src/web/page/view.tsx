/** A command under way or a job, with its output in a terminal, and what a person may do with it. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { attempt } from '../../contract/attempt.js'
import { Empty, LinkButton } from './parts/fields'
import { ago, size, took, visible } from './parts/format'
import { stateOf } from './list'
import { copy, fetchWithKey, say, toast, useMessages, useWorld, world, type Fields } from './parts/store'
import type { CallRow, JobRow } from '../words'
import type { OpenTerminal } from './parts/terminal'
import { WholeOutput } from './whole'

const KEYS: readonly (readonly [string, string])[] = [
  ['esc', '\u001b'],
  ['tab', '\t'],
  ['^C', '\u0003'],
  ['^D', '\u0004'],
  ['↑', '\u001b[A'],
  ['↓', '\u001b[B'],
  ['←', '\u001b[D'],
  ['→', '\u001b[C'],
  ['enter', '\r'],
]

const isPhone = (): boolean => matchMedia('(max-width: 720px)').matches

export interface ViewOf {
  /** What is shown: `call/ENGINE:RUN`, `job/ID` or `session/ENGINE/NAME`. */
  readonly of: string
  readonly close: () => void
  readonly dark: boolean
  readonly go: (of: string) => void
}

export function View({ of, close, dark, go }: ViewOf) {
  useWorld()
  const id = of.slice(of.indexOf('/') + 1)
  const isJob = of.startsWith('job/')
  const job = isJob ? world.jobs.get(id) : undefined
  const call = isJob ? undefined : world.calls.get(id)
  const last = useRef<CallRow | null>(null)
  if (call) last.current = call
  const [ended, setEnded] = useState<Fields | null>(null)
  const [isTaken, setTaken] = useState(false)
  const [skipped, setSkipped] = useState(0)
  const [sure, setSure] = useState(false)
  const [isWhole, setWhole] = useState(false)
  const [isReady, setReady] = useState(false)
  const term = useRef<OpenTerminal | null>(null)
  const place = useRef<HTMLDivElement>(null)
  const queue = useRef<Fields[]>([])
  const show = (message: Fields): void => {
    if (!term.current) return void queue.current.push(message)
    if (message['skipped'] > 0) setSkipped((n) => n + message['skipped'])
    term.current.write(message['text'], () => say({ do: 'ack', n: message['text'].length }))
  }
  useMessages(
    (message) => {
      if (message.t === 'out' && message['of'] === of) show(message)
      else if (message.t === 'size' && message['of'] === of && !isPhone()) term.current?.fix(message['size'])
      else if (message.t === 'taken' && message['of'] === of) {
        setTaken(true)
        term.current?.clear()
        term.current?.take(true)
      } else if (message.t === 'left' && message['of'] === of) {
        setTaken(false)
        term.current?.take(false)
      } else if (message.t === 'ended' && message['id'] === id) setEnded(message)
    },
    [of],
  )
  const hasRow = job !== undefined || call !== undefined || last.current !== null
  useEffect(() => {
    if (isWhole || !hasRow) return
    let alive = true
    // Loaded by the first look at output: the list needs none of it.
    void import('./parts/terminal').then(({ openTerminal }) => {
      if (!alive || !place.current) return
      term.current = openTerminal(place.current, {
        dark,
        plain: !(job?.pty ?? false),
        onType: (text) => say({ do: 'type', text }),
        onLeave: () => giveBack(),
        onLink: (uri) => followLink(uri),
      })
      for (const message of queue.current.splice(0)) show(message)
      setReady(true)
    })
    return () => {
      alive = false
      setReady(false)
      say({ do: 'close' })
      term.current?.close()
      term.current = null
    }
  }, [of, isWhole, hasRow])
  const isLive = world.link === 'live'
  // A connection that comes back begins anew; until then what was seen stays.
  useEffect(() => {
    if (!isReady || !isLive) return
    setSkipped(0)
    setTaken(false)
    term.current?.take(false)
    term.current?.clear()
    say({ do: 'open', of })
  }, [of, isReady, isLive])
  useEffect(() => term.current?.theme(dark), [dark])
  const giveBack = (): void => {
    setTaken(false)
    term.current?.take(false)
    term.current?.clear()
    say({ do: 'give-back' })
  }
  const take = (): void => {
    if (isPhone()) term.current?.fix(null)
    say({ do: 'take', ...(isPhone() ? term.current?.size : {}) })
  }
  if (!hasRow)
    return (
      <Empty close={close} title={isJob ? 'This job is not there any more' : 'This command has ended'}>
        {isJob
          ? 'It was cleaned away with its output.'
          : 'Its engine has ended, or the command was over before this page could look.'}
      </Empty>
    )
  const canAct = world.role === 'person' && isLive
  const row = call ?? last.current
  const shown = job ?? row
  const command = shown?.command ?? ''
  const session = shown?.session ? `${shown.engine}/${shown.session}` : null
  const isRunning = job ? job.running : call !== undefined
  return (
    <>
      <div class="head">
        <div class="title">
          {world.only === null && (
            <button class="back plain" onClick={close}>
              ‹ All
            </button>
          )}
          <pre tabIndex={0} aria-label="Command">
            {visible(command)}
          </pre>
          <div class="buttons">
            {canAct && job?.running && job.pty && !isTaken && isReady && <button onClick={take}>Take over</button>}
            {isTaken && <button onClick={giveBack}>Give back</button>}
            {canAct && call && (
              <button onClick={() => say({ do: 'interrupt', id })} title="What Ctrl-C would do">
                Interrupt
              </button>
            )}
            {canAct && call && (
              <button
                onClick={() => say({ do: 'background', id })}
                title="The agent goes on; the command becomes a job"
              >
                To background
              </button>
            )}
            {canAct && isRunning && !sure && (
              <button class="bad" onClick={() => setSure(true)}>
                End
              </button>
            )}
            {canAct && isRunning && sure && (
              <button
                class="bad full"
                onClick={() => (say({ do: 'kill', id }), setSure(false))}
                onBlur={() => setSure(false)}
              >
                End it and all it started
              </button>
            )}
          </div>
        </div>
        <Facts job={job} call={row} ended={ended} isRunning={isRunning} id={id} />
        <div class="links">
          {session !== null && world.only === null && (
            <LinkButton act={() => go(`session/${session}`)}>
              Session {visible(session.slice(session.indexOf('/') + 1))}
            </LinkButton>
          )}
          {job && <LinkButton act={() => setWhole(!isWhole)}>{isWhole ? 'Live output' : 'Whole output'}</LinkButton>}
          {job && <LinkButton act={() => void download(id)}>Download</LinkButton>}
          <LinkButton act={() => void copy(command)}>Copy command</LinkButton>
        </div>
      </div>
      {isTaken && (
        <div class="band" role="status">
          <span>
            You are typing into this terminal. Keys are counted in the job's notes, not kept. <kbd>Ctrl</kbd>{' '}
            <kbd>]</kbd> gives it back.
          </span>
        </div>
      )}
      {job && !job.complete && (
        <div class="band warn" role="status">
          Some output could not be stored: the disk was full.
        </div>
      )}
      {skipped > 0 && !isTaken && !isWhole && (
        <div class="band" role="status">
          <span>{size(skipped)} of output are not shown here; nothing is lost.</span>
          {job && <LinkButton act={() => setWhole(true)}>Whole output</LinkButton>}
        </div>
      )}
      {isWhole && job ? (
        <WholeOutput id={id} job={job} />
      ) : (
        <div class="term" ref={place} aria-label="Output" role="group" />
      )}
      {isTaken && (
        <div class="keys" role="toolbar" aria-label="Keys">
          {KEYS.map(([name, text]) => (
            <button key={name} onClick={() => (say({ do: 'type', text }), term.current?.take(true))}>
              {name}
            </button>
          ))}
        </div>
      )}
    </>
  )
}

interface FactsOf {
  readonly job: JobRow | undefined
  readonly call: CallRow | null
  readonly ended: Fields | null
  readonly isRunning: boolean
  readonly id: string
}

function Facts({ job, call, ended, isRunning, id }: FactsOf) {
  if (job)
    return (
      <div class="facts">
        <span class={isRunning ? 'ok' : job.status === 'completed' ? '' : 'badtext'}>{stateOf(job)}</span>
        <span>{isRunning ? ago(Date.now() - job.at) : took((job.end ?? job.at) - job.at)}</span>
        <span>{size(job.bytes)} of output</span>
        {job.cpu !== undefined && <span>{job.cpu} % CPU</span>}
        {job.memory !== undefined && <span>{size(job.memory)} of memory</span>}
        {job.ports && job.ports.length > 0 && <span>port {job.ports.join(', ')}</span>}
        <span class="mono wide">{visible(job.cwd)}</span>
        <span class="mono wide">{id}</span>
        {job.notes.map((note) => (
          <span class="note">{visible(note)}</span>
        ))}
      </div>
    )
  if (!call) return null
  const status = ended ? (ended['exitCode'] === null ? ended['status'] : `exit ${ended['exitCode']}`) : null
  return (
    <div class="facts">
      <span class={isRunning ? (call.ask ? 'warntext' : 'ok') : status === 'exit 0' ? '' : 'badtext'}>
        {isRunning ? (call.ask ? 'waits for you' : 'running') : (status ?? endOf(call))}
      </span>
      <span>{isRunning ? ago(Date.now() - call.at) : ended ? took(ended['durationMs']) : ''}</span>
      <span>{size(call.bytes)} of output</span>
      {isRunning && <span>{call.cpu} % CPU</span>}
      {isRunning && call.memory > 0 && <span>{size(call.memory)} of memory</span>}
      {call.ports.length > 0 && isRunning && <span>port {call.ports.join(', ')}</span>}
      <span>{visible(call.client)}</span>
    </div>
  )
}

/** Nothing told how it ended. */
function endOf({ engine }: CallRow): string {
  return world.engines.has(engine) ? 'has ended' : 'its engine has ended, and the command with it'
}

/** Shown first, by its host as the network knows it: letters that look alike are told apart there. */
function followLink(uri: string): void {
  const url = attempt(() => new URL(uri))
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return
  if (confirm(`Open this address?\n\n${url.host}\n\n${url.href.slice(0, 500)}`))
    window.open(url.href, '_blank', 'noopener,noreferrer')
}

async function download(id: string): Promise<void> {
  const response = await fetchWithKey(`/output/${id}`)
  if (!response.ok) return toast('The output is not there any more.')
  const url = URL.createObjectURL(await response.blob())
  const link = document.createElement('a')
  link.href = url
  link.download = `${id}.log`
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
