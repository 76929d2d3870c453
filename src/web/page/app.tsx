/** The page: a head, a list and one view. Keys move through it; nothing is ever approved by one key. */
import { render } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { Empty, LinkButton } from './parts/fields'
import { Activity } from './activity'
import { Dialog } from './parts/dialog'
import { List, itemsOf } from './list'
import { SessionView } from './session/session'
import { Share } from './share'
import { size } from './parts/format'
import { changed, retryNow, start, useWorld, world } from './parts/store'
import { View } from './view'

/** `live`, `activity`, or what is open: `call/...`, `job/...`, `session/...`. */
type Place = string

const LINKS: Record<string, string> = {
  live: 'connected',
  connecting: 'connecting',
  lost: 'connection lost, trying again',
  'no key': 'no key',
  ended: 'this key has ended',
  used: 'this link was used before',
}

function App() {
  const { link, role, asks, toast, hasState, only, disk } = useWorld()
  const [place, setPlace] = useState<Place>('live')
  const [selected, setSelected] = useState<string | null>(null)
  const [help, setHelp] = useState(false)
  const [share, setShare] = useState(false)
  const [dark, setDark] = useDark()
  const go = (to: Place): void => {
    if (to !== place) history.pushState({ place: to }, '')
    setPlace(to)
    if (to.includes('/')) setSelected(to)
  }
  useLayoutEffect(() => void (document.documentElement.dataset['theme'] = dark ? 'dark' : 'light'), [dark])
  useEffect(() => void (document.title = asks.size > 0 ? `(${asks.size}) cerith` : 'cerith'), [asks.size])
  useEffect(() => {
    const timer = setInterval(changed, 1_000)
    const back = (event: PopStateEvent): void => setPlace((event.state as { place?: Place } | null)?.place ?? 'live')
    addEventListener('popstate', back)
    return () => {
      clearInterval(timer)
      removeEventListener('popstate', back)
    }
  }, [])
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement
      const isTyping = target.closest('input, textarea, select, .xterm') !== null
      if (event.key === 'Escape' && !target.closest('.xterm')) {
        if (document.querySelector('dialog[open]')) return
        if (target.closest('input')) return target.blur()
        if (place !== 'live') return history.back()
      }
      if (document.querySelector('dialog[open]')) return
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return
      const rows = itemsOf('').filter(({ of }) => of !== null)
      const at = rows.findIndex(({ of }) => of === selected)
      const move = (by: number): void => setSelected(rows[Math.max(0, Math.min(rows.length - 1, at + by))]?.of ?? null)
      const focus = (what: string): void => {
        event.preventDefault()
        document.querySelector<HTMLElement>(what)?.focus()
      }
      if (event.key === 'j') move(1)
      else if (event.key === 'k') move(at < 0 ? 1 : -1)
      else if (event.key === 'Enter' && selected && target === document.body) go(selected)
      else if (event.key === '/') focus('.view input[type=search], input[type=search]')
      else if (event.key === 'a') focus('.ask pre')
      else if (event.key === 't')
        [...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Take over')?.click()
      else if (event.key === 'g') go('activity')
      else if (event.key === 'l') go('live')
      else if (event.key === '?') setHelp(!help)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
  // A link to one job shows that job and nothing around it.
  const open = only !== null ? `job/${only}` : place.includes('/') ? place : null
  const close = (): void => (history.state?.place ? history.back() : setPlace('live'))
  const isQuiet = hasState && world.calls.size + world.jobs.size + world.engines.size === 0
  const isActivity = place === 'activity'
  const isOut = link === 'no key' || link === 'ended' || link === 'used'
  const hasList = !isActivity && !isOut && only === null
  return (
    <div class="shell" data-open={open !== null || isActivity || isOut} data-lost={link === 'lost'}>
      <header>
        <h1>cerith</h1>
        {only === null && !isOut && (
          <nav aria-label="Views">
            <button class="plain" aria-current={isActivity ? undefined : 'page'} onClick={() => go('live')}>
              Live
            </button>
            <button class="plain" aria-current={isActivity ? 'page' : undefined} onClick={() => go('activity')}>
              Activity
            </button>
          </nav>
        )}
        <span class="spread" />
        {asks.size > 0 && (
          <button
            class="count"
            onClick={() => (go('live'), document.querySelector<HTMLElement>('.ask pre')?.focus())}
            aria-label={`${asks.size} waiting for your approval`}
          >
            {asks.size}
          </button>
        )}
        {role === 'look' && <span class="tag">read only</span>}
        <span class="link" role="status">
          <span class={`dot ${link === 'live' ? 'run' : link === 'connecting' ? 'idle' : 'bad'}`} aria-hidden="true" />
          <span class="words">{LINKS[link]}</span>
        </span>
        {role === 'person' && (
          <button class="plain wide" onClick={() => setShare(true)}>
            Share
          </button>
        )}
        <button class="plain" onClick={() => setHelp(!help)} aria-label="Keys and help">
          ?
        </button>
        <button class="plain" onClick={() => setDark(!dark)} aria-label={dark ? 'Light colours' : 'Dark colours'}>
          {dark ? '☀' : '☾'}
        </button>
      </header>
      {link === 'lost' && (
        <div class="band warn" role="alert">
          <span>
            The connection is lost. What you see may be old; trying again. If <code>cerith ui</code> has ended, start it
            again and open its link.
          </span>
          <LinkButton act={retryNow}>Try now</LinkButton>
        </div>
      )}
      {disk?.isFull && !isOut && (
        <div class="band warn" role="alert">
          The disk that holds the state of cerith is full ({size(disk.free)} free): jobs cannot store what they print.
        </div>
      )}
      <main class={hasList ? '' : 'all'}>
        {hasList && (
          <section class="side" aria-label="Commands, sessions and jobs">
            <List open={open} pick={go} selected={selected} />
          </section>
        )}
        <div class="view">
          {isOut ? (
            <Out link={link} />
          ) : isActivity && only === null ? (
            <Activity dark={dark} go={go} />
          ) : open?.startsWith('session/') ? (
            <SessionView key={open} of={open} close={close} go={go} dark={dark} />
          ) : open ? (
            <View key={open} of={open} close={close} dark={dark} go={go} />
          ) : (
            <Empty title={isQuiet ? 'All quiet' : 'Choose a command or a job'}>
              {isQuiet ? (
                <>
                  No agent is at work. Leave this page open: what they start shows up by itself. To see something now,
                  run <code>cerith run 'sleep 30'</code> in a terminal.
                </>
              ) : (
                'Its output appears here as it comes. Looking changes nothing.'
              )}
            </Empty>
          )}
        </div>
      </main>
      {toast && (
        <div class="toast" role="alert">
          {toast}
        </div>
      )}
      {help && <Help close={() => setHelp(false)} />}
      {share && <Share close={() => setShare(false)} job={open?.startsWith('job/') ? open.slice(4) : null} />}
    </div>
  )
}

/** As the system has it, until the person chooses. */
function useDark(): [boolean, (dark: boolean) => void] {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const [dark, setDark] = useState(
    () => (localStorage.getItem('theme') ?? (system.matches ? 'dark' : 'light')) === 'dark',
  )
  useEffect(() => {
    const follow = (): void => {
      if (localStorage.getItem('theme') === null) setDark(system.matches)
    }
    system.addEventListener('change', follow)
    return () => system.removeEventListener('change', follow)
  }, [])
  return [
    dark,
    (wanted) => {
      localStorage.setItem('theme', wanted ? 'dark' : 'light')
      setDark(wanted)
    },
  ]
}

function Out({ link }: { link: string }) {
  if (link === 'used')
    return (
      <Empty title="This link was used before">
        Someone else has opened it, so all keys have been ended. If that was not you, an agent may have seen your
        screen. Run <code>cerith ui</code> again.
      </Empty>
    )
  if (link === 'ended')
    return (
      <Empty title="This key has ended">
        It expired, was revoked, or <code>cerith ui</code> was started anew. Open a new link.
      </Empty>
    )
  return (
    <Empty title="This page needs its link">
      Run <code>cerith ui</code> and open the address that it prints. A link is good once.
    </Empty>
  )
}

const HELP: readonly (readonly [string, string])[] = [
  ['j k', 'move through the list'],
  ['Enter', 'open'],
  ['Esc', 'back'],
  ['/', 'search'],
  ['a', 'go to the first question; answering needs its button'],
  ['t', 'take over a terminal; Ctrl ] gives it back'],
  ['g', 'activity'],
  ['l', 'live'],
  ['?', 'this help'],
]

function Help({ close }: { close: () => void }) {
  return (
    <Dialog title="Keys" close={close}>
      <dl class="keylist">
        {HELP.map(([key, text]) => (
          <div key={key}>
            <dt>
              {key.split(' ').map((each) => (
                <kbd>{each}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

const place = document.getElementById('app')!
place.replaceChildren()
render(<App />, place)
start()
