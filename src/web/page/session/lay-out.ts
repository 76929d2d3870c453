/** Where the bars of a timeline stand: pauses are drawn short, so that what happened stays readable. */
import type { BlockRow } from '../../words.js'

const LANES = 4
/** A pause takes no more than this part of the time in which something ran. */
const PAUSE_PART = 0.06
const NARROWEST = 0.5

interface Bar {
  readonly block: BlockRow
  readonly left: number
  readonly width: number
  readonly lane: number
}

/** In percent of the width. */
export function layOut(
  blocks: readonly BlockRow[],
  now: number,
): { bars: Bar[]; pauses: { left: number; width: number; ms: number }[] } {
  const endOf = (block: BlockRow): number => (block.isOpen ? now : block.at + block.ms)
  const busy = blocks.reduce((sum, block) => sum + endOf(block) - block.at, 0)
  const longest = Math.max(200, busy * PAUSE_PART)
  const cuts: { at: number; ms: number; drawn: number }[] = []
  let reached = blocks[0]?.at ?? 0
  for (const block of blocks) {
    if (block.at - reached > longest) cuts.push({ at: reached, ms: block.at - reached, drawn: longest })
    reached = Math.max(reached, endOf(block))
  }
  const first = blocks[0]?.at ?? 0
  const placeOf = (at: number): number =>
    at - first - cuts.filter((cut) => cut.at + cut.ms <= at).reduce((sum, { ms, drawn }) => sum + ms - drawn, 0)
  const span = Math.max(1, placeOf(reached))
  const ends: number[] = []
  const bars = blocks.map((block) => {
    const left = Math.min(100 - NARROWEST, (placeOf(block.at) / span) * 100)
    const width = Math.min(100 - left, Math.max(NARROWEST, ((endOf(block) - block.at) / span) * 100))
    const free = Array.from({ length: LANES }, (_, lane) => lane).find((lane) => (ends[lane] ?? -1) <= left)
    const lane = free ?? ends.indexOf(Math.min(...ends))
    ends[lane] = left + width
    return { block, left, width, lane }
  })
  const pauses = cuts.map(({ at, ms, drawn }) => ({
    left: (placeOf(at) / span) * 100,
    width: (drawn / span) * 100,
    ms,
  }))
  return { bars, pauses }
}
