/** Commands of a session as bars over time; a click goes to the command. */
import type { BlockRow } from '../../words'
import { day, took, visible } from '../parts/format'
import { layOut } from './lay-out'

const SHOWN = 150
const LANE = 16

export function Timeline({ blocks, pick }: { blocks: readonly BlockRow[]; pick: (block: BlockRow) => void }) {
  const recent = blocks.slice(-SHOWN)
  const { bars, pauses } = layOut(recent, Date.now())
  const lanes = Math.max(...bars.map(({ lane }) => lane)) + 1
  const last = recent.at(-1)!
  return (
    <div class="timeline" role="group" aria-label={`Timeline of ${recent.length} commands`}>
      <div class="lanes" style={{ height: `${lanes * LANE}px` }}>
        {pauses.map(({ left, width, ms }) => (
          <span class="pause" title={`pause of ${took(ms)}`} style={{ left: `${left}%`, width: `${width}%` }} />
        ))}
        {bars.map(({ block, left, width, lane }) => (
          <button
            class={`bar ${block.tone}${block.isOpen ? ' open' : ''}`}
            key={`${block.at} ${block.command}`}
            tabIndex={-1}
            title={`${visible(block.command).slice(0, 120)}\n${block.came}, ${took(block.ms)}, ${day(block.at)}`}
            aria-label={`${visible(block.command).slice(0, 60)}, ${block.came}`}
            style={{ left: `${left}%`, width: `${width}%`, top: `${lane * LANE}px` }}
            onClick={() => pick(block)}
          />
        ))}
      </div>
      <div class="axis">
        <span>{day(recent[0]!.at)}</span>
        <span>{last.isOpen ? 'now' : day(last.at + last.ms)}</span>
      </div>
    </div>
  )
}
