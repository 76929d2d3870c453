/** Numbers with units, times that read well, and text that shows what is in it. */
import { HIDDEN, visible } from '../../../output/terminal/visible.js'
import type { Tone } from '../../../audit/blocks.js'

export { visible }

/** Hidden, not ASCII, several blanks, end of a line. */
const ODD = new RegExp(`(${HIDDEN})|([^\\u0000-\\u007f])|( {2,})|(\\n)`, 'gu')

export function ago(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000))
  if (s < 60) return `${s} s`
  if (s < 3600) return `${Math.floor(s / 60)} min`
  if (s < 86_400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`
  return `${Math.floor(s / 86_400)} d`
}

export function took(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : ago(ms)
}

export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(bytes < 1e4 ? 1 : 0)} kB`
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB` : `${(bytes / 1e9).toFixed(1)} GB`
}

export function day(at: number): string {
  const date = new Date(at)
  const clock = date.toLocaleTimeString([], { hour12: false })
  const isToday = date.toDateString() === new Date().toDateString()
  return isToday ? clock : `${date.toLocaleDateString([], { month: 'short', day: 'numeric' })} ${clock}`
}

export interface Piece {
  readonly text: string
  /** Shown differently from plain text, and why. */
  readonly odd: 'hidden' | 'foreign' | 'blank' | null
}

/** A text to be approved, in pieces: what could deceive the eye is marked. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = []
  let at = 0
  for (const match of text.matchAll(ODD)) {
    if (match.index > at) found.push({ text: text.slice(at, match.index), odd: null })
    const [whole, hidden, foreign, blanks] = match
    if (hidden !== undefined) found.push({ text: visible(whole), odd: 'hidden' })
    else if (foreign !== undefined) found.push({ text: whole, odd: 'foreign' })
    else if (blanks !== undefined) found.push({ text: '·'.repeat(blanks.length), odd: 'blank' })
    else found.push({ text: '⏎\n', odd: 'blank' })
    at = match.index + whole.length
  }
  if (at < text.length) found.push({ text: text.slice(at), odd: null })
  return found
}

/** `1:05`, as players show time. */
export function clockOf(ms: number): string {
  const s = Math.floor(ms / 1000)
  return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')}`
}

export function toneClass(tone: Tone): string {
  return { ok: 'ok', bad: 'badtext', warn: 'warntext', plain: '' }[tone]
}
