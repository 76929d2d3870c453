/**
 * Replaces every known value in output by `[secret:NAME]`, also when it comes in pieces,
 * encoded, wrapped, coloured or re-indented.
 */
import { concat, hexDigit, latin1, sameBytes } from './bytes.js'
import { formsOf, spacedForms } from './forms.js'
import { joinLines, type LineView, mayBeDump, readDump } from './lines.js'
import { createNeedleIndex, type NamedNeedle, type NeedleIndex } from './needle-index.js'
import { endingsOf } from './partial.js'
import { createView, endOf, findEscapes, project, PROJECTIONS, startOf, type Projection } from './projections.js'

/** All known values of an engine. Streams that are already open follow every change from their next chunk on. */
export interface Masker {
  /** A second value under the same name is masked as well: after a rotation the old one may still be printed. */
  add(name: string, value: Uint8Array): void
  /** Forgets all values of a name. */
  remove(name: string): void
  /** How many values are looked for; values that are too short to be masked do not count. */
  readonly size: number
  /**
   * Everything that is looked for literally, with the names that stand for it: for a keeper
   * that masks without this engine.
   */
  needles(): { name: string; bytes: Uint8Array }[]
  stream(): MaskStream
  maskBytes(whole: Uint8Array): Uint8Array
  maskText(whole: string): string
}

/** One stream of output. Concatenated results are the masked stream. */
export interface MaskStream {
  /** What is safe to show now; the same array when there is nothing to mask and nothing to hold back. */
  push(chunk: Uint8Array): Uint8Array
  /** The end of the stream: everything that was still held back. */
  flush(): Uint8Array
  /**
   * For a reader who has waited long enough (a prompt may end like a secret begins): shows what is held back, unless
   * that could be half of a value. The shown bytes still count: when the rest of the value comes, the rest is masked.
   */
  release(): Uint8Array
  /** Bytes held back and not shown. */
  readonly pending: number
  /** Gives them up, raw, to the next masker of this stream. */
  take(): Uint8Array
}

interface Span {
  start: number
  end: number
  owner: number
  length: number
}

/**
 * Bytes are looked at in blocks of this size, so that the working memory is small and stays in the processor's cache.
 */
const BLOCK = 65_536
/** With more values, their ends would cost the keeper of a job's output too much. */
const MOST_WITH_ENDINGS = 100

/**
 * No more than this is ever held back beyond the longest needle: filler between the bytes of a value ends somewhere.
 */
const PATIENCE = 16_384
const NOTHING = new Uint8Array(0)

export function createMasker(): Masker {
  const values = new Map<string, { value: Uint8Array; needles: ReturnType<typeof formsOf> }[]>()
  const view = createView()
  let size = 0
  let compiled: { index: NeedleIndex; labels: Uint8Array[] } | undefined

  const recount = () => {
    size = [...values.values()].reduce((sum, list) => sum + list.filter(({ needles }) => needles.length > 0).length, 0)
    compiled = undefined
  }

  function compile(): { index: NeedleIndex; labels: Uint8Array[] } {
    if (compiled) return compiled
    const needles = new Map<string, NamedNeedle>()
    const names = [...values.keys()]
    names.forEach((name, owner) => {
      for (const entry of values.get(name) ?? []) {
        for (const needle of entry.needles) {
          const key = `${needle.part ?? ''} ${latin1(needle.whole ?? needle.bytes)}`
          if (!needles.has(key)) needles.set(key, { ...needle, owner })
        }
      }
    })
    const index = createNeedleIndex([...needles.values()])
    compiled = {
      index,
      labels: names.map((name) => new TextEncoder().encode(`[secret:${name}]`)),
    }
    // A label that contains a value (a secret called like its value) would show it.
    compiled.labels = compiled.labels.map((label) =>
      findSpans(index, label).spans.length > 0 ? new TextEncoder().encode('[***]') : label,
    )
    return compiled
  }

  /** All places to mask, merged and in order, and the earliest byte that may still become part of one. */
  function findSpans(index: NeedleIndex, raw: Uint8Array): { spans: Span[]; hold: number } {
    const spans: Span[] = []
    index.search(raw, raw.length, (start, end, { owner }) => spans.push({ start, end, owner, length: end - start }))
    let hold = index.holdFrom(raw, raw.length)
    // A match that only a projection shows contains an escape, so only the surroundings of escapes are projected.
    const reach = index.longest + 256
    const look = ({ bytes, size, from, to }: LineView, unfinished = Infinity): void =>
      index.search(bytes, size, (first, last, { owner }) => {
        const [start, end] = [from[first] as number, to[last - 1] as number]
        spans.push({ start, end, owner, length: last - first })
        // The rest of that line has to go with it.
        if (end > unfinished) hold = Math.min(hold, lineStart(raw, start))
      })
    let dumped = 0
    const readDumpAt = (start: number): void => {
      if (start < dumped || !mayBeDump(raw, start)) return
      const dump = readDump(raw, start)
      dumped = dump.end
      if (dump.hold >= 0) hold = Math.min(hold, dump.hold)
      if (dump.view.size === 0) return
      look(dump.view, dump.hold >= 0 ? dump.hold : Infinity)
      if (dump.end < raw.length) return
      const held = index.holdFrom(dump.view.bytes, dump.view.size)
      if (held < dump.view.size) hold = Math.min(hold, lineStart(raw, dump.view.from[held] as number))
    }
    let joined = 0
    readDumpAt(0)
    const escapes = findEscapes(raw, index, (newline) => {
      readDumpAt(newline + 1)
      if (newline < joined || !index.folds.isFold(raw, newline)) return
      const around = 2 * index.folds.longest + 64
      joined = newline + around - 2 * index.folds.longest
      look(joinLines(raw, newline, around))
    })
    escapes.forEach((places, number) => {
      const projection = PROJECTIONS[number] as Projection
      for (let next = 0; next < places.length;) {
        const start = Math.max(0, (places[next] as number) - reach)
        let end = start
        while (next < places.length && (places[next] as number) <= end + reach)
          end = Math.min(raw.length, (places[next++] as number) + reach)
        project(projection, raw, start, end, index.alphabet, view)
        index.search(view.bytes, view.length, (from, to, { owner }) => {
          spans.push({
            start: startOf(view, from),
            end: endOf(projection, raw, view, to - 1),
            owner,
            length: to - from,
          })
        })
        if (end < raw.length) continue
        const held = index.holdFrom(view.bytes, view.length)
        if (held < view.length) hold = Math.min(hold, startOf(view, held))
        if (view.cut >= 0) hold = Math.min(hold, view.cut)
      }
    })
    return { spans: mergeSpans(spans), hold }
  }

  function stream(): MaskStream {
    let held: Uint8Array = NOTHING
    /**
     * How many of the held bytes were shown by `release`, and how many belong to a value whose label is already out.
     */
    let shown = 0
    let covered = 0

    function advance(raw: Uint8Array, isLast: boolean, out: Uint8Array[]): void {
      const { index, labels } = compile()
      const found = findSpans(index, raw)
      const patience = PATIENCE + 8 * index.longest
      const hold = isLast || raw.length - found.hold > patience ? raw.length : found.hold
      let at = 0
      let cover = covered
      const show = (end: number) => {
        const start = Math.max(at, shown, cover)
        if (end > start) out.push(raw.subarray(start, end))
        at = Math.max(at, end)
      }
      for (const span of found.spans) {
        if (span.start >= hold) break
        if (span.start < cover) {
          cover = Math.max(cover, span.end)
          continue
        }
        show(span.start)
        if (span.end > shown) out.push(labels[span.owner] as Uint8Array)
        cover = span.end
      }
      show(hold)
      held = hold === raw.length ? NOTHING : raw.slice(hold)
      shown = Math.max(0, shown - hold)
      covered = Math.max(0, cover - hold)
    }

    return {
      push(chunk) {
        if (size === 0) return held.length === 0 ? chunk : joinCompact([this.flush(), chunk])
        const out: Uint8Array[] = []
        for (let at = 0; at < chunk.length; at += BLOCK) {
          // A plain array, whatever kind the caller uses: the hot loops stay fast only as long as they see one kind.
          const block = new Uint8Array(chunk.buffer, chunk.byteOffset + at, Math.min(BLOCK, chunk.length - at))
          advance(held.length > 0 ? concat([held, block]) : block, false, out)
        }
        const [first] = out
        const isUntouched =
          out.length === 1 &&
          first?.buffer === chunk.buffer &&
          first.byteOffset === chunk.byteOffset &&
          first.length === chunk.length
        return isUntouched ? chunk : joinCompact(out)
      },
      flush() {
        const out: Uint8Array[] = []
        if (held.length > 0) advance(held, true, out)
        shown = covered = 0
        return joinCompact(out)
      },
      release() {
        if (held.length === 0 || held.length <= Math.max(shown, covered)) return NOTHING
        const { index } = compile()
        // A number may be where a dump begins, and is no part of a value by itself.
        const isNumber = held.every((byte) => hexDigit(byte) >= 0) && index.holdFrom(held, held.length) === held.length
        if (!isNumber && 2 * held.length >= index.shortest) return NOTHING
        const out = held.slice(Math.max(shown, covered))
        shown = held.length
        return out
      },
      get pending() {
        return held.length - Math.max(shown, covered)
      },
      take() {
        const raw = held.slice(Math.max(shown, covered))
        held = NOTHING
        shown = covered = 0
        return raw
      },
    }
  }

  function maskBytes(whole: Uint8Array): Uint8Array {
    if (size === 0) return whole
    const one = stream()
    return joinCompact([one.push(whole), one.flush()])
  }

  return {
    add(name, value) {
      const list = values.get(name) ?? []
      if (list.some((entry) => sameBytes(entry.value, value))) return
      values.set(name, [...list, { value: new Uint8Array(value), needles: formsOf(value) }])
      recount()
    },
    remove(name) {
      if (values.delete(name)) recount()
    },
    get size() {
      return size
    },
    needles: () =>
      [...values].flatMap(([name, entries]) =>
        entries.flatMap(({ value, needles }) => {
          // A keeper of output waits for the rest of what may be an end of a value only where that is a needle.
          const endings = values.size <= MOST_WITH_ENDINGS ? endingsOf(needles) : []
          const all = [...needles, ...endings].map(({ bytes }) => bytes)
          return [...all, ...spacedForms(value)].map((bytes) => ({ name, bytes }))
        }),
      ),
    stream,
    maskBytes,
    maskText(whole) {
      if (size === 0) return whole
      const bytes = new TextEncoder().encode(whole)
      const masked = maskBytes(bytes)
      return sameBytes(masked, bytes) ? whole : new TextDecoder('utf-8', { ignoreBOM: true }).decode(masked)
    },
  }
}

function lineStart(raw: Uint8Array, at: number): number {
  return raw.subarray(0, at).lastIndexOf(0x0a) + 1
}

/** Overlapping spans become one, called after the longest of them. Spans that only touch stay two. */
function mergeSpans(spans: Span[]): Span[] {
  if (spans.length < 2) return spans
  spans.sort((a, b) => a.start - b.start || b.end - a.end)
  const merged: Span[] = []
  for (const span of spans) {
    const last = merged.at(-1)
    if (!last || span.start >= last.end) merged.push({ ...span })
    else {
      if (span.length > last.length) Object.assign(last, { owner: span.owner, length: span.length })
      last.end = Math.max(last.end, span.end)
    }
  }
  return merged
}

/** Neighbouring slices of one buffer are handed on without a copy. */
function joinCompact(parts: readonly Uint8Array[]): Uint8Array {
  const filled = parts.filter(({ length }) => length > 0)
  return filled.length === 0 ? NOTHING : filled.length === 1 ? (filled[0] as Uint8Array) : concat(filled)
}
