/** What happened: plots over time, the record with search, and whether the record is still what was written. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Line, Lines as Found, Sample } from '../words'
import { Field, LinkButton } from './parts/fields'
import { ago, day, size, toneClass, took, visible } from './parts/format'
import { say, useMessages, world, type Fields } from './parts/store'

const SHOWN = 400
/** Kinds of lines that say how a command ended; the others say what was done to it. */
const ENDS = new Set(['run', 'session', 'job', 'refused'])

export function Activity({ dark, go }: { dark: boolean; go: (of: string) => void }) {
  const [query, setQuery] = useState('')
  const [found, setFound] = useState<Found | null>(null)
  const [recent, setRecent] = useState<readonly Line[]>([])
  const [chain, setChain] = useState<Fields | null>(null)
  const [samples, setSamples] = useState<Record<string, readonly Sample[]>>({})
  useMessages((message) => {
    if (message.t === 'audit' && message['ask'] === 'activity') setFound(message as never)
    if (message.t === 'audit' && message['ask'] === 'plots') setRecent(message['lines'])
    if (message.t === 'chain') setChain(message)
    if (message.t === 'samples') setSamples((all) => ({ ...all, [message['id']]: message['samples'] }))
  }, [])
  const running = [...world.jobs].filter(([, job]) => job.running).slice(0, 6)
  const calls = [...world.calls].filter(([, { ask }]) => ask === null).slice(0, 4)
  const busy = [...running, ...calls].map(([id]) => id)
  useEffect(() => {
    const look = (): void => {
      say({ do: 'audit', ask: 'plots', query: '', limit: 2_000 })
      for (const id of busy) say({ do: 'samples', id })
    }
    look()
    say({ do: 'chain' })
    const timer = setInterval(look, 3_000)
    return () => clearInterval(timer)
  }, [busy.join(' '), world.link === 'live'])
  useEffect(() => {
    const ask = (): void => say({ do: 'audit', ask: 'activity', query, limit: SHOWN })
    const timer = setTimeout(ask, query ? 200 : 0)
    const again = setInterval(ask, 3_000)
    return () => {
      clearTimeout(timer)
      clearInterval(again)
    }
  }, [query, world.link === 'live'])
  const ends = recent.filter(({ kind }) => ENDS.has(kind))
  const points =
    (of: (line: Line) => number, value: (n: number) => string): Draw =>
    (place, plot) =>
      plot(
        place,
        ends.map(({ at }) => at / 1000),
        [ends.map((line) => Math.max(1, of(line)))],
        { kind: 'points', log: true, value },
      )
  return (
    <div class="scroll activity">
      {ends.length === 0 ? (
        <div class="card empty small">
          <strong>Nothing to plot yet</strong>Commands, their durations and failures are drawn here as they happen.
        </div>
      ) : (
        <div class="plots">
          <Plot
            title="Commands per 10 seconds"
            dark={dark}
            draw={(place, plot) =>
              plot(place, ...perTime(ends), {
                kind: 'bars',
                value: (n: number) => String(n),
                colors: ['--accent', '--bad'],
              })
            }
            on={ends}
            note="red: failed or refused"
          />
          <Plot title="How long each took" dark={dark} on={ends} draw={points(({ ms }) => ms, took)} />
          <Plot title="Output of each" dark={dark} on={ends} draw={points(({ bytes }) => bytes, size)} />
          {busy.map((id) => {
            const all = samples[id] ?? []
            const row = world.jobs.get(id) ?? world.calls.get(id)
            if (all.length < 2 || !row) return null
            return (
              <Uses key={id} title={visible(row.description ?? row.command).slice(0, 60)} samples={all} dark={dark} />
            )
          })}
        </div>
      )}
      <div class="card">
        <div class="tools">
          <Field
            id="q"
            label="Search the record"
            hint="Search commands, directories, rules, people"
            value={query}
            set={setQuery}
          />
          {chain && (
            <span class={`chain ${chain['intact'] ? 'ok' : 'badtext'}`} role="status">
              {chain['intact']
                ? `Record intact: ${chain['lines']} lines`
                : `Record NOT intact: ${chain['problems'][0]?.message ?? ''}`}
            </span>
          )}
        </div>
        <Lines found={found} query={query} go={go} />
      </div>
    </div>
  )
}

function Lines({ found, query, go }: { found: Found | null; query: string; go: (of: string) => void }) {
  if (!found) return <p class="hint">Reading the record.</p>
  if (found.lines.length === 0)
    return <p class="empty small">{query ? 'Nothing in the record fits.' : 'The record is empty.'}</p>
  return (
    <>
      <table>
        <thead>
          <tr>
            <th>When</th>
            <th>Command</th>
            <th>Result</th>
            <th class="wide">Took</th>
            <th class="wide">Who</th>
          </tr>
        </thead>
        <tbody>
          {found.lines
            .slice()
            .reverse()
            .map((line) => (
              <tr key={`${line.at} ${line.kind} ${line.command}`}>
                <td class="nowrap">{day(line.at)}</td>
                <td class="cmd">{visible(line.command).slice(0, 300)}</td>
                <td>
                  <span class={toneClass(line.tone)}>{line.came}</span>
                </td>
                <td class="wide nowrap">
                  {line.waitedMs !== null
                    ? `waited ${took(line.waitedMs)}`
                    : ENDS.has(line.kind) && line.came !== 'running'
                      ? took(line.ms)
                      : ''}
                </td>
                <td class="wide">
                  {line.by ? (
                    visible(line.by)
                  ) : line.session ? (
                    <LinkButton act={() => go(`session/${line.engine}/${line.session}`)}>
                      {visible(line.session)}
                    </LinkButton>
                  ) : (
                    visible(line.client ?? '')
                  )}
                </td>
              </tr>
            ))}
        </tbody>
      </table>
      {found.total > found.lines.length && (
        <p class="hint">
          The last {found.lines.length} of {found.total}. Search for more, or use <code>cerith audit</code>.
        </p>
      )}
    </>
  )
}

/** CPU and memory of what runs, each as a line with its figure of now and its highest. */
function Uses({ title, samples, dark }: { title: string; samples: readonly Sample[]; dark: boolean }) {
  const times = samples.map(({ at }) => at / 1000)
  const use = (name: string, values: readonly number[], value: (n: number) => string) => (
    <>
      <div class="pair">
        <span class="hint">{name}</span>
        <span>
          <strong>{value(values.at(-1)!)}</strong> <span class="hint">highest {value(Math.max(...values))}</span>
        </span>
      </div>
      <Drawing
        title={`${name} of ${title}`}
        dark={dark}
        on={samples}
        draw={(place, plot) => plot(place, times, [values], { kind: 'line', value, height: 48, bare: true })}
        small
      />
    </>
  )
  return (
    <div class="card">
      <h2>{title}</h2>
      {use(
        'CPU',
        samples.map(({ cpu }) => cpu),
        (n) => `${n} %`,
      )}
      {use(
        'Memory',
        samples.map(({ memory }) => memory),
        size,
      )}
      <p class="hint">over the last {ago(samples.at(-1)!.at - samples[0]!.at)}</p>
    </div>
  )
}

type Draw = (place: HTMLElement, plot: typeof import('./parts/plots').plot) => { destroy(): void }

interface Drawn {
  readonly title: string
  readonly draw: Draw
  /** The plot is drawn anew when one of these changes. */
  readonly on: readonly unknown[]
  readonly dark: boolean
}

function Plot({ title, note, draw, on, dark }: Drawn & { note?: string }) {
  return (
    <div class="card">
      <h2>{title}</h2>
      <Drawing title={note ? `${title}: ${note}` : title} draw={draw} on={on} dark={dark} />
      {note && <p class="hint">{note}</p>}
    </div>
  )
}

function Drawing({ title, draw, on, dark, small = false }: Drawn & { small?: boolean }) {
  const place = useRef<HTMLDivElement>(null)
  const drawn = useRef<{ destroy(): void } | null>(null)
  useEffect(() => {
    let alive = true
    void import('./parts/plots').then(({ plot }) => {
      if (!alive || !place.current || on.length === 0) return
      drawn.current?.destroy()
      drawn.current = draw(place.current, plot)
    })
    return () => void (alive = false)
  }, [on, dark])
  useEffect(() => () => drawn.current?.destroy(), [])
  return <div class={small ? 'plot small' : 'plot'} ref={place} role="img" aria-label={title} />
}

/** All commands, and over them those that failed. */
function perTime(lines: readonly Line[]): [number[], number[][]] {
  const step = 10
  const slot = (at: number): number => Math.floor(at / 1000 / step) * step
  const last = slot(Date.now())
  const first = Math.max(slot(lines[0]!.at), last - 1_800)
  const xs: number[] = []
  for (let at = first; at <= last; at += step) xs.push(at)
  const count = (only: (line: Line) => boolean): number[] => {
    const found = new Map<number, number>()
    for (const line of lines) if (only(line)) found.set(slot(line.at), (found.get(slot(line.at)) ?? 0) + 1)
    return xs.map((at) => found.get(at) ?? 0)
  }
  return [xs, [count(() => true), count(({ tone }) => tone === 'bad' || tone === 'warn')]]
}
