/**
 * The list of everything that runs and ran. Only the rows in sight are drawn, so that a
 * thousand jobs cost what twenty cost.
 */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Field } from './parts/fields'
import { Asks } from './asks'
import { ago, size, took, visible } from './parts/format'
import { useWorld, world } from './parts/store'
import type { CallRow, JobRow } from '../words'

export interface Item {
  /** What it opens: `call/ENGINE:RUN`, `job/ID`, `session/ENGINE/NAME`; null for a heading. */
  readonly of: string | null
  readonly dot: 'run' | 'wait' | 'idle' | 'bad' | 'done'
  readonly what: string
  readonly isWords: boolean
  readonly when: string
  readonly sub: string
}

const ROW = 54
const HEADING = 34
const SPARE = 6

export function itemsOf(filter: string): Item[] {
  const now = Date.now()
  const items: Item[] = []
  const heading = (what: string): Item => ({ of: null, dot: 'idle', what, isWords: true, when: '', sub: '' })
  const fits = (...texts: (string | null)[]): boolean =>
    filter === '' || texts.join(' ').toLowerCase().includes(filter.toLowerCase())
  for (const [id, engine] of world.engines) {
    const calls = [...world.calls].filter(([, call]) => call.engine === id)
    const rows: Item[] = [
      ...calls
        .filter(([, call]) => fits(call.command, call.session, call.client))
        .map(([key, call]) => callItem(key, call, now)),
      ...engine.sessions
        .filter(({ name, cwd }) => !calls.some(([, call]) => call.session === name) && fits(name, cwd))
        .map(({ name, cwd, calls: count }) => ({
          of: `session/${id}/${name}`,
          dot: 'idle' as const,
          what: `Session ${name}`,
          isWords: true,
          when: '',
          sub: `idle · ${count === 1 ? '1 command' : `${count} commands`} · ${visible(cwd)}`,
        })),
    ]
    if (engine.state === 'refused' && engine.why) rows.push(heading(`Not shown: ${engine.why}`))
    if (rows.length > 0) items.push(heading(`${visible(engine.name)} · process ${engine.pid}`), ...rows)
  }
  const jobs = [...world.jobs]
    .filter(([id, job]) => fits(job.command, job.description, id, job.status))
    .sort(([, a], [, b]) => b.at - a.at)
  for (const isRunning of [true, false]) {
    const rows = jobs.filter(([, job]) => job.running === isRunning).map(([id, job]) => jobItem(id, job, now))
    if (rows.length > 0) items.push(heading(`Jobs ${isRunning ? 'running' : 'ended'} · ${rows.length}`), ...rows)
  }
  return items
}

function callItem(id: string, call: CallRow, now: number): Item {
  const isWaiting = call.ask !== null
  const place = call.session === null ? 'fresh shell' : `session ${visible(call.session)}`
  const facts = [
    isWaiting ? 'waits for you' : 'running',
    place,
    ...(call.lastLine && !isWaiting ? [visible(call.lastLine)] : []),
  ]
  return {
    of: `call/${id}`,
    dot: isWaiting ? 'wait' : 'run',
    what: call.description ?? visible(call.command),
    isWords: call.description !== null,
    when: ago(now - call.at),
    sub: facts.join(' · '),
  }
}

function jobItem(id: string, job: JobRow, now: number): Item {
  return {
    of: `job/${id}`,
    dot: job.running ? 'run' : job.status === 'completed' ? 'done' : 'bad',
    what: job.description ?? visible(job.command),
    isWords: job.description !== null,
    when: job.running ? ago(now - job.at) : took((job.end ?? now) - job.at),
    sub: [
      stateOf(job),
      size(job.bytes),
      ...(job.pty ? ['terminal'] : []),
      ...(job.ports?.length ? [`port ${job.ports.join(', ')}`] : []),
      job.description ? visible(job.command) : visible(job.cwd),
    ].join(' · '),
  }
}

export function stateOf(job: JobRow): string {
  if (job.running) return 'running'
  return job.status === 'failed' ? (job.signal ?? `exit ${job.exitCode}`) : job.status
}

interface ListOf {
  readonly open: string | null
  readonly pick: (of: string) => void
  readonly selected: string | null
}

export function List({ open, pick, selected }: ListOf) {
  const { hasState } = useWorld()
  const box = useRef<HTMLDivElement>(null)
  const head = useRef<HTMLDivElement>(null)
  const [filter, setFilter] = useState('')
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState(800)
  const [headHeight, setHeadHeight] = useState(0)
  const items = itemsOf(filter)
  const offsets: number[] = []
  let total = 0
  for (const { of } of items) {
    offsets.push(total)
    total += of === null ? HEADING : ROW
  }
  useEffect(() => {
    const place = box.current!
    const watch = new ResizeObserver(() => {
      setHeight(place.clientHeight)
      setHeadHeight(head.current?.offsetHeight ?? 0)
    })
    watch.observe(place)
    watch.observe(head.current!)
    return () => watch.disconnect()
  }, [])
  useLayoutEffect(() => {
    const at = items.findIndex(({ of }) => of !== null && of === selected)
    if (at < 0) return
    const y = offsets[at]! + headHeight
    const place = box.current!
    if (y < place.scrollTop) place.scrollTop = y
    else if (y + ROW > place.scrollTop + place.clientHeight) place.scrollTop = y + ROW - place.clientHeight
  }, [selected])
  const from = offsets.findIndex(
    (y, at) => y + (items[at]!.of === null ? HEADING : ROW) > top - headHeight - SPARE * ROW,
  )
  const shown =
    from < 0
      ? []
      : items
          .slice(from, from + Math.ceil(height / HEADING) + 2 * SPARE)
          .map((item, at) => ({ item, y: offsets[from + at]! }))
  return (
    <div class="list" ref={box} onScroll={(event) => setTop((event.target as HTMLElement).scrollTop)}>
      <div ref={head}>
        <Asks />
        <Field id="find" label="Find a command" value={filter} set={setFilter} />
      </div>
      {hasState && items.length === 0 ? (
        <div class="empty">
          <strong>{filter ? 'Nothing fits' : 'Nothing runs'}</strong>
          {filter
            ? 'No command, session or job has these words.'
            : 'Commands, sessions and jobs appear here as soon as an agent starts one.'}
        </div>
      ) : (
        <div class="rows" role="list" style={{ height: `${total}px` }}>
          {shown.map(({ item, y }) =>
            item.of === null ? (
              <div key={`h${item.what}`} class="heading" role="listitem" style={{ top: `${y}px` }}>
                <h2>{item.what}</h2>
              </div>
            ) : (
              <div key={item.of} role="listitem" class="slot" style={{ top: `${y}px` }}>
                <button
                  class="row"
                  aria-current={open === item.of}
                  data-selected={selected === item.of}
                  onClick={() => pick(item.of!)}
                >
                  <span class={`dot ${item.dot}`} aria-hidden="true" />
                  <span class={item.isWords ? 'what words' : 'what'}>{item.what}</span>
                  <span class="when">{item.when}</span>
                  <span class="sub">{item.sub}</span>
                </button>
              </div>
            ),
          )}
        </div>
      )}
    </div>
  )
}
