/** Changes of a try as lines, the same on a terminal and for a model. */
import type { Change, ChangedFile } from '../contract/changes.js'
import { visible } from './terminal/visible.js'

type Style = 'green' | 'cyan' | 'red' | 'yellow' | 'dim'
export type PaintChange = (style: Style, text: string) => string

const LETTERS = { added: 'A', changed: 'M', deleted: 'D', replaced: 'T' } as const
const STYLES = { added: 'green', changed: 'cyan', deleted: 'red', replaced: 'yellow' } as const
const plain: PaintChange = (_style, text) => text

/** One line: what, where, and everything that should be known before it counts. */
export function changeLine(change: Change, paint: PaintChange = plain): string {
  const { kind, path, before, after } = change
  const details = [
    ...(before && after && before.type !== after.type ? [`${before.type} -> ${after.type}`] : []),
    ...(kind === 'added' || kind === 'deleted' ? typeWords((after ?? before)!) : []),
    ...(before && after && change.parts.includes('mode') ? [`mode ${octal(before)} -> ${octal(after)}`] : []),
    ...(change.parts.includes('owner') ? ['owner'] : []),
    ...(change.parts.includes('attributes') ? ['attributes'] : []),
    ...(after?.target ? [`-> ${after.target}`] : []),
    ...change.notes,
  ]
  const alarms = [
    ...(change.conflict ? [`CONFLICT: ${change.conflict}`] : []),
    ...(change.protected ? ['PROTECTED'] : []),
    ...(change.refused ? [`not accepted: ${change.refused}`] : []),
  ]
  const tail = details.length > 0 ? paint('dim', `  (${visible(details.join('; '))})`) : ''
  const alarm = alarms.length > 0 ? paint('yellow', `  ${alarms.join('; ')}`) : ''
  return `${paint(STYLES[kind], LETTERS[kind])} ${visible(path)}${tail}${alarm}`
}

/**
 * The text of a change below its line; '' where there is none. Lines of files stand with what a
 * terminal would act on taken out.
 */
export function changeText({ diff, before, after, parts }: Change, paint: PaintChange = plain): string {
  if (diff === undefined) return ''
  if (diff === null)
    return [before, after].some((side) => side?.type === 'file') && parts.includes('content')
      ? '  (no text, or too large to show)\n'
      : ''
  return diff
    .split('\n')
    .map((line) => {
      const shown = visible(line)
      if (line.startsWith('@@')) return paint('cyan', shown)
      return line.startsWith('+') ? paint('green', shown) : line.startsWith('-') ? paint('red', shown) : shown
    })
    .join('\n')
}

/** "2 added, 1 deleted". `paths`: where only they were asked about. */
export function countWords(changes: readonly Change[], paths?: readonly string[]): string {
  const words = (['added', 'changed', 'replaced', 'deleted'] as const).flatMap((kind) => {
    const { length } = changes.filter((change) => change.kind === kind)
    return length > 0 ? [`${length} ${kind}`] : []
  })
  return words.join(', ') || (paths ? 'nothing of this name was changed' : 'nothing changed')
}

function typeWords({ type, mode }: ChangedFile): string[] {
  if (type === 'file') return (mode & 0o111) === 0 ? [] : ['executable']
  return [type]
}

function octal({ mode }: ChangedFile): string {
  return mode.toString(8).padStart(4, '0')
}
