/**
 * Questions of agents as cards. Nothing is approved that was not shown whole, and no button
 * works in the moment in which a card appears.
 */
import { useEffect, useRef, useState } from 'preact/hooks'
import { ago, pieces, visible } from './parts/format'
import { digestOf, say, toast, useWorld } from './parts/store'
import type { AskRow } from '../words'

/** A card that has just come, or moved, takes no click that was meant for something else. */
const ARM_MS = 500

export function Asks() {
  const { asks, role, link } = useWorld()
  const all = [...asks.values()].sort((a, b) => a.askedAt - b.askedAt)
  if (all.length === 0) return null
  return (
    <section aria-label="Waiting for you" class="asks">
      <h2>Waiting for you</h2>
      {all.map((ask) => (
        <Card key={ask.id} ask={ask} canAnswer={role === 'person' && link === 'live'} place={all.indexOf(ask)} />
      ))}
    </section>
  )
}

function Card({ ask, canAnswer, place }: { ask: AskRow; canAnswer: boolean; place: number }) {
  const text = useRef<HTMLPreElement>(null)
  const [isArmed, setArmed] = useState(false)
  const [isSeen, setSeen] = useState(false)
  const [sent, setSent] = useState<string | null>(null)
  const look = (): void => {
    const box = text.current
    if (box && box.scrollTop + box.clientHeight >= box.scrollHeight - 4) setSeen(true)
  }
  useEffect(look, [])
  useEffect(() => {
    setArmed(false)
    const timer = setTimeout(() => setArmed(true), ARM_MS)
    return () => clearTimeout(timer)
  }, [place])
  const answer = async (as: string): Promise<void> => {
    setSent(as)
    try {
      say({ do: 'answer', id: ask.id, as, digest: await digestOf(ask) })
    } catch {
      toast('This browser cannot compute what was shown; open the page by its own address.')
    }
    setTimeout(() => setSent(null), 3_000)
  }
  const isDead = !isArmed || sent !== null
  return (
    <div class="ask" role="group" aria-label={`Approval of ${visible(ask.command).slice(0, 80)}`}>
      <pre ref={text} tabIndex={0} onScroll={look} aria-label="Command">
        {pieces(ask.command).map(({ text: each, odd }) =>
          odd ? (
            <span
              class={`odd ${odd}`}
              title={odd === 'blank' ? undefined : `U+${each.codePointAt(0)?.toString(16).padStart(4, '0')}`}
            >
              {each}
            </span>
          ) : (
            each
          ),
        )}
      </pre>
      <dl>
        <Fact name="Why" text={ask.reason} />
        <Fact name="Where" text={ask.cwd} mono />
        {ask.session !== null && <Fact name="Session" text={ask.session} />}
        {ask.env.length > 0 && <Fact name="With" text={ask.env.join(' ')} mono />}
        <dt>Asked</dt>
        <dd>
          {ago(Date.now() - ask.askedAt)} ago;{' '}
          {ask.isWaiting ? 'the agent waits for you' : 'refused meanwhile: an answer counts when it asks again'}
        </dd>
      </dl>
      {canAnswer && (
        <div class="buttons">
          <button class="main" disabled={isDead || !isSeen} onClick={() => void answer('once')}>
            Allow once
          </button>
          <button
            disabled={isDead || !isSeen}
            onClick={() => void answer('session')}
            title="Exactly this command, in this directory and session, until a script that it starts changes"
          >
            Allow in session
          </button>
          <button class="bad" disabled={isDead} onClick={() => void answer('deny')}>
            Deny
          </button>
          {!isSeen && <span class="hint">{ask.command.length} characters: scroll to the end first</span>}
        </div>
      )}
    </div>
  )
}

function Fact({ name, text, mono }: { name: string; text: string; mono?: boolean }) {
  return (
    <>
      <dt>{name}</dt>
      <dd class={mono ? 'mono' : undefined}>{visible(text)}</dd>
    </>
  )
}
