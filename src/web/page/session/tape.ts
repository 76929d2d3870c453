/** The recording of a session in the page: cut into commands, with pauses shortened for playing. */
export interface TapeCommand {
  readonly command: string
  /** When it was asked for, in epoch milliseconds: the same moment as in the record. */
  readonly askedAt: number
  /** On the clock of the player. */
  readonly atMs: number
  readonly text: string
}

export interface Tape {
  readonly events: readonly { readonly atMs: number; readonly text: string }[]
  readonly commands: readonly TapeCommand[]
  readonly lengthMs: number
}

const LONGEST_PAUSE_MS = 1_500
/** The record and the recording look at the clock one after the other. */
const SAME_MOMENT_MS = 50

export function tapeOf(recorded: readonly (readonly [number, string, string])[]): Tape {
  const events: { atMs: number; text: string }[] = []
  const commands: { command: string; askedAt: number; atMs: number; text: string }[] = []
  let clock = 0
  let before = recorded[0]?.[0] ?? 0
  for (const [at, kind, text] of recorded) {
    clock += Math.min(Math.max(0, at - before), LONGEST_PAUSE_MS)
    before = at
    const last = commands.at(-1)
    if (kind === 'm') commands.push({ command: text, askedAt: at, atMs: clock, text: '' })
    else if (kind === 'x' && last) last.askedAt = Number(text)
    else if (kind === 'o') {
      events.push({ atMs: clock, text })
      if (last) last.text += text
    }
  }
  return { events, commands, lengthMs: clock }
}

export function commandAt({ commands }: Tape, at: number, command: string): TapeCommand | undefined {
  return commands.find((each) => Math.abs(each.askedAt - at) <= SAME_MOMENT_MS && each.command === command)
}

/** Without escape sequences and without the line that repeats the command. */
export function plainOutput({ text }: TapeCommand): string {
  const plain = text
    .replaceAll(/\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-~])/g, '')
    .replaceAll('\r\n', '\n')
  const end = plain.indexOf('\n')
  return end < 0 ? '' : plain.slice(end + 1)
}
