/**
 * A shell for each agent, on many places. Placement is the platform's business: a recipe (a pod template, a partition,
 * an image) makes one place per agent and waits for the platform; of a list of hosts the least filled one is taken.
 */
import type { Engine } from '../contract/engine.js'
import { badRequest, ShellError } from '../contract/errors.js'
import type { EngineOptions } from '../engine/services/options.js'
import { createReachEngine } from './reach.js'

export interface FleetPlace {
  readonly at: string
  /** Agents at once. Default: no limit; the platform says when it is full. */
  readonly capacity?: number
  /** Recipes only: so many places are made ahead of need. */
  readonly warm?: number
  /** What agents may ask for. */
  readonly labels?: Readonly<Record<string, string>>
  /** Further options of the engines there. */
  readonly engine?: Omit<EngineOptions, 'at'>
}

export interface FleetOptions {
  readonly places: readonly FleetPlace[]
  /** For labels of what is made. Default `default`. */
  readonly name?: string
  /** Options of every engine. */
  readonly engine?: Omit<EngineOptions, 'at'>
}

export interface FleetMember {
  readonly name: string
  readonly at: string
  readonly isGone: boolean
}

export interface Fleet {
  /** The same name gives the same engine while its place lives; after that an empty one, which says so. */
  engine(name: string, options?: { readonly labels?: Readonly<Record<string, string>> }): Promise<Engine>
  list(): readonly FleetMember[]
  /** Gives the place of an agent back. */
  release(name: string): Promise<void>
  close(): Promise<void>
}

/** As Kubernetes wants a label: it is one. */
const LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/
const LABEL_HINT = 'Use up to 63 letters, digits, . _ and -, and a letter or digit at both ends.'
/** Making a place is tried again; running a command never is. */
const MAKE_TRIES = 3

interface Member {
  readonly place: FleetPlace
  readonly engine: Promise<Engine>
  isGone: boolean
}

export function createFleet({ places, name: fleet = 'default', engine: common = {} }: FleetOptions): Fleet {
  if (places.length === 0) throw badRequest('A fleet needs at least one place', 'For example { at: "ssh://host" }.')
  if (!LABEL.test(fleet)) throw badRequest(`${JSON.stringify(fleet)} cannot be the name of a fleet`, LABEL_HINT)
  const members = new Map<string, Member>()
  const warm = new Map<FleetPlace, Promise<Engine>[]>(places.map((place) => [place, []]))
  /** What an agent that has lost its place reads with the next one, which may have to be asked for again. */
  const lost = new Map<string, string>()
  let isClosed = false

  const open = async (place: FleetPlace, agent: string | null, note?: string): Promise<Engine> => {
    const labels = { 'cerith/fleet': fleet, ...(agent === null ? {} : { 'cerith/agent': agent }) }
    const own = { ...common, ...place.engine }
    const reach = { ...common.reach, ...place.engine?.reach, labels, ...(note === undefined ? {} : { note }) }
    for (let tries = 1; ; tries++) {
      try {
        return await createReachEngine({ ...own, at: place.at, reach })
      } catch (error) {
        const mayPass = ShellError.is(error) && error.code === 'PLACE_UNREACHABLE'
        if (!mayPass || tries >= MAKE_TRIES || isClosed) throw error
      }
    }
  }

  const refill = (place: FleetPlace): void => {
    const ready = warm.get(place) as Promise<Engine>[]
    while (!isClosed && isRecipe(place.at) && ready.length < (place.warm ?? 0)) {
      const opening = open(place, null)
      ready.push(opening)
      // What could not be made ahead is made when it is needed, and its error told then.
      opening.catch(() => {
        // An agent may have taken it meanwhile: then no other one goes.
        if (ready.includes(opening)) void ready.splice(ready.indexOf(opening), 1)
      })
    }
  }

  const filled = (place: FleetPlace): number =>
    [...members.values()].filter((each) => each.place === place && !each.isGone).length
  const choose = (wanted: Readonly<Record<string, string>>): FleetPlace => {
    const fitting = places.filter(({ labels = {} }) =>
      Object.entries(wanted).every(([key, value]) => labels[key] === value),
    )
    if (fitting.length === 0)
      throw new ShellError(
        'PLACE_FULL',
        `No place of the fleet has the labels ${JSON.stringify(wanted)}`,
        'Add one, or ask for less.',
      )
    const free = fitting.filter((place) => filled(place) < (place.capacity ?? Infinity))
    const share = (place: FleetPlace): number => filled(place) / (place.capacity ?? Number.MAX_SAFE_INTEGER)
    const [best] = free.sort((a, b) => share(a) - share(b) || filled(a) - filled(b))
    if (best) return best
    const counts = fitting.map((place) => `${place.at} ${filled(place)} of ${place.capacity}`).join(', ')
    const hint = 'Release an agent, or try again later.'
    throw new ShellError('PLACE_FULL', `Every place that fits is full: ${counts}`, hint)
  }

  const join = (agent: string, labels: Readonly<Record<string, string>>): Member => {
    const note = lost.get(agent)
    const place = choose(labels)
    const ready = note === undefined ? warm.get(place)?.shift() : undefined
    const engine = ready?.catch(() => open(place, agent)) ?? open(place, agent, note)
    const member: Member = { place, engine, isGone: false }
    members.set(agent, member)
    engine.then(
      (made) => {
        lost.delete(agent)
        made.onLink(({ kind }) => (member.isGone ||= kind === 'gone'))
      },
      () => members.get(agent) === member && members.delete(agent),
    )
    refill(place)
    return member
  }

  places.forEach(refill)
  return {
    async engine(agent, { labels = {} } = {}) {
      if (isClosed) throw new ShellError('CLOSED', 'The fleet is closed', 'Create a new one.')
      if (!LABEL.test(agent)) throw badRequest(`${JSON.stringify(agent)} cannot be the name of an agent`, LABEL_HINT)
      const known = members.get(agent)
      if (known && !known.isGone) return known.engine
      if (known) {
        // What was there is lost; what is left of it is given back, and the agent is told once.
        members.delete(agent)
        void known.engine.then((gone) => gone.close()).catch(() => {})
        const where = `The place of ${agent} (${known.place.at})`
        lost.set(agent, `${where} was lost with its files, sessions and jobs. This is an empty one.`)
      }
      return join(agent, labels).engine
    },
    list: () => [...members].map(([agent, { place, isGone }]) => ({ name: agent, at: place.at, isGone })),
    async release(agent) {
      const member = members.get(agent)
      members.delete(agent)
      lost.delete(agent)
      await (await member?.engine.catch(() => null))?.close()
    },
    async close() {
      isClosed = true
      const all = [...[...members.values()].map(({ engine }) => engine), ...[...warm.values()].flat()]
      members.clear()
      await Promise.all(all.map(async (engine) => (await engine.catch(() => null))?.close()))
    },
  }
}

/** Whether the address describes something that is made, one per agent. */
function isRecipe(at: string): boolean {
  const last = at.split('!').at(-1) ?? ''
  return /[?&](?:image|template)=/.test(last) || (last.startsWith('slurm://') && !/[?&]job=/.test(last))
}
