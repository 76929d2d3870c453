/** The rooms of a launcher: orders to build them, and what the helper answers. */
import { constants, openSync } from 'node:fs'
import { ShellError } from '../../contract/errors.js'
import type { HelperEvent, Send } from './frames.js'
import type { Launcher, Pipe, Room } from './launcher.js'
import { roomError } from './room-error.js'
import { describeRoom } from './start.js'
import { errnoName } from './ward.js'
import { removeQuietly } from '../files/quietly.js'
import { PathPipe, takeFrom, type Waiter } from './pipe.js'

interface LiveRoom extends Room {
  alive: boolean
}

export interface RoomOrders extends Pick<Launcher, 'room' | 'closeRoom' | 'publish' | 'namedPipe'> {
  /** Whether the event was about rooms. */
  hear(event: HelperEvent): boolean
  /** Whether the room is one of this launcher, and there. */
  holds(room: Room): boolean
  /** True while an answer is awaited. */
  readonly waiting: boolean
  /** The launcher is gone, and every room with it. */
  lose(error: Error): void
}

export function createRoomOrders(launcher: () => number, send: Send, changed: () => void): RoomOrders {
  const rooms = new Map<number, LiveRoom>()
  const building = new Map<number, Waiter<Room>>()
  const publishing = new Map<string, Waiter<void>>()
  const naming = new Map<string, Waiter<Pipe>>()
  let nextRoom = 1

  const end = (id: number): void => {
    const room = takeFrom(rooms, id)
    if (room) room.alive = false
  }
  const holds = (room: Room): boolean => rooms.get(room.id) === room

  /** Sends an order, and waits for its answer under the key. */
  const asked = <K, T>(waiters: Map<K, Waiter<T>>, key: K, ...order: Parameters<Send>): Promise<T> =>
    new Promise((resolve, reject) => {
      waiters.set(key, { resolve, reject })
      changed()
      send(...order)
    })

  return {
    get waiting() {
      return building.size + publishing.size + naming.size > 0
    },
    hear({ kind, fields }) {
      const id = Number(fields['room'])
      const errno = Number(fields['errno'] ?? 0)
      switch (kind) {
        case 'R': {
          const lacks = Number(fields['lacks'])
          const room: LiveRoom = {
            id,
            holderPid: Number(fields['holder']),
            lacks: { view: (lacks & 1) !== 0, wall: (lacks & 2) !== 0 },
            alive: true,
          }
          rooms.set(id, room)
          takeFrom(building, id)?.resolve(room)
          return true
        }
        case 'F':
          takeFrom(building, id)?.reject(roomError(errnoName(errno), fields['what'] ?? 'room'))
          return true
        case 'd':
          end(id)
          return true
        case 'P': {
          const port = Number(fields['port'])
          const waiter = takeFrom(publishing, `${id}:${port}`)
          if (errno === 0) waiter?.resolve()
          else waiter?.reject(portError(port, errnoName(errno)))
          return true
        }
        case 'n': {
          const path = fields['path'] ?? ''
          const waiter = takeFrom(naming, path)
          const slot = Number(fields['slot'])
          const release = (): void => {
            send('r', [['slot', slot]])
            removeQuietly(path)
          }
          if (!Number.isNaN(slot)) waiter?.resolve(new PathPipe(slot, launcher(), path, path, release, openPipe))
          else
            waiter?.reject(
              new ShellError('SPAWN_FAILED', `Could not make a pipe at ${path} (${errnoName(errno)})`, 'Try again.'),
            )
          return true
        }
        default:
          return false
      }
    },
    room(order) {
      const id = nextRoom++
      return asked(building, id, 'R', describeRoom(id, order))
    },
    holds,
    closeRoom(room) {
      if (!holds(room)) return
      end(room.id)
      send('C', [['room', room.id]])
    },
    publish(room, port) {
      const { id } = room
      if (!holds(room)) return Promise.reject(portError(port, 'ENOENT'))
      return asked(publishing, `${id}:${port}`, 'P', Object.entries({ room: id, port }))
    },
    namedPipe: (path) => asked(naming, path, 'n', [['path', path]]),
    lose(error) {
      for (const room of rooms.values()) room.alive = false
      rooms.clear()
      for (const waiters of [building, publishing, naming]) {
        for (const waiter of waiters.values()) waiter.reject(error)
        waiters.clear()
      }
    },
  }
}

/** Commands of the session can write in its folder: what has become a link is not followed. */
function openPipe(path: string, flags: number): number {
  return openSync(path, flags | constants.O_NOFOLLOW)
}

function portError(port: number, errno: string): ShellError {
  return new ShellError(
    'SANDBOX_UNAVAILABLE',
    `Port ${port} of the sandbox could not be published (${errno})`,
    errno === 'EADDRINUSE' ? 'Another program listens on it; choose another port in sandbox.ports.' : 'Try again.',
  )
}
