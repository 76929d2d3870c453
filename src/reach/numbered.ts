/**
 * What comes and goes with every call, by number. Not a Map: V8 leaves the tables that a Map outgrows chained behind
 * each other, and once one of them counts as lasting, so does everything that stood in a later one, until the whole
 * heap is collected. That was 1.3 kB per call, and collecting them takes longer than the calls.
 */
export class Numbered<T> {
  readonly #all: Record<number, T> = Object.create(null) as Record<number, T>
  #size = 0

  get size(): number {
    return this.#size
  }

  get(number: number): T | undefined {
    return this.#all[number]
  }

  has(number: number): boolean {
    return number in this.#all
  }

  set(number: number, value: T): void {
    if (!this.has(number)) this.#size += 1
    this.#all[number] = value
  }

  delete(number: number): void {
    if (!this.has(number)) return
    this.#size -= 1
    delete this.#all[number]
  }

  /** As they are now, in the order of their numbers. */
  values(): T[] {
    return Object.values(this.#all)
  }
}
