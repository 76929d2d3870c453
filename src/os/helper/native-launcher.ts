/**
 * The launcher on top of a helper process (native, or the plain one of the lower tier): pipes
 * made ahead, a watcher per command.
 */
import { openSync } from 'node:fs'
import type { Socket } from 'node:net'
import { ShellError } from '../../contract/errors.js'
import { isShortage, startChild } from '../process/child.js'
import { pause } from '../process/clock.js'
import { isAlive } from '../process/proc.js'
import { createFrameReader, encodeFrame, type HelperEvent, type Send } from './frames.js'
import { needsHelper } from './file.js'
import { createRoomOrders } from './rooms.js'
import { describeStart } from './start.js'
import { exitOf, overOf, usageOf } from './usage.js'
import {
  LOST_EXIT,
  lostAtStart,
  startError,
  type Launcher,
  type OneLauncher,
  type LaunchSpec,
  type Passed,
  type Pipe,
  type Ward,
} from './launcher.js'
import {
  type LiveWard,
  LOOK_AFTER_MS,
  createWard,
  errnoName,
  helperError,
  pipeError,
  killedError,
  moveError,
  silentError,
  unlessSilent,
  wake,
  destroy,
  closedError,
} from './ward.js'
import { PathPipe, PipeSupply, takeFrom, type Waiter } from './pipe.js'

const READY_PIPES = 6
const START_LIMIT_MS = 10_000
/** The lower tier is a second Node, which an emulator on a busy machine takes long to start. */
const HELLO_LIMIT_MS = { native: START_LIMIT_MS, plain: 60_000 }
const LET_GO_AFTER_MS = 20
/** How long an order that met a shortage waits before it is given once more. */
const SHORTAGE_MS = 20
/** One that does not leave by then is destroyed, and what it watched with it. */
const LEAVE_LIMIT_MS = 4_000

/** A program that cannot run here ends in another way: another process sent these. */
const OF_OTHERS: ReadonlySet<string> = new Set(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'])

interface Waiting extends Waiter<Ward> {
  readonly spec: LaunchSpec
}

export async function startHelper(
  helper: string,
  args: readonly string[],
  tier: Launcher['tier'],
): Promise<OneLauncher> {
  const child = startChild(helper, [...args, 'serve'], { stdio: ['pipe', 'pipe', 'ignore'], env: {}, cwd: '/' })
  const orders = child.stdin as unknown as Socket
  const pipes = new PipeSupply()
  const waiting = new Map<number, Waiting>()
  const wards = new Map<number, LiveWard>()
  let nextId = 1
  let closed = false
  let launcherPid = child.pid ?? -1

  const send: Send = (kind, fields) => {
    if (!closed && !orders.writableEnded) orders.write(encodeFrame(kind, fields))
  }

  // Only work in flight keeps the host's event loop alive; an idle engine, its sessions and its jobs do not.
  let isHeld = true
  let lettingGo: NodeJS.Timeout | null = null
  const isNeeded = (): boolean => waiting.size > 0 || pipes.waiting || rooms.waiting
  // Let go a moment later: the next of many short commands would take hold again at once.
  const letGo = (): void => {
    lettingGo = null
    if (isNeeded()) return
    isHeld = false
    ;(child.stdout as unknown as Socket).unref()
  }
  const updateHold = (): void => {
    if (!isNeeded()) {
      if (isHeld && !closed) lettingGo ??= setTimeout(letGo, LET_GO_AFTER_MS)
    } else if (!isHeld) {
      isHeld = true
      ;(child.stdout as unknown as Socket).ref()
    }
  }

  const rooms = createRoomOrders(() => launcherPid, send, updateHold)

  /**
   * A pipe whose launcher was killed, perhaps before this process is told: the next pipe comes from another launcher.
   */
  const openEnd = (path: string, flags: number): number => {
    try {
      return openSync(path, flags)
    } catch (error) {
      if (isAlive(launcherPid)) throw error
      closed = true
      pipes.takeAll()
      throw endedError()
    }
  }
  /** Why a launcher does nothing more: the engine has closed it, or something has killed it. */
  const endedError = (): ShellError => (orders.writableEnded ? closedError() : lostAtStart())

  /** When the launcher itself last answered an order; wardens speak for themselves. */
  let answeredAt = 0
  let announce: ((error?: Error) => void) | null = null
  const announced = new Promise<void>((resolve, reject) => {
    announce = (error) => (error ? reject(error) : resolve())
  })

  const handle = (event: HelperEvent): void => {
    const { fields } = event
    // There are as many pipes at hand as were ever needed at once: where descriptors run out, what starts goes before.
    if (isShortage({ code: errnoName(Number(fields['errno'])) }))
      for (const { slot } of pipes.takeAll()) send('r', [['slot', slot]])
    if (rooms.hear(event)) return updateHold()
    const id = Number(fields['id'])
    const ward = wards.get(id)
    if ('pqsf'.includes(event.kind)) answeredAt = performance.now()
    switch (event.kind) {
      case 'v':
        launcherPid = Number(fields['pid'])
        announce?.()
        break
      case 'p': {
        const path = fields['path']
        const slot = Number(fields['slot'])
        const pipe = new PathPipe(
          slot,
          launcherPid,
          path ?? `/proc/${launcherPid}/fd/${fields['read']}`,
          path ?? `/proc/${launcherPid}/fd/${fields['write']}`,
          () => {
            send('r', [['slot', slot]])
            send('p', [['count', 1]])
          },
          openEnd,
        )
        pipes.add(pipe)
        break
      }
      case 'q':
        // One for each pipe that was asked for and cannot be made.
        pipes.refuseOne(pipeError(errnoName(Number(fields['errno']))))
        break
      case 's': {
        const waiter = takeFrom(waiting, id)
        const started = createWard(id, fields, send, (pid) => [launcherPid, pid].map(wake).includes(true))
        wards.set(id, started)
        // The call was given up meanwhile: its command must not run.
        if (!waiter) started.kill({ signal: 9, graceMs: 0, why: 'close' })
        waiter?.resolve(started)
        break
      }
      case 'f': {
        const waiter = takeFrom(waiting, id)
        waiter?.reject(startError(errnoName(Number(fields['errno'])), fields['what'] ?? 'start', waiter.spec))
        break
      }
      case 'x': {
        // An end that this engine did not ask for: its watcher saw that the launcher is gone, perhaps before we do.
        const lost = fields['why'] === 'close' && ward?.endAsked === false
        if (lost) {
          closed = true
          pipes.takeAll()
        }
        ward?.settleExit({ ...exitOf(fields), lost })
        break
      }
      case 'u':
        ward?.settleUsage(usageOf(fields), overOf(fields))
        break
      case 't':
        ward?.settlePassed({ bytes: Number(fields['bytes']), why: fields['why'] as Passed['why'] })
        break
      case 'o':
        ward?.onOutput?.(Number(fields['out']), Number(fields['err']))
        break
      case 'e':
        ward?.settleRecorded()
        break
      case 'b':
        ward?.settleMoved(
          fields['errno'] === undefined ? null : moveError(errnoName(Number(fields['errno'])), fields['what'] ?? ''),
        )
        break
      case 'l':
        // The warden was destroyed: PDEATHSIG ended the leader, and its status is lost.
        lose(id, fields['begun'] !== '0')
        break
      case 'g':
        ward?.settleGone()
        wards.delete(id)
        break
    }
    updateHold()
  }

  const lose = (id: number, isBegun = true): void => {
    takeFrom(waiting, id)?.reject(lostAtStart(isBegun))
    const ward = takeFrom(wards, id)
    // A warden that was stopped does not see that its launcher is gone, and would keep its command for ever.
    if (ward) wake(ward.wardenPid)
    ward?.settleExit(LOST_EXIT)
    ward?.settleRecorded()
    ward?.settleGone()
  }

  child.stdout?.on('data', createFrameReader(handle))
  child.stdout?.on('error', () => {})
  orders.on('error', () => {})
  child.once('error', (error: NodeJS.ErrnoException) => announce?.(isShortage(error) ? helperError(error) : error))
  child.once('exit', (_, signal) => {
    closed = true
    if (lettingGo) clearTimeout(lettingGo)
    // Its pipes went with it.
    pipes.takeAll()
    announce?.(signal && OF_OTHERS.has(signal) ? killedError() : new Error('the helper ended at once'))
    pipes.refuseAll(endedError())
    rooms.lose(endedError())
    for (const id of [...waiting.keys(), ...wards.keys()]) lose(id)
    updateHold()
  })
  const look = setTimeout(() => wake(child.pid ?? -1), LOOK_AFTER_MS)
  const timer = setTimeout(() => announce?.(silentError(tier === 'plain')), HELLO_LIMIT_MS[tier])
  try {
    await announced
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  } finally {
    clearTimeout(look)
    clearTimeout(timer)
  }
  send('p', [['count', READY_PIPES]])
  child.unref()
  orders.unref()
  updateHold()

  /**
   * What the launcher answers to an order; an error when it stays silent. `order` gives the way to forget the waiter.
   */
  const answered = <T>(order: (waiter: Waiter<T>) => () => void): Promise<T> =>
    new Promise((resolve, reject) => {
      const forget = order({
        resolve: (value) => {
          heard()
          resolve(value)
        },
        reject: (error) => {
          heard()
          reject(error)
        },
      })
      const heard = unlessSilent(
        launcherPid,
        () => answeredAt,
        START_LIMIT_MS,
        (error) => {
          forget()
          reject(error)
          updateHold()
        },
      )
      updateHold()
    })

  /** The lower tier knows no rooms: it would never answer. */
  const inRooms = async <T>(order: () => Promise<T>): Promise<T> => {
    if (closed) throw endedError()
    if (tier === 'plain') throw needsHelper('SANDBOX_UNAVAILABLE', 'A sandbox')
    // A room may take its time, but no launcher that was stopped builds one.
    const look = setTimeout(() => wake(launcherPid), LOOK_AFTER_MS).unref()
    return order().finally(() => clearTimeout(look))
  }

  const pipe = async (mayRepeat = true): Promise<Pipe> => {
    const at = pipes.take()
    if (at) return at
    if (closed || orders.writableEnded) throw endedError()
    send('p', [['count', 1]])
    try {
      return await answered<Pipe>((waiter) => {
        pipes.wait(waiter)
        return () => pipes.giveUp(waiter)
      })
    } catch (error) {
      // The refusal may answer an older order: what was given back behind that one is free in a moment.
      if (!mayRepeat || !isShortage({ code: (error as Error).cause })) throw error
      await pause(SHORTAGE_MS)
      return pipe(false)
    }
  }

  /** Pipes and rooms are numbers here: what belonged to a launcher that was killed is not looked for in this one. */
  const whyForeign = (spec: LaunchSpec): ShellError | null => {
    const { stdin, stdout, stderr, extraIn, inside, listenerOf } = spec
    for (const room of [inside?.room, listenerOf])
      if (room && !rooms.holds(room)) return startError('ESRCH', 'sandbox: room is gone', spec)
    const given = [stdin, stdout, stderr, extraIn?.pipe]
    if (given.every((pipe) => !pipe || pipe.launcher === launcherPid)) return null
    for (const pipe of given) pipe?.release()
    return lostAtStart(false)
  }

  return {
    tier,
    get pid() {
      return launcherPid
    },
    get alive() {
      return !closed
    },
    get lost() {
      // The kernel knows of its death before we are told.
      return !orders.writableEnded && (closed || !isAlive(launcherPid))
    },
    pipe: () => pipe(),
    pipeNow: () => pipes.take(),
    start(spec) {
      if (closed || orders.writableEnded) return Promise.reject(endedError())
      const foreign = whyForeign(spec)
      if (foreign) return Promise.reject(foreign)
      const id = nextId++
      return answered((waiter) => {
        waiting.set(id, { spec, ...waiter })
        send('S', describeStart(id, spec))
        return () => waiting.delete(id)
      })
    },
    namedPipe: (path) => inRooms(() => rooms.namedPipe(path)),
    room: (order) => inRooms(() => rooms.room(order)),
    closeRoom: (room) => rooms.closeRoom(room),
    publish: (room, port) => inRooms(() => rooms.publish(room, port)),
    close() {
      if (closed) return Promise.resolve()
      ;(child.stdout as unknown as Socket).ref()
      child.ref()
      // On the lower tier the helper stays with jobs that outlive the engine: its last word is then the end.
      const gone = new Promise<void>((resolve) => {
        child.once('exit', () => resolve())
        if (tier === 'plain') child.stdout.once('end', () => resolve())
      })
      orders.end()
      pipes.takeAll()
      const wardens = [...wards.values()].map(({ wardenPid }) => wardenPid)
      for (const pid of [launcherPid, ...wardens]) wake(pid)
      // Stopped again, or kept by a debugger: nothing of it may hold the host, or stay.
      const limit = setTimeout(() => {
        for (const pid of new Set(wardens)) if (pid !== launcherPid) destroy(pid)
        destroy(launcherPid)
      }, LEAVE_LIMIT_MS)
      return gone.finally(() => {
        clearTimeout(limit)
        child.unref()
      })
    },
  }
}
