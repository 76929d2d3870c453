/** Plays the recording of a session: a terminal, a clock that can be moved, and jumps from command to command. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { Choose } from '../parts/fields'
import { clockOf, visible } from '../parts/format'
import type { OpenTerminal } from '../parts/terminal'
import type { Tape } from './tape'

const TICK_MS = 40
const SPEEDS = [1, 2, 4, 16].map((speed) => [`${speed}×`, speed] as const)
/** More than a terminal keeps is not written to it when the clock is moved. */
const SEEN_CHARS = 512 * 1024

export function Replay({ tape, from, dark }: { tape: Tape; from: number; dark: boolean }) {
  const place = useRef<HTMLDivElement>(null)
  const term = useRef<OpenTerminal | null>(null)
  const clock = useRef(from)
  const next = useRef(0)
  const [at, setAt] = useState(from)
  const [isPlaying, setPlaying] = useState(true)
  const [speed, setSpeed] = useState(1)
  const play = (to: number): void => {
    let text = ''
    while (next.current < tape.events.length && tape.events[next.current]!.atMs <= to)
      text += tape.events[next.current++]!.text
    if (text) term.current?.write(text.slice(-SEEN_CHARS), () => {})
    clock.current = to
    setAt(to)
  }
  const seek = (to: number): void => {
    if (to < clock.current) {
      term.current?.clear()
      next.current = 0
    }
    play(Math.max(0, Math.min(to, tape.lengthMs)))
  }
  useEffect(() => {
    let alive = true
    void import('../parts/terminal').then(({ openTerminal }) => {
      if (!alive || !place.current) return
      const none = (): void => {}
      term.current = openTerminal(place.current, { dark, plain: false, onType: none, onLeave: none, onLink: none })
      play(clock.current)
    })
    return () => {
      alive = false
      term.current?.close()
      term.current = null
    }
  }, [])
  useEffect(() => term.current?.theme(dark), [dark])
  useEffect(() => seek(from), [from])
  useEffect(() => {
    if (!isPlaying) return
    const timer = setInterval(() => {
      play(Math.min(clock.current + TICK_MS * speed, tape.lengthMs))
      if (clock.current >= tape.lengthMs) setPlaying(false)
    }, TICK_MS)
    return () => clearInterval(timer)
  }, [isPlaying, speed])
  const { commands } = tape
  const current = commands.findLastIndex((command) => command.atMs <= at)
  const jump = (to: number): void => {
    const command = commands[Math.max(0, Math.min(to, commands.length - 1))]
    if (command) seek(command.atMs)
  }
  const isAtEnd = at >= tape.lengthMs
  return (
    <div class="replay">
      <div class="tools">
        <button
          class="main"
          onClick={() => {
            if (isAtEnd) seek(0)
            setPlaying(!isPlaying || isAtEnd)
          }}
        >
          {isPlaying && !isAtEnd ? 'Pause' : isAtEnd ? 'Again' : 'Play'}
        </button>
        <button onClick={() => jump(current - 1)} aria-label="Command before" disabled={current <= 0}>
          ‹
        </button>
        <button onClick={() => jump(current + 1)} aria-label="Next command" disabled={current >= commands.length - 1}>
          ›
        </button>
        <input
          type="range"
          aria-label="Time"
          min={0}
          max={Math.ceil(tape.lengthMs)}
          step={100}
          value={at}
          onInput={(event) => {
            setPlaying(false)
            seek(Number((event.target as HTMLInputElement).value))
          }}
        />
        <span class="hint clock">
          {clockOf(at)} / {clockOf(tape.lengthMs)}
        </span>
        <Choose label="Speed" value={speed} set={(value) => setSpeed(Number(value))} of={SPEEDS} />
      </div>
      <p class="now" aria-live="polite">
        {current < 0
          ? ''
          : `${current + 1} of ${commands.length}: ${visible(commands[current]!.command).slice(0, 160)}`}
      </p>
      <div class="term" ref={place} role="group" aria-label="Replay" />
    </div>
  )
}
