/** Links for others, who may look and nothing else: made, listed and revoked. */
import { useEffect, useState } from 'preact/hooks'
import { Choose, Field } from './parts/fields'
import { ago, visible } from './parts/format'
import type { LookLink } from '../words'
import { copy, say, useMessages, world } from './parts/store'
import { Dialog } from './parts/dialog'

const LIVES: readonly (readonly [string, number])[] = [
  ['1 hour', 3_600_000],
  ['1 day', 86_400_000],
  ['1 week', 604_800_000],
]

export function Share({ close, job }: { close: () => void; job: string | null }) {
  const [links, setLinks] = useState<readonly LookLink[]>([])
  const [made, setMade] = useState<string | null>(null)
  const [label, setLabel] = useState('')
  const [lives, setLives] = useState(LIVES[0]![1])
  const [only, setOnly] = useState<string | null>(job)
  useEffect(() => say({ do: 'links' }), [])
  useMessages((message) => {
    if (message.t === 'links' || message.t === 'shared') setLinks(message['all'])
    if (message.t === 'shared') setMade(message['link'])
  }, [])
  return (
    <Dialog title="Let someone look" close={close}>
      <p class="hint">
        A link shows {only === null ? 'everything that you see' : 'this one job'} and can do nothing. It opens once, on
        this machine or through a tunnel to it, and ends by itself.
      </p>
      <div class="tools">
        <Field id="whom" type="text" label="For whom" value={label} set={setLabel} />
        {job !== null && (
          <Choose
            label="What"
            value={only ?? ''}
            set={(value) => setOnly(value || null)}
            of={[
              ['This job only', job],
              ['Everything', ''],
            ]}
          />
        )}
        <Choose label="How long" value={lives} set={(value) => setLives(Number(value))} of={LIVES} />
        <button class="main" onClick={() => say({ do: 'share', label, livesMs: lives, only })}>
          Make a link
        </button>
      </div>
      {made && (
        <div class="made">
          <code>{made}</code>
          <button onClick={() => void copy(made)}>Copy</button>
        </div>
      )}
      {links.length > 0 && (
        <ul class="shared">
          {links.map(({ id, label: name, until, pages, only: one }) => (
            <li key={id}>
              <span>
                {name}{' '}
                <span class="hint">
                  {one === null ? 'everything' : nameOf(one)}, {pages > 0 ? 'open now' : 'not open'},{' '}
                  {until === null ? 'until this ends' : `ends in ${ago(until - Date.now())}`}
                </span>
              </span>
              <button class="bad" onClick={() => say({ do: 'revoke', id })}>
                Revoke
              </button>
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  )
}

function nameOf(id: string): string {
  const job = world.jobs.get(id)
  return job ? visible(job.description ?? job.command).slice(0, 40) : id
}
