/**
 * The screen of `cerith top` as lines of text: questions first, then client, session and
 * command as a tree, then the selected output.
 */
import { age, cut, localTime, oneLine, pad, size } from '../io/table.js'
import { wrapColumns } from '../../output/terminal/width.js'
import type { Paint } from '../io/paint.js'
import { visible } from '../../output/terminal/visible.js'
import { clientName, type CallRow, type JobRow, type World } from '../../engine/live/world.js'
import type { OpenQuestion } from '../verb/approvals.js'

export type Item =
  | { readonly kind: 'ask'; readonly key: string; readonly ask: OpenQuestion }
  | { readonly kind: 'call'; readonly key: string; readonly call: CallRow }
  | { readonly kind: 'job'; readonly key: string; readonly job: JobRow }

export interface TopState {
  readonly world: World
  readonly asks: readonly OpenQuestion[]
  readonly selected: string | null
  /** The end of what the selected one printed. */
  readonly output: readonly string[]
  readonly message: string | null
  /** CPU in percent, by key, since the frame before. */
  readonly load: ReadonlyMap<string, number>
  readonly now: number
}

interface Size {
  readonly columns: number
  readonly rows: number
}

const NAME = 'cerith top'
/** Lines of the list that stay in sight, however long a question is. */
const LEAST_LIST = 3

/** What can be selected, in the order of the screen. */
export function itemsOf({ world, asks }: Pick<TopState, 'world' | 'asks'>): Item[] {
  return [
    ...asks.map((ask) => ({ kind: 'ask' as const, key: ask.id, ask })),
    ...world.calls.map((call) => ({ kind: 'call' as const, key: `${call.engine.id}:${call.run}`, call })),
    ...world.jobs.map((job) => ({ kind: 'job' as const, key: job.info.id, job })),
  ]
}

export function topScreen(state: TopState, size: Size, paint: Paint): string[] {
  const { columns, rows } = size
  const items = itemsOf(state)
  const chosen = items.find(({ key }) => key === state.selected) ?? items[0]
  const all = listLines(state, chosen?.key ?? null, columns, paint)
  const card = chosen?.kind === 'ask' ? cardLines(chosen.ask, columns) : null
  const listRoom = Math.max(LEAST_LIST, Math.min(all.length, card ? rows - 3 - card.length : Math.ceil((rows - 4) / 2)))
  const list = window(all, listRoom, chosen?.key ?? null)
  const below = rows - 3 - list.length
  const view = card ?? state.output.slice(-Math.max(1, below))
  const rule = paint('dim', cut(`── ${chosen ? titleOf(chosen) : 'nothing runs'} ${'─'.repeat(columns)}`, columns))
  const body = [...list, rule, ...view.map((line) => cut(line, columns))].slice(0, rows - 2)
  while (body.length < rows - 2) body.push('')
  return [header(state, columns, paint), ...body, footer(state, chosen, columns, paint)]
}

/** Nothing is approved of which a part is out of sight. */
export function isWholeInSight(ask: OpenQuestion, { columns, rows }: Size): boolean {
  return cardLines(ask, columns).length <= rows - 3 - LEAST_LIST
}

function header({ world, asks, now }: TopState, columns: number, paint: Paint): string {
  const running = world.jobs.filter(({ info }) => info.isRunning).length
  const counts = [
    counted(world.calls.length, 'command'),
    counted(world.sessions.length, 'session'),
    counted(running, 'job'),
  ].join(' · ')
  const waiting = asks.length > 0 ? `${asks.length} waiting for you` : ''
  const room = columns - NAME.length - waiting.length - (waiting ? 4 : 2)
  const facts = cut(`${localTime(now).slice(11)}  ${counts}`, room)
  return `${paint('bold', NAME)}  ${facts}${waiting ? `  ${paint('yellow', waiting)}` : ''}`
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

interface Line {
  readonly key: string | null
  readonly text: string
}

function listLines(state: TopState, selected: string | null, columns: number, paint: Paint): Line[] {
  const { world, asks, now, load } = state
  const lines: Line[] = []
  const row = (key: string, left: string, facts: string, style: Parameters<Paint>[0] | null): void => {
    // In a narrow terminal the age alone is left of them.
    const right = facts.length * 2 <= columns ? facts : (facts.split('  ').at(-1) ?? '')
    const room = Math.max(4, columns - right.length - 3)
    // The left part keeps the blanks that it begins with: they are the tree.
    const indent = /^ */.exec(left)?.[0] ?? ''
    const text = `${key === selected ? '▸ ' : '  '}${pad(cut(indent + oneLine(left), room), room)} ${right}`
    lines.push({ key, text: key === selected ? paint('bold', text) : style ? paint(style, text) : text })
  }
  if (asks.length > 0) lines.push({ key: null, text: paint('yellow', 'Waiting for you') })
  for (const ask of asks) row(ask.id, `? ${ask.command}`, age(now - ask.askedAt), 'yellow')
  for (const [client, calls] of group(world.calls, clientName)) {
    lines.push({ key: null, text: paint('dim', oneLine(client)) })
    for (const [session, mine] of group(calls, (call) => call.session ?? '')) {
      if (session !== '') lines.push({ key: null, text: paint('dim', `  ${cut(oneLine(session), columns - 2)}`) })
      for (const call of mine) {
        const key = `${call.engine.id}:${call.run}`
        const use = call.ask
          ? `waits  ${age(now - call.at)}`
          : `${(load.get(key) ?? 0).toFixed(0)}%  ${size(call.uses.memoryBytes)}  ${age(now - call.at)}`
        row(key, `${session === '' ? '' : '  '}${call.command}`, use, call.ask ? 'yellow' : 'green')
      }
    }
  }
  const isIn = (engine: string, name: string): boolean =>
    world.calls.some((call) => call.engine.id === engine && call.session === name)
  const idle = world.sessions
    .filter(({ engine, session }) => !isIn(engine.id, session.name))
    .map(({ session }) => session.name)
  if (idle.length > 0) lines.push({ key: null, text: paint('dim', cut(`idle: ${oneLine(idle.join(', '))}`, columns)) })
  if (world.jobs.length > 0) lines.push({ key: null, text: paint('dim', 'jobs') })
  for (const { info, uses } of world.jobs) {
    const use = uses ? `${(load.get(info.id) ?? 0).toFixed(0)}%  ${size(uses.memoryBytes)}` : info.status
    const ports = uses && uses.ports.length > 0 ? `  :${uses.ports.join(' :')}` : ''
    row(
      info.id,
      `${info.description ?? info.command}${ports}`,
      `${use}  ${age(now - info.startedAt)}`,
      info.isRunning ? 'green' : 'dim',
    )
  }
  if (lines.length === 0)
    lines.push({ key: null, text: 'Nothing runs. Commands appear here as soon as an agent starts one.' })
  return lines
}

/** So many lines around the selected one. */
function window(lines: readonly Line[], room: number, selected: string | null): string[] {
  const at = Math.max(
    0,
    lines.findIndex(({ key }) => key !== null && key === selected),
  )
  const from = Math.max(0, Math.min(at - Math.floor(room / 2), lines.length - room))
  return lines.slice(from, from + room).map(({ text }) => text)
}

/** Whole: nothing that is approved may be out of sight, so long lines are wrapped. */
function cardLines(ask: OpenQuestion, columns: number): string[] {
  const wrap = (text: string): string[] => wrapColumns(text, columns)
  const facts = [
    `in ${visible(ask.cwd)}`,
    ...(ask.session ? [`session ${visible(ask.session)}`] : []),
    ...ask.env.map(visible),
  ]
  return [...visible(ask.command).split('\n'), '', ...facts, `because ${visible(ask.reason)}`].flatMap(wrap)
}

function titleOf(item: Item): string {
  if (item.kind === 'ask') return 'a question'
  return oneLine(item.kind === 'call' ? item.call.command : `${item.job.info.id} ${item.job.info.command}`)
}

function footer({ message }: TopState, chosen: Item | undefined, columns: number, paint: Paint): string {
  if (message !== null) return paint('yellow', cut(message, columns))
  const keys =
    chosen?.kind === 'ask'
      ? 'y once  s session  n deny'
      : chosen?.kind === 'call'
        ? 'i interrupt  k kill  b background'
        : chosen?.kind === 'job' && chosen.job.info.isRunning
          ? `k kill${chosen.job.info.pty ? '  a attach' : ''}`
          : ''
  return paint('dim', cut(`↑↓ select  ${keys}  q quit`, columns))
}

function group<T>(all: readonly T[], nameOf: (each: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const each of all) groups.set(nameOf(each), [...(groups.get(nameOf(each)) ?? []), each])
  return groups
}
