/** The whole output of a job by byte offset, piece by piece, with search on the server. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { Choose, Field } from './parts/fields'
import { size, visible } from './parts/format'
import { say, useMessages } from './parts/store'
import type { JobRow } from '../words'

const STEP = 128 * 1024
let asked = 0
const STREAMS = [
  ['stdout', 'stdout'],
  ['stderr', 'stderr'],
] as const

export function WholeOutput({ id, job }: { id: string; job: JobRow }) {
  const [query, setQuery] = useState('')
  const [stream, setStream] = useState(job.apart ? 'stdout' : 'output')
  const [text, setText] = useState<string | null>(null)
  const [range, setRange] = useState({ start: 0, cursor: 0, total: 0, matches: null as number | null, omitted: 0 })
  const current = useRef(0)
  const box = useRef<HTMLPreElement>(null)
  const ask = (since: number, filter: string): void => {
    current.current = ++asked
    say({ do: 'lines', id, ask: asked, since, filter, stream })
  }
  useMessages(
    (message) => {
      if (message.t !== 'lines' || message['ask'] !== current.current) return
      setText(message['text'])
      setRange({
        start: message['start'],
        cursor: message['cursor'],
        total: message['totalBytes'],
        matches: message['matches'],
        omitted: message['omittedBytes'],
      })
      if (box.current) box.current.scrollTop = 0
    },
    [id],
  )
  useEffect(() => {
    const timer = setTimeout(() => ask(0, query), query ? 250 : 0)
    return () => clearTimeout(timer)
  }, [query, stream, id])
  const isFirst = range.start === 0
  const isLast = range.cursor >= range.total
  const steps = [
    ['First', isFirst, 0],
    ['Earlier', isFirst, range.start - STEP],
    ['Later', isLast, range.cursor],
    ['Last', isLast, range.total - STEP],
  ] as const
  return (
    <div class="whole">
      <div class="tools">
        <Field
          id="grep"
          label="Search the whole output"
          hint="Search (regular expression)"
          value={query}
          set={setQuery}
        />
        {job.apart && <Choose label="Stream" value={stream} set={setStream} of={STREAMS} />}
        {query ? (
          <span class="hint">
            {range.matches === null ? '' : `${range.matches} ${range.matches === 1 ? 'line' : 'lines'}`}
          </span>
        ) : (
          <>
            {steps.map(([name, isOver, to]) => (
              <button disabled={isOver} onClick={() => ask(Math.max(0, to), '')}>
                {name}
              </button>
            ))}
            <span class="hint">
              {size(range.start)} to {size(range.cursor)} of {size(range.total)}
            </span>
          </>
        )}
      </div>
      {range.omitted > 0 && (
        <div class="band" role="status">
          {size(range.omitted)} before this are no longer kept.
        </div>
      )}
      <pre class="lines" ref={box} tabIndex={0} aria-label="Output">
        {text === null ? '' : text === '' ? (query ? 'No line fits.' : 'It has printed nothing.') : visible(text)}
      </pre>
    </div>
  )
}
