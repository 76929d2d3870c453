/** What was done in a session: a timeline, and every command as a block with its status, its time and what people did about it. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { day, size, took, visible } from './format'
import { say, useMessages, useWorld, world } from './store'
import { copy, Empty } from './view'

export interface Line {
  readonly at: number
  readonly kind: string
  readonly engine: string
  readonly client: string | null
  readonly session: string | null
  readonly command: string
  readonly cwd: string
  readonly status: string
  readonly exitCode: number | null
  readonly signal: string | null
  readonly rule: string | null
  readonly job: string | null
  readonly bytes: number
  readonly ms: number
  readonly by: string | null
  readonly waitedMs: number | null
}

const ENDS = new Set(['run', 'session', 'job', 'refused', 'dry_run'])
const DEEDS: Record<string, string> = {
  approve: 'approved',
  deny: 'denied',
  interrupt: 'interrupted',
  kill: 'ended',
  background: 'moved to the background',
  send: 'typed into',
  attach: 'attached to',
}

export function came(line: Line): { text: string; tone: 'ok' | 'bad' | 'warn' | 'plain' } {
  if (line.kind === 'start') return { text: 'running', tone: 'ok' }
  if (DEEDS[line.kind])
    return { text: DEEDS[line.kind]!, tone: line.kind === 'deny' || line.kind === 'kill' ? 'bad' : 'plain' }
  if (line.kind === 'refused') return { text: `refused: ${line.rule ?? ''}`, tone: 'warn' }
  if (line.status === 'running') return { text: 'went on as a job', tone: 'plain' }
  if (line.signal) return { text: line.signal, tone: 'bad' }
  if (line.exitCode === 0) return { text: 'exit 0', tone: 'ok' }
  return {
    text: line.exitCode === null ? line.status : `exit ${line.exitCode}`,
    tone: line.status === 'dry_run' ? 'plain' : 'bad',
  }
}

export function SessionView({ of, close, go }: { of: string; close: () => void; go: (of: string) => void }) {
  useWorld()
  const [, engine = '', ...rest] = of.split('/')
  const name = rest.join('/')
  const [lines, setLines] = useState<readonly Line[] | null>(null)
  const [query, setQuery] = useState('')
  // A session of the command line outlives the processes that use it: each of them is an engine of its own.
  const isShared = world.engines.get(engine)?.door === 'cli'
  const ask = (): void =>
    say({ do: 'audit', ask: of, session: name, engine: isShared ? null : engine, query: '', limit: 2_000 })
  useMessages((message) => message.t === 'audit' && message['ask'] === of && setLines(message['lines']), [of])
  useMessages((message) => message.t === 'ended' && message['session'] === name && setTimeout(ask, 200), [of])
  useEffect(() => {
    ask()
    const timer = setInterval(ask, 5_000)
    return () => clearInterval(timer)
  }, [of, world.link === 'live'])
  const commands = useMemo(() => (lines ?? []).filter((line) => ENDS.has(line.kind) || line.kind === 'start'), [lines])
  const live = world.engines.get(engine)?.sessions.find((each) => each.name === name)
  const call = [...world.calls].find(([, each]) => each.engine === engine && each.session === name)
  if (lines === null) return <Empty title="Reading the record" children="One moment." />
  const shown = commands
    .filter(({ command }) => command.toLowerCase().includes(query.toLowerCase()))
    .slice()
    .reverse()
  return (
    <>
      <div class="head">
        <div class="title">
          <button class="back plain" onClick={close} aria-label="Back to the list">
            ‹ All
          </button>
          <h2 class="name">Session {visible(name)}</h2>
          {call && (
            <div class="buttons">
              <button class="main" onClick={() => go(`call/${call[0]}`)}>
                What runs now
              </button>
            </div>
          )}
        </div>
        <div class="facts">
          <span class={live?.busy ? 'ok' : ''}>{live ? (live.busy ? 'busy' : 'idle') : 'has ended'}</span>
          <span>{commands.length === 1 ? '1 command' : `${commands.length} commands`}</span>
          {live && <span class="mono">{visible(live.cwd)}</span>}
        </div>
      </div>
      <div class="scroll">
        {commands.length === 0 ? (
          <Empty
            title="Nothing was done here yet"
            children="Commands appear with their status and time as soon as they end."
          />
        ) : (
          <>
            <Timeline lines={commands} />
            <div class="tools">
              <label class="hide" for="blocks">
                Search the commands
              </label>
              <input
                id="blocks"
                type="search"
                placeholder="Search the commands"
                value={query}
                onInput={(event) => setQuery((event.target as HTMLInputElement).value)}
              />
              <span class="hint">Output of foreground commands is not kept; that of jobs is.</span>
            </div>
            <ol class="blocks">
              {shown.map((line) => (
                <Block
                  key={`${line.at} ${line.kind} ${line.command}`}
                  line={line}
                  deeds={lines.filter((each) => isAbout(each, line))}
                  go={go}
                />
              ))}
            </ol>
          </>
        )}
      </div>
    </>
  )
}

function isAbout(deed: Line, line: Line): boolean {
  return (
    DEEDS[deed.kind] !== undefined &&
    deed.command === line.command &&
    deed.at >= line.at &&
    deed.at <= line.at + line.ms + 60_000
  )
}

function Block({ line, deeds, go }: { line: Line; deeds: readonly Line[]; go: (of: string) => void }) {
  const { text, tone } = came(line)
  return (
    <li class={`block ${tone}`} id={`b${line.at}`}>
      <div class="when">{day(line.at)}</div>
      <pre tabIndex={0}>{visible(line.command)}</pre>
      <div class="facts">
        <span class={tone === 'ok' ? 'ok' : tone === 'bad' ? 'badtext' : tone === 'warn' ? 'warntext' : ''}>
          {text}
        </span>
        {line.kind !== 'start' && <span>{took(line.ms)}</span>}
        {line.bytes > 0 && <span>{size(line.bytes)}</span>}
        <span class="mono">{visible(line.cwd)}</span>
        {line.job && (
          <button class="plain underline" onClick={() => go(`job/${line.job}`)}>
            Output
          </button>
        )}
        <button class="plain underline" onClick={() => void copy(line.command)}>
          Copy
        </button>
      </div>
      {deeds.map((deed) => (
        <div class="deed">
          {came(deed).text}
          {deed.waitedMs === null ? '' : ` after ${took(deed.waitedMs)}`} by {visible(deed.by ?? 'the agent')}
        </div>
      ))}
    </li>
  )
}

const LANES = 4

/** Commands as bars over time; a pause is drawn short, so that what happened stays readable. */
function Timeline({ lines }: { lines: readonly Line[] }) {
  const recent = lines.slice(-120)
  const from = recent[0]!.at
  const now = Date.now()
  const to = Math.max(...recent.map((line) => (line.kind === 'start' ? now : line.at + line.ms)), from + 1_000)
  const span = to - from
  return (
    <div class="timeline" role="img" aria-label={`Timeline of ${recent.length} commands over ${took(span)}`}>
      {recent.map((line, at) => {
        const left = ((line.at - from) / span) * 100
        const width = Math.max(0.4, ((line.kind === 'start' ? now - line.at : line.ms) / span) * 100)
        return (
          <a
            class={`bar ${came(line).tone}`}
            key={`${line.at}${at}`}
            title={`${visible(line.command).slice(0, 120)} · ${took(line.ms)}`}
            style={{ left: `${left}%`, width: `${Math.min(width, 100 - left)}%`, top: `${(at % LANES) * 14 + 4}px` }}
            onClick={() => document.getElementById(`b${line.at}`)?.scrollIntoView({ block: 'center' })}
          />
        )
      })}
      <span class="from">{day(from)}</span>
      <span class="to">{day(to)}</span>
    </div>
  )
}
