/** The whole output of a job by byte offset, piece by piece, with search on the server. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { Choose, Field } from './parts/fields'
import { size, visible } from './parts/format'
import { say, useMessages } from './parts/store'
import type { ReadResult } from '../../contract/job.js'
import type { JobRow } from '../words'

const STEP = 128 * 1024
let asked = 0
const STREAMS = [
  ['stdout', 'stdout'],
  ['stderr', 'stderr'],
] as const

type Part = Omit<ReadResult, 'text'> & { readonly text: string | null }
const NOTHING_YET: Part = { text: null, start: 0, cursor: 0, totalBytes: 0, matches: null, omittedBytes: 0 }

export function WholeOutput({ id, job }: { id: string; job: JobRow }) {
  const [query, setQuery] = useState('')
  const [stream, setStream] = useState(job.apart ? 'stdout' : 'output')
  const [part, setPart] = useState(NOTHING_YET)
  const current = useRef(0)
  const box = useRef<HTMLPreElement>(null)
  const ask = (since: number, filter: string): void => {
    current.current = ++asked
    say({ do: 'lines', id, ask: asked, since, filter, stream })
  }
  useMessages(
    (message) => {
      if (message.t !== 'lines' || message['ask'] !== current.current) return
      setPart(message as unknown as Part)
      if (box.current) box.current.scrollTop = 0
    },
    [id],
  )
  useEffect(() => {
    const timer = setTimeout(() => ask(0, query), query ? 250 : 0)
    return () => clearTimeout(timer)
  }, [query, stream, id])
  const { text, start, cursor, totalBytes, matches, omittedBytes } = part
  const isFirst = start === 0
  const isLast = cursor >= totalBytes
  const steps = [
    ['First', isFirst, 0],
    ['Earlier', isFirst, start - STEP],
    ['Later', isLast, cursor],
    ['Last', isLast, totalBytes - STEP],
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
          <span class="hint">{matches === null ? '' : `${matches} ${matches === 1 ? 'line' : 'lines'}`}</span>
        ) : (
          <>
            {steps.map(([name, isOver, to]) => (
              <button disabled={isOver} onClick={() => ask(Math.max(0, to), '')}>
                {name}
              </button>
            ))}
            <span class="hint">
              {size(start)} to {size(cursor)} of {size(totalBytes)}
            </span>
          </>
        )}
      </div>
      {omittedBytes > 0 && (
        <div class="band" role="status">
          {size(omittedBytes)} before this are no longer kept.
        </div>
      )}
      <pre class="lines" ref={box} tabIndex={0} aria-label="Output">
        {text === null ? '' : text === '' ? (query ? 'No line fits.' : 'It has printed nothing.') : visible(text)}
      </pre>
    </div>
  )
}
