/**
 * What was done in a session: a timeline, every command as a block with its end, and the
 * recording where there is one.
 */
import { useEffect, useState } from 'preact/hooks'
import type { BlockRow } from '../../words'
import { Empty, Field, LinkButton } from '../parts/fields'
import { day, size, toneClass, took, visible } from '../parts/format'
import { Replay } from './replay'
import { copy, fetchWithKey, say, useMessages, useWorld, world } from '../parts/store'
import { commandAt, plainOutput, tapeOf, type Tape } from './tape'
import { Timeline } from './timeline'
import type { ViewOf } from '../view'

const SHOWN = 2_000

export function SessionView({ of, close, go, dark }: ViewOf) {
  useWorld()
  const [, engine = '', ...rest] = of.split('/')
  const name = rest.join('/')
  const [blocks, setBlocks] = useState<readonly BlockRow[] | null>(null)
  const [isRecorded, setRecorded] = useState(false)
  const [query, setQuery] = useState('')
  const [tape, setTape] = useState<Tape | null>(null)
  const [replayFrom, setReplayFrom] = useState<number | null>(null)
  const [marked, setMarked] = useState<number | null>(null)
  const known = world.engines.get(engine)
  // A session of the command line outlives the processes that use it: each of them is an engine of its own.
  const isShared = known ? known.door === 'cli' : false
  const from = isShared ? null : engine
  const ask = (): void => say({ do: 'blocks', ask: of, session: name, engine: from, query: '', limit: SHOWN })
  useMessages(
    (message) => {
      if (message.t === 'blocks' && message['ask'] === of) {
        setBlocks(message['blocks'])
        setRecorded(message['isRecorded'])
      }
      if (message.t === 'ended' && message['session'] === name) setTimeout(ask, 200)
    },
    [of, from],
  )
  useEffect(() => {
    ask()
    const timer = setInterval(ask, 3_000)
    return () => clearInterval(timer)
  }, [of, from, world.link === 'live'])
  /** As of now: a session that still runs has printed more since. Null: nothing was recorded. */
  const loadTape = async (): Promise<Tape | null> => {
    const response = await fetchWithKey(`/recording/${from ?? 'any'}/${encodeURIComponent(name)}`)
    const found = response.ok ? tapeOf((await response.json()) as [number, string, string][]) : null
    setTape(found)
    return found
  }
  const replayAt = async (block: BlockRow | null): Promise<void> => {
    const found = await loadTape()
    if (!found) return
    setReplayFrom(block ? (commandAt(found, block.at, block.command)?.atMs ?? 0) : 0)
  }
  const live = known?.sessions.find((each) => each.name === name)
  const call = [...world.calls].find(([, each]) => each.engine === engine && each.session === name)
  if (blocks === null) return <Empty title="Reading the record" children="One moment." />
  const words = query.toLowerCase()
  const shown = blocks
    .filter(
      ({ command, at }) =>
        command.toLowerCase().includes(words) ||
        (tape && (commandAt(tape, at, command)?.text.toLowerCase().includes(words) ?? false)),
    )
    .slice()
    .reverse()
  const pick = (block: BlockRow): void => {
    if (replayFrom !== null && tape) return setReplayFrom(commandAt(tape, block.at, block.command)?.atMs ?? 0)
    setMarked(block.at)
    document.getElementById(`b${block.at}`)?.scrollIntoView({ block: 'center' })
  }
  return (
    <>
      <div class="head">
        <div class="title">
          <button class="back plain" onClick={close}>
            ‹ All
          </button>
          <h2 class="name">Session {visible(name)}</h2>
          <div class="buttons">
            {isRecorded &&
              (replayFrom === null ? (
                <button onClick={() => void replayAt(null)}>Replay</button>
              ) : (
                <button onClick={() => setReplayFrom(null)}>Commands</button>
              ))}
            {call && (
              <button class="main" onClick={() => go(`call/${call[0]}`)}>
                What runs now
              </button>
            )}
          </div>
        </div>
        <div class="facts">
          <span class={live?.busy ? 'ok' : ''}>{live ? (live.busy ? 'busy' : 'idle') : 'has ended'}</span>
          <span>{blocks.length === 1 ? '1 command' : `${blocks.length} commands`}</span>
          {live && <span class="mono">{visible(live.cwd)}</span>}
        </div>
      </div>
      {blocks.length === 0 ? (
        <Empty
          title="Nothing was done here yet"
          children="Commands appear with their status and time as soon as they end."
        />
      ) : replayFrom !== null && tape ? (
        <div class="scroll player">
          <Timeline blocks={blocks} pick={pick} />
          <Replay tape={tape} from={replayFrom} dark={dark} />
        </div>
      ) : (
        <div class="scroll">
          <Timeline blocks={blocks} pick={pick} />
          <div class="tools">
            <Field
              id="blocks"
              label="Search the commands"
              hint={tape ? 'Search commands and output' : 'Search the commands'}
              value={query}
              set={setQuery}
              onFocus={() => void (isRecorded && !tape && loadTape())}
            />
            {!isRecorded && (
              <span class="hint">
                Output of foreground commands is not kept. The setting <code>record.sessions</code> records it.
              </span>
            )}
          </div>
          {shown.length === 0 && <p class="empty small">No command fits.</p>}
          <ol class="blocks">
            {shown.map((block) => (
              <Block
                key={`${block.at} ${block.kind} ${block.command}`}
                block={block}
                go={go}
                isMarked={marked === block.at}
                replay={isRecorded ? () => void replayAt(block) : null}
                output={async () => {
                  const found = tape && commandAt(tape, block.at, block.command) ? tape : await loadTape()
                  const command = found && commandAt(found, block.at, block.command)
                  return command ? plainOutput(command) : null
                }}
              />
            ))}
          </ol>
        </div>
      )}
    </>
  )
}

interface BlockOf {
  readonly block: BlockRow
  readonly go: (of: string) => void
  readonly isMarked: boolean
  readonly replay: (() => void) | null
  readonly output: () => Promise<string | null>
}

function Block({ block, go, isMarked, replay, output }: BlockOf) {
  const [text, setText] = useState<string | null>(null)
  const show = async (): Promise<void> => setText(text === null ? ((await output()) ?? 'It was not recorded.') : null)
  return (
    <li class={`block ${block.tone}`} id={`b${block.at}`} data-marked={isMarked}>
      <div class="when">{day(block.at)}</div>
      <pre tabIndex={0} aria-label="Command">
        {visible(block.command)}
      </pre>
      <div class="facts">
        <span class={toneClass(block.tone)}>{block.came}</span>
        {block.came !== 'running' && <span>{took(block.ms)}</span>}
        {block.bytes > 0 && <span>{size(block.bytes)}</span>}
        <span class="mono">{visible(block.cwd)}</span>
        <span class="links">
          {block.job ? (
            <LinkButton act={() => go(`job/${block.job}`)}>Output</LinkButton>
          ) : (
            replay && (
              <button class="plain underline" aria-expanded={text !== null} onClick={() => void show()}>
                {text === null ? 'Output' : 'Hide output'}
              </button>
            )
          )}
          {replay && <LinkButton act={replay}>Replay from here</LinkButton>}
          <LinkButton act={() => void copy(block.command)}>Copy</LinkButton>
          {text !== null && <LinkButton act={() => void copy(text)}>Copy output</LinkButton>}
        </span>
      </div>
      {block.deeds.map((deed) => (
        <div class="deed">
          {deed.came}
          {deed.waitedMs === null ? '' : ` after ${took(deed.waitedMs)}`} by {visible(deed.by ?? 'the agent')}
        </div>
      ))}
      {text !== null && (
        <pre class="printed" tabIndex={0} aria-label="Output">
          {text === '' ? 'It printed nothing.' : visible(text)}
        </pre>
      )}
    </li>
  )
}
