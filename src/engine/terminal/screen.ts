/**
 * What a person would see on a job's terminal: its stored output drawn by a terminal emulator,
 * in any process, at any time, with the same versions.
 */
import { ShellError } from '../../contract/errors.js'
import type { Screen } from '../../contract/job.js'
import type { PtySize } from '../../contract/request.js'
import { readStored } from '../../os/job/output.js'
import { readInputNotes } from '../../os/job/terminal.js'
import { createScreenGuard } from './screen-guard.js'
import type { IBuffer, Terminal } from '@xterm/headless'

/**
 * Older output than this cannot matter for what is on the screen now, except for programs that
 * draw a line once and never again.
 */
const REPLAY_BYTES = 4 * 1024 * 1024
const BLOCK = 65_536

export interface ScreenOptions {
  readonly dir: string
  /** The size that the job started with; later sizes are in its notes. */
  readonly size: PtySize
  readonly mask: (text: string) => string
}

/**
 * One emulator that follows one job. A version is the number of bytes and resizes that have
 * been drawn, so it means the same everywhere.
 */
export class JobScreen {
  readonly #options: ScreenOptions
  #terminal: Terminal | null = null
  #offset = 0
  #resizes = 0
  #title = ''
  #rows: string[] = []
  #changedAt: number[] = []
  #busy: Promise<unknown> = Promise.resolve()
  readonly #guard = createScreenGuard(() => Math.max(this.#terminal?.cols ?? 1, this.#terminal?.rows ?? 1))

  constructor(options: ScreenOptions) {
    this.#options = options
  }

  /** Looks are taken one after the other: two callers share the emulator. */
  look({ since }: { since?: number } = {}): Promise<Screen> {
    const looked = this.#busy.then(() => this.#look(since))
    this.#busy = looked.catch(() => {})
    return looked
  }

  close(): void {
    this.#terminal?.dispose()
    this.#terminal = null
  }

  async #look(since: number | undefined): Promise<Screen> {
    const terminal = (this.#terminal ??= await this.#open())
    // Drawn up to the version asked for first, so that the rest is exactly what changed since.
    if (since !== undefined && since > this.#version) await this.#draw(terminal, since)
    await this.#draw(terminal, Number.POSITIVE_INFINITY)
    const buffer = terminal.buffer.active
    const shown = this.#rows.slice(0, this.#rows.findLastIndex((row) => row !== '') + 1)
    return {
      text: this.#options.mask(shown.join('\n')),
      cursor: { row: buffer.cursorY, col: buffer.cursorX },
      title: this.#options.mask(this.#title),
      size: { cols: terminal.cols, rows: terminal.rows },
      version: this.#version,
      changedRows: this.#changedAt.flatMap((version, row) => (version > (since ?? 0) ? [row] : [])),
      alternate: buffer.type === 'alternate',
    }
  }

  get #version(): number {
    return this.#offset + this.#resizes
  }

  async #open(): Promise<Terminal> {
    const Emulator = await loadEmulator()
    const { cols, rows } = this.#options.size
    const terminal = new Emulator({ cols, rows, scrollback: 1_000, allowProposedApi: true, logLevel: 'off' })
    terminal.onTitleChange((title) => (this.#title = title))
    const { total } = readStored(this.#options.dir, 'output.log', 0, 0)
    this.#offset = Math.max(0, total - REPLAY_BYTES)
    return terminal
  }

  async #draw(terminal: Terminal, upTo: number): Promise<void> {
    const sizes = readInputNotes(this.#options.dir).flatMap(({ size, offset }) => (size ? [{ size, offset }] : []))
    for (;;) {
      const resize = sizes[this.#resizes]
      if (resize && resize.offset <= this.#offset && this.#version < upTo) {
        terminal.resize(...clampSize(resize.size))
        this.#resizes += 1
        this.#compare(terminal.buffer.active, terminal.rows)
        continue
      }
      const room = Math.min(BLOCK, upTo - this.#version, resize ? resize.offset - this.#offset : BLOCK)
      if (room <= 0) return
      const { bytes, start } = readStored(this.#options.dir, 'output.log', this.#offset, room)
      if (bytes.length === 0) {
        // The resize was noted before the output it belongs to was stored: it comes with the next look.
        return
      }
      this.#offset = start + bytes.length
      await new Promise<void>((resolve) => terminal.write(this.#guard(bytes), resolve))
      this.#compare(terminal.buffer.active, terminal.rows)
    }
  }

  /** Stamps every row that looks different with the present version. */
  #compare(buffer: IBuffer, count: number): void {
    const version = this.#version
    const rows = Array.from(
      { length: count },
      (_, row) => buffer.getLine(buffer.baseY + row)?.translateToString(true) ?? '',
    )
    this.#changedAt = rows.map((text, row) =>
      text === (this.#rows[row] ?? '') && row < this.#changedAt.length
        ? (this.#changedAt[row] as number)
        : text === '' && row >= this.#rows.length
          ? 0
          : version,
    )
    this.#rows = rows
  }
}

type Emulator = typeof Terminal

/** Half a megabyte of code that only screens need: loaded by the first one. */
async function loadEmulator(): Promise<Emulator> {
  try {
    const loaded = (await import('@xterm/headless')) as unknown as {
      Terminal?: Emulator
      default?: { Terminal?: Emulator }
    }
    const found = loaded.Terminal ?? loaded.default?.Terminal
    if (found) return found
  } catch {
    // Said below.
  }
  throw new ShellError(
    'PTY_UNAVAILABLE',
    'The screen cannot be drawn: the optional package @xterm/headless is not installed',
    'Install it (npm install @xterm/headless), or read the output of the job with ansi: "strip".',
  )
}

function clampSize([cols, rows]: readonly [number, number]): [number, number] {
  const within = (value: number): number => Math.min(10_000, Math.max(1, Math.trunc(Number(value)) || 1))
  return [within(cols), within(rows)]
}
