/** A map that is copied in no time: copies share what they had in common and write into a layer of their own. */

class Layer<V> {
  readonly entries = new Map<string, V | undefined>()
  readonly depth: number

  constructor(readonly below: Layer<V> | null) {
    this.depth = below ? below.depth + 1 : 0
  }
}

/** A lookup walks down at most this many layers; a deeper stack is written into one. */
const MAX_DEPTH = 12

export class Layers<V> {
  private top: Layer<V>

  constructor(below: { readonly layer: Layer<V> | null } = { layer: null }) {
    this.top = new Layer(below.layer)
  }

  get(name: string): V | undefined {
    for (let layer: Layer<V> | null = this.top; layer; layer = layer.below) {
      const found = layer.entries.get(name)
      if (found !== undefined) return found
      if (layer.entries.has(name)) return undefined
    }
    return undefined
  }

  has(name: string): boolean {
    return this.get(name) !== undefined
  }

  set(name: string, value: V): void {
    this.top.entries.set(name, value)
  }

  delete(name: string): void {
    this.top.entries.set(name, undefined)
  }

  clear(): void {
    this.top = new Layer(null)
  }

  /** A copy: what either of the two writes from now on, the other does not see. */
  fork(): Layers<V> {
    if (this.top.entries.size > 0) {
      const frozen = this.top.depth >= MAX_DEPTH ? flat(this) : this.top
      this.top = new Layer(frozen)
    }
    return new Layers({ layer: this.top.below })
  }

  /** The names that this map or the other one wrote since they were one. */
  namesApartFrom(other: Layers<V>): ReadonlySet<string> {
    const mine = new Set<Layer<V>>()
    for (let layer: Layer<V> | null = this.top; layer; layer = layer.below) mine.add(layer)
    const names = new Set<string>()
    let common: Layer<V> | null = other.top
    for (; common && !mine.has(common); common = common.below) for (const name of common.entries.keys()) names.add(name)
    for (let layer: Layer<V> | null = this.top; layer && layer !== common; layer = layer.below)
      for (const name of layer.entries.keys()) names.add(name)
    return names
  }

  *[Symbol.iterator](): IterableIterator<[string, V]> {
    const seen = new Set<string>()
    const layers: Layer<V>[] = []
    for (let layer: Layer<V> | null = this.top; layer; layer = layer.below) layers.push(layer)
    // The oldest first, as a plain map would list them.
    for (const layer of layers.reverse())
      for (const name of layer.entries.keys()) {
        if (seen.has(name)) continue
        seen.add(name)
        const value = this.get(name)
        if (value !== undefined) yield [name, value]
      }
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this) yield name
  }
}

function flat<V>(map: Layers<V>): Layer<V> {
  const layer = new Layer<V>(null)
  for (const [name, value] of map) layer.entries.set(name, value)
  return layer
}
