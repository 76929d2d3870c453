// The helper without native code: the same words as the C one, spoken by a small Node process of its own. It is the
// lower tier: without a child subreaper, what leaves its command is found by group, session, parent chain and two
// marks that it inherits: a variable, and an open file of its own, which a cleared environment does not touch.
// Self-contained on purpose: it is copied beside the native helper and started with the host's own node.
import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { Socket } from 'node:net'
import { constants as os, tmpdir } from 'node:os'
import { join } from 'node:path'

const DRAIN_MS = 100
/** Where there is no /proc (macOS) every look is a `ps`. */
const hasProc = exists('/proc/self')
const LIMITS_EVERY_MS = hasProc ? 100 : 500
const LOOK_EVERY_MS = hasProc ? 50 : 1_000
const KILL_EVERY_MS = hasProc ? 10 : 50
/** The number of the open file that marks what a command started: higher than what scripts use. */
const MARK_FD = 97
const ORPHANED_GRACE_MS = 1_000
const GIVE_UP_MS = 5_000
const PIPES_AT_ONCE = 8

if (process.argv[2] !== 'serve') {
  console.log('cerith-helper 1 (plain)')
  process.exit(process.argv[2] === 'version' ? 0 : 2)
}

// What the host's own parent left open is no command's: a job that holds such a pipe would keep its reader waiting.
const CLOEXEC = 0o2000000
for (const name of hasProc ? readdirSync('/proc/self/fd') : []) {
  if (Number(name) <= 2) continue
  try {
    const [, flags = ''] = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${name}`, 'utf8')) ?? []
    if ((Number.parseInt(flags, 8) & CLOEXEC) === 0) closeSync(Number(name))
  } catch {
    // The one by which the list was read.
  }
}

const home = mkdtempSync(join(tmpdir(), 'cerith-pipes-'))
const slots = new Map()
const wards = new Map()
let nextSlot = 0
let orphaned = false

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
process.on('exit', () => rmSync(home, { recursive: true, force: true }))

// ---- words ----

function say(kind, fields) {
  const text = Buffer.from(
    Object.entries(fields)
      .map(([key, value]) => `${key}=${value}`)
      .join('\n'),
  )
  const frame = Buffer.alloc(5 + text.length)
  frame.writeUInt32LE(text.length + 1, 0)
  frame[4] = kind.charCodeAt(0)
  text.copy(frame, 5)
  if (!orphaned) process.stdout.write(frame)
}

let rest = Buffer.alloc(0)
process.stdout.on('error', () => {})
process.stdin.on('data', (chunk) => {
  rest = Buffer.concat([rest, chunk])
  while (rest.length >= 5) {
    const length = rest.readUInt32LE(0)
    if (rest.length < 4 + length) return
    const kind = String.fromCharCode(rest[4])
    const fields = rest
      .subarray(5, 4 + length)
      .toString('utf8')
      .split('\0')
      .slice(0, -1)
      .map((field) => [field.slice(0, field.indexOf('=')), field.slice(field.indexOf('=') + 1)])
    rest = rest.subarray(4 + length)
    obey(kind, fields)
  }
})
process.stdin.on('end', leave)
process.stdin.on('error', leave)

function leave() {
  if (orphaned) return
  orphaned = true
  // The engine is gone, however it went. What was not asked to outlive it ends now; this process stays for the rest.
  for (const ward of wards.values()) if (!ward.detached) ward.kill(15, ORPHANED_GRACE_MS, 'close')
  for (const slot of slots.values()) closeQuietly(slot.fd)
  let isLetGo = false
  const timer = setInterval(() => {
    // At the end of our words the engine need not wait any longer; what is left was asked to outlive it.
    if (!isLetGo && [...wards.values()].every(({ detached }) => detached)) {
      isLetGo = true
      closeSync(process.stdout.fd)
      openSync('/dev/null', 'w')
    }
    if (wards.size > 0) return
    clearInterval(timer)
    process.exit(0)
  }, 20)
}

function obey(kind, fields) {
  const get = (key, fallback) => fields.find(([name]) => name === key)?.[1] ?? fallback
  if (kind === 'p') return makeSlots(Number(get('count', 1)))
  if (kind === 'r') return freeSlot(Number(get('slot', -1)))
  if (kind === 'S') return start(fields)
  const ward = wards.get(Number(get('id', -1)))
  if (!ward) return
  if (kind === 'K') ward.kill(Number(get('sig', 15)), Number(get('grace', 2000)), get('why', 'caller'))
  if (kind === 'B') moveToBackground(ward, get)
  if (kind === 'M') for (const [name, value] of fields) if (name === 'mask') ward.masks.push(needle(value))
  if (kind === 'U') ward.closeOutput(get('err', '0') === '0' ? 'out' : 'err')
  if (kind === 'L') ward.watchCall(get)
  if (kind === 'T' && get('path', '') !== '') say('t', { id: get('id', -1), bytes: 0, why: 'refused' })
  if (kind === 'D') ward.detached = get('detached', '0') !== '0'
}

function moveToBackground(ward, get) {
  try {
    ward.moveToBackground(get)
  } catch (failure) {
    ward.job = null
    say('b', { id: ward.id, errno: Math.abs(failure.errno ?? os.errno.EIO), what: failure.syscall ?? 'record' })
  }
}

// ---- pipes: FIFOs, held open on both ends until they are given away ----

function makeFifos(paths) {
  const made = spawnSync('mkfifo', paths)
  if (made.error) throw made.error
  if (made.status !== 0) throw new Error(String(made.stderr))
  for (const path of paths) chmodSync(path, 0o600)
}

const spare = []
function makeSlots(count) {
  try {
    makeMoreSlots(count)
  } catch (failure) {
    // One answer for each pipe that was asked for: a run waits for it. Some may have been made before it failed.
    const errno = Math.abs(failure.errno ?? os.errno.EIO)
    for (let left = count - made; left > 0; left--) say('q', { errno })
  }
}

let made = 0
function makeMoreSlots(count) {
  made = 0
  while (spare.length < count) {
    const paths = Array.from({ length: Math.max(PIPES_AT_ONCE, count) }, () => join(home, `f${nextSlot++}`))
    makeFifos(paths)
    spare.push(...paths)
  }
  for (const path of spare.splice(0, count)) {
    const slot = nextSlot++
    slots.set(slot, { path, fd: openSync(path, constants.O_RDWR | constants.O_NONBLOCK) })
    say('p', { slot, path })
    made++
  }
}

function freeSlot(number) {
  const slot = slots.get(number)
  if (!slot) return
  slots.delete(number)
  closeQuietly(slot.fd)
  unlinkQuietly(slot.path)
}

function takeEnd(number, flags) {
  const slot = slots.get(number)
  return slot ? openSync(slot.path, flags) : null
}

// ---- commands ----

function start(fields) {
  const all = (key) => fields.filter(([name]) => name === key).map(([, value]) => value)
  const get = (key, fallback) => all(key)[0] ?? fallback
  const id = Number(get('id'))
  if (get('pty')) return say('f', { id, errno: os.errno.ENOSYS, what: 'pty' })
  const opened = []
  const end = (number, flags) => {
    const fd = takeEnd(number, flags)
    if (fd !== null) opened.push(fd)
    return fd
  }
  const used = []
  const slotOf = (key) => {
    const value = get(key)
    if (value === undefined) return null
    used.push(Number(value))
    return Number(value)
  }
  try {
    const keep = get('dir')
      ? { dir: get('dir'), head: Number(get('head')), tail: Number(get('tail')), fifo: get('fifo') === '1' }
      : null
    const merge = get('merge') === '1'
    const inSlot = slotOf('in')
    const outSlot = slotOf('out')
    const errSlot = slotOf('err')
    let input = inSlot === null ? 'ignore' : end(inSlot, constants.O_RDONLY)
    let output = outSlot === null ? 'ignore' : end(outSlot, constants.O_WRONLY)
    let error = errSlot === null ? 'ignore' : end(errSlot, constants.O_WRONLY)
    const reads = {
      out: outSlot === null ? null : takeEnd(outSlot, constants.O_RDONLY | constants.O_NONBLOCK),
      err: errSlot === null ? null : takeEnd(errSlot, constants.O_RDONLY | constants.O_NONBLOCK),
    }
    const job = keep ? openJob(keep, merge) : null
    if (job) {
      output = job.writeEnds[0]
      error = job.writeEnds[1] ?? 'ignore'
      if (job.stdin) input = job.stdin
      opened.push(...job.writeEnds, ...(job.stdin ? [job.stdin] : []))
    }
    if (merge) error = output
    const stdio = [input, output, error]
    const [fd, slot] = (get('xin') ?? '').split(':').map(Number)
    if (slot !== undefined) {
      used.push(slot)
      while (stdio.length < fd) stdio.push('ignore')
      stdio[fd] = end(slot, constants.O_RDONLY)
    }
    const mark = join(home, `ward-${id}`)
    opened.push(openSync(mark, constants.O_RDONLY | constants.O_CREAT, 0o600))
    unlinkSync(mark)
    while (stdio.length < MARK_FD) stdio.push('ignore')
    stdio[MARK_FD] = opened.at(-1)
    const env = Object.fromEntries(
      all('env').map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]),
    )
    const [argv0, ...args] = all('arg')
    const child = spawn(get('path'), args, {
      argv0,
      cwd: get('cwd'),
      env: { ...env, CERITH_WARD: mark },
      detached: true,
      stdio,
    })
    child.once('error', (failure) => {
      const what = exists(get('cwd')) ? 'exec' : 'cwd'
      say('f', { id, errno: Math.abs(failure.errno ?? os.errno.EIO), what })
    })
    if (child.pid !== undefined) {
      const ward = new Ward({
        id,
        child,
        mark,
        job,
        reads,
        merge,
        detached: get('detached') === '1',
        deadline: Number(get('deadline', 0)),
        grace: Number(get('grace', 2_000)),
        limits: limitsOf(get),
        masks: all('mask').map(needle),
      })
      wards.set(id, ward)
      ward.begin()
    }
  } catch (failure) {
    // A number above the limit of descriptors (`MARK_FD`) is no valid one to libuv.
    const errno = failure.code === 'EINVAL' ? os.errno.EMFILE : Math.abs(failure.errno ?? os.errno.EIO)
    say('f', { id, errno, what: failure.syscall ?? 'start' })
  } finally {
    for (const fd of opened) closeQuietly(fd)
    for (const number of used) freeSlot(number)
    makeSlots(used.length)
  }
}

class Ward {
  constructor(parts) {
    Object.assign(this, parts)
    this.pid = parts.child.pid
    this.exit = null
    this.why = ''
    this.forced = false
    this.start = startTime(this.pid)
    this.known = new Set()
    this.killing = null
    this.by = ''
    this.over = { limit: '', used: 0 }
    this.endsByLimit = true
  }

  begin() {
    if (this.deadline > 0)
      this.timer = setTimeout(() => !this.exit && this.kill(15, this.grace, 'timeout'), this.deadline)
    if (this.limits) this.watch(this.limits)
    this.recordStart()
    say('s', {
      id: this.id,
      pid: this.pid,
      warden: process.pid,
      warden_start: startTime(process.pid),
      leader_start: this.start,
      mark: this.mark,
    })
    this.job?.follow(this)
    this.child.once('exit', (code, signal) => {
      this.exit = { code, number: signal ? os.signals[signal] : 0 }
      clearTimeout(this.timer)
      clearInterval(this.watching)
      say('x', {
        id: this.id,
        status: signal ? this.exit.number : code << 8,
        why: this.why,
        forced: this.forced ? 1 : 0,
        ...this.over,
      })
      void this.job?.ended(this)
      this.look()
    })
  }

  // ---- limits: without wait4 nothing is known about the use of what has ended, so it is not told ----

  watchCall(get) {
    clearInterval(this.watching)
    if (get('end')) return say('u', { id: this.id })
    this.endsByLimit = false
    const limits = limitsOf(get)
    if (limits) this.watch(limits)
  }

  watch(limits) {
    const base = usageOf(this.members()).cpu
    this.watching = setInterval(() => {
      const used = usageOf(this.members())
      used.cpu -= base
      const limit = Object.keys(limits).find((name) => used[name] > limits[name])
      if (limit) this.exceeds({ limit, used: Math.round(used[limit]) })
    }, LIMITS_EVERY_MS)
  }

  exceeds(over) {
    clearInterval(this.watching)
    if (!this.endsByLimit) return say('u', { id: this.id, ...over })
    this.over = over
    this.kill(over.limit === 'cpu' ? 15 : 9, this.grace, 'limit')
  }

  recordStart() {
    this.job?.write(
      'started',
      `pid=${this.pid}\npgid=${this.pid}\nwarden=${process.pid}\nwarden_start=${startTime(process.pid)}\nleader_start=${this.start}\nat=${Date.now()}\nclock=${sinceBoot()}\n`,
    )
  }

  /** Everything that can be found: the group, the session, the tree below them, and what carries a mark. */
  members() {
    const all = processes()
    const isKnown = (one) => this.known.has(identity(one))
    const left = new Set(all.filter(({ pid, state }) => state !== 'Z' && state !== 'X' && pid !== process.pid))
    const found = new Set()
    const take = (one) => left.delete(one) && found.add(one.pid) && this.known.add(identity(one))
    const known = new Set(all.filter(isKnown).map(({ pid }) => pid))
    for (const one of left)
      if (
        one.group === this.pid ||
        one.session === this.pid ||
        (one.pid === this.pid && !this.exit) ||
        known.has(one.pid) ||
        known.has(one.parent) ||
        (Number(one.start) >= Number(this.start) && isMarked(one.pid, this.mark))
      )
        take(one)
    for (let grew = true; grew;) {
      grew = false
      for (const one of left) if (found.has(one.parent)) grew = Boolean(take(one))
    }
    const members = all.filter(({ pid }) => found.has(pid))
    return all.length === 0 && groupAlive(this.pid) ? [{ pid: -this.pid }] : members
  }

  kill(signal, grace, why) {
    if (!this.exit && !this.why) this.why = why
    const polite = signal !== 9 && grace > 0
    if (!polite) this.forced = true
    if (polite && signal === 15 && isShellOfSession(this.pid)) signalQuietly(this.pid, 'SIGHUP')
    for (const { pid } of this.members()) {
      signalQuietly(pid, polite ? signal : 9)
      if (polite) signalQuietly(pid, 'SIGCONT')
    }
    const until = performance.now() + (polite ? grace : 0)
    this.killing = { until: Math.min(until, this.killing?.until ?? until), giveUp: until + GIVE_UP_MS }
    this.look()
  }

  look() {
    clearTimeout(this.looking)
    const alive = this.members()
    if (this.exit && alive.length === 0) return this.finish()
    if (this.killing && performance.now() >= this.killing.until && alive.length > 0) {
      if (!this.exit) this.forced = true
      for (const { pid } of alive) signalQuietly(pid, 9)
      if (performance.now() > this.killing.giveUp) {
        say('k', { id: this.id, left: alive.length })
        this.killing.giveUp = performance.now() + 60_000
      }
    }
    this.looking = setTimeout(() => this.look(), this.killing ? KILL_EVERY_MS : LOOK_EVERY_MS)
  }

  finish() {
    if (this.job && !this.job.recorded) {
      this.looking = setTimeout(() => this.look(), 10)
      return
    }
    this.job?.close()
    for (const fd of [this.reads.out, this.reads.err]) if (fd !== null) closeQuietly(fd)
    wards.delete(this.id)
    say('g', { id: this.id })
  }

  /** With the last reading end the command's next write to it fails. */
  closeOutput(which) {
    if (this.reads[which] !== null) closeQuietly(this.reads[which])
    this.reads[which] = null
  }

  moveToBackground(get) {
    if (this.job) return
    // A session's shell was given its pipes after the start: the engine names its own ends.
    for (const key of ['out', 'err'])
      if (this.reads[key] === null && get(`${key}_path`))
        this.reads[key] = openSync(get(`${key}_path`), constants.O_RDONLY | constants.O_NONBLOCK)
    this.job = openJob(
      {
        dir: get('dir'),
        head: Number(get('head')),
        tail: Number(get('tail')),
        outAt: Number(get('out_at', 0)),
        errAt: Number(get('err_at', 0)),
        fifo: false,
      },
      this.reads.err === null,
      [this.reads.out, this.reads.err],
    )
    for (const [key, index] of [
      ['out_held', 0],
      ['err_held', 1],
    ])
      if (get(key)) this.job.take(index, Buffer.from(get(key), 'hex'))
    this.reads = { out: null, err: null }
    this.detached = get('detached', '0') !== '0'
    this.endsByLimit = true
    this.recordStart()
    this.job.follow(this)
    if (this.exit) void this.job.ended(this)
    say('b', { id: this.id })
  }
}

// ---- jobs: the same files as the native keeper writes ----

function openJob({ dir, head, tail, outAt = 0, errAt = 0, fifo }, merged, readEnds = null) {
  const stores = [
    new Store(dir, 'output.log', head || 32 << 20, tail || 32 << 20, outAt),
    ...(merged ? [] : [new Store(dir, 'stderr.log', head || 32 << 20, tail || 32 << 20, errAt)]),
  ]
  const control = join(dir, 'control')
  const stdinPath = join(dir, 'stdin')
  const pipes = readEnds ? [] : stores.map((_, index) => join(dir, `.pipe${index}`))
  makeFifos([control, ...(fifo ? [stdinPath] : []), ...pipes])
  let stdinHold = fifo ? openSync(stdinPath, constants.O_RDWR | constants.O_NONBLOCK) : null
  const reads = readEnds ?? pipes.map((path) => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK))
  const writeEnds = pipes.map((path) => openSync(path, constants.O_WRONLY))
  for (const path of pipes) unlinkSync(path)
  const job = {
    recorded: false,
    writeEnds,
    stdin: fifo ? openSync(stdinPath, constants.O_RDONLY) : null,
    write(name, text) {
      const temporary = join(dir, `.${name}.tmp`)
      const fd = openSync(temporary, 'w', 0o600)
      writeSync(fd, text)
      closeSync(fd)
      renameSync(temporary, join(dir, name))
    },
    take(index, bytes) {
      stores[index]?.push(bytes, this.masks ?? [])
    },
    follow(ward) {
      this.masks = ward.masks
      this.sockets = stores.map((store, index) => {
        const socket = new Socket({ fd: reads[index], readable: true, writable: false })
        socket.on('data', (chunk) => {
          if (this.recorded)
            this.late = (this.late ?? new Store(dir, 'late.log', 1 << 20, 1 << 20, 0)).push(chunk, ward.masks)
          else store.push(chunk, ward.masks)
          this.tell(ward)
        })
        socket.on('error', () => {})
        return { socket, closed: new Promise((resolve) => socket.once('close', resolve)) }
      })
      const orders = new Socket({
        fd: openSync(control, constants.O_RDWR | constants.O_NONBLOCK),
        readable: true,
        writable: false,
      })
      orders.on('error', () => {})
      orders.on('data', (chunk) => {
        for (const line of chunk.toString().split('\n')) {
          const [word, a, b, why] = line.split(' ')
          if (word === 'kill') {
            if (!ward.exit && !ward.why) ward.by = line.split(' ').slice(4).join(' ')
            ward.kill(Number(a), Number(b), why || 'caller')
          }
          if (word === 'signal' && !ward.exit) signalQuietly(-ward.pid, Number(a))
          if (word === 'mask') ward.masks.push(needle(line.slice(5)))
          if (word === 'look' && /^\d+$/.test(a)) this.write(`look.${a}`, 'unsent=0\n')
          if (word === 'eof' && stdinHold !== null) {
            closeQuietly(stdinHold)
            stdinHold = null
          }
        }
      })
      this.orders = orders
    },
    tell(ward) {
      if (this.telling) return
      this.telling = setTimeout(() => {
        this.telling = null
        say('o', { id: ward.id, out: stores[0].total, err: stores[1]?.total ?? 0 })
      }, 20)
    },
    async ended(ward) {
      await Promise.race([
        Promise.all(this.sockets.map(({ closed }) => closed)),
        new Promise((resolve) => setTimeout(resolve, DRAIN_MS)),
      ])
      for (const store of stores) store.flush(ward.masks)
      const { code, number } = ward.exit
      const [out, err] = stores
      const status = {
        code: number ? -1 : code,
        signal: number,
        why: ward.why,
        forced: ward.forced ? 1 : 0,
        ended: Date.now(),
        clock: sinceBoot(),
        out_total: out.total,
        out_omitted: out.omitted,
        err_total: err?.total ?? 0,
        err_omitted: err?.omitted ?? 0,
        incomplete: stores.some((store) => store.failed) ? 1 : 0,
        by: ward.by,
        ...ward.over,
        out_map: out.map,
        err_map: err?.map ?? '',
        whole: 1,
      }
      // The record comes first: a reader that finds none knows that the file holds nothing but output.
      try {
        this.write(
          'status',
          Object.entries(status)
            .map(([key, value]) => `${key}=${value}\n`)
            .join(''),
        )
      } catch {
        // A full disk: the job is then lost to later readers, and the engine still hears how it ended.
      }
      this.recorded = true
      out.finish(
        number
          ? `[background process ${ward.why === 'timeout' ? 'timed out' : 'killed'}: signal ${number}]\n`
          : code
            ? `[background process failed: exit code ${code}]\n`
            : '[background process completed: exit code 0]\n',
      )
      err?.finish(null)
      say('e', { id: ward.id })
    },
    close() {
      for (const { socket } of this.sockets ?? []) socket.destroy()
      this.orders?.destroy()
      if (stdinHold !== null) closeQuietly(stdinHold)
      this.late?.flush([])
      unlinkQuietly(control)
      unlinkQuietly(stdinPath)
    },
  }
  return job
}

/** A head file, then tail segments whose names carry their byte offset; the oldest are removed. */
/** So much of a disk is left to everything else: output gives way before the next command can no longer start. */
const RESERVE_BYTES = 16 * 1024 * 1024
const LOOK_EVERY_BYTES = 1024 * 1024
const RETRY_MS = 1_000

class Store {
  constructor(dir, name, headMax, tailMax, startAt) {
    Object.assign(this, {
      dir,
      name,
      headMax,
      tailMax,
      total: startAt,
      segments: [],
      headSize: Math.min(startAt, headMax),
      failed: false,
      held: Buffer.alloc(0),
      lastByte: 10,
      unlooked: 0,
      retryAt: 0,
    })
    this.segmentMax = Math.max(65_536, Math.floor(tailMax / 8))
    this.inHead = startAt < headMax
    this.fd = this.open(this.inHead ? name : `${name}.${startAt}`)
    if (!this.inHead) this.segments.push({ start: startAt, size: 0 })
  }

  open(name) {
    try {
      return openSync(
        join(this.dir, name),
        constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW,
        0o600,
      )
    } catch {
      this.failed = true
      return null
    }
  }

  push(chunk, masks) {
    if (masks.length === 0) this.store(chunk)
    else {
      const text = Buffer.concat([this.held, chunk])
      const keep = Math.min(text.length, Math.max(...masks.map(({ bytes }) => bytes.length)) - 1)
      const { done, out } = replace(text, masks, text.length - keep)
      this.held = text.subarray(done)
      this.store(out)
    }
    return this
  }

  flush(masks) {
    if (this.held.length > 0) this.store(replace(this.held, masks, this.held.length).out)
    this.held = Buffer.alloc(0)
  }

  /** How much may be written before the disk is looked at again; a small disk keeps a quarter. */
  room() {
    if (this.unlooked > 0) return this.unlooked
    try {
      const { bavail, blocks, bsize } = statfsSync(this.dir)
      const free = bavail * bsize - Math.min(RESERVE_BYTES, (blocks * bsize) / 4)
      this.unlooked = Math.max(0, Math.min(free, LOOK_EVERY_BYTES))
    } catch {
      this.unlooked = LOOK_EVERY_BYTES
    }
    return this.unlooked
  }

  /** A full disk loses bytes, never the job; the gap shows in the names of what comes after. */
  lose(count) {
    this.failed = true
    this.total += count
    if (this.fd !== null) closeQuietly(this.fd)
    this.fd = null
    this.inHead = false
    this.unlooked = 0
    this.retryAt = performance.now() + RETRY_MS
    // An empty segment holds nothing but a place in the list, and a full disk would fill that too.
    if (this.segments.at(-1)?.size === 0) unlinkQuietly(join(this.dir, `${this.name}.${this.segments.pop().start}`))
  }

  store(bytes) {
    if (bytes.length > 0) this.lastByte = bytes[bytes.length - 1]
    while (bytes.length > 0) {
      if ((this.fd === null && performance.now() < this.retryAt) || this.room() <= 0) return this.lose(bytes.length)
      let room = this.inHead ? this.headMax - this.total : this.segmentMax - (this.segments.at(-1)?.size ?? 0)
      if (room <= 0 || this.fd === null) {
        if (this.fd !== null) closeQuietly(this.fd)
        this.inHead = false
        this.fd = this.open(`${this.name}.${this.total}`)
        this.segments.push({ start: this.total, size: 0 })
        this.dropOld()
        room = this.segmentMax
      }
      const part = bytes.subarray(0, Math.min(room, this.unlooked))
      let wrote
      try {
        if (this.fd === null) throw new Error('no file')
        wrote = writeSync(this.fd, part)
      } catch {
        return this.lose(bytes.length)
      }
      this.unlooked -= wrote
      this.total += wrote
      if (this.inHead) this.headSize += wrote
      else this.segments.at(-1).size += wrote
      bytes = bytes.subarray(wrote)
    }
  }

  dropOld() {
    const kept = () => this.segments.reduce((sum, { size }) => sum + size, 0)
    while (this.segments.length > 1 && kept() - this.segments[0].size >= this.tailMax)
      unlinkQuietly(join(this.dir, `${this.name}.${this.segments.shift().start}`))
  }

  get omitted() {
    return this.total - this.headSize - this.segments.reduce((sum, { size }) => sum + size, 0)
  }

  /** Where every kept byte is in the joined file: `start:size@place`. */
  get map() {
    const pieces = this.headSize > 0 ? [`0:${this.headSize}@0`] : []
    let place = this.headSize
    let end = this.headSize
    for (const { start, size } of this.segments) {
      place += gap(start - end).length
      pieces.push(`${start}:${size}@${place}`)
      place += size
      end = start + size
    }
    return pieces.join(' ')
  }

  /** The head file is what people open: at the end it gets the kept tail and the completion line. */
  finish(line) {
    if (this.fd !== null) closeQuietly(this.fd)
    const head = this.open(this.name)
    if (head === null) return
    try {
      let end = this.headSize
      const block = Buffer.alloc(65_536)
      for (const { start, size } of this.segments) {
        writeSync(head, gap(start - end))
        const file = join(this.dir, `${this.name}.${start}`)
        const fd = openSync(file, 'r')
        for (let got; (got = readSync(fd, block)) > 0;) writeSync(head, block, 0, got)
        closeSync(fd)
        unlinkSync(file)
        end = start + size
      }
      writeSync(head, gap(this.total - end))
      if (line) writeSync(head, `${this.lastByte === 10 ? '' : '\n'}${line}`)
    } catch {
      // A full disk; the record says what is missing.
    }
    closeQuietly(head)
  }
}

function gap(bytes) {
  return bytes > 0 ? `\n[... ${bytes} bytes omitted ...]\n` : ''
}

function needle(text) {
  const colon = text.indexOf(':')
  return { label: Buffer.from(`[secret:${text.slice(0, colon)}]`), bytes: Buffer.from(text.slice(colon + 1), 'hex') }
}

/** Replaces needles that begin before `limit`; gives what may be shown and how much of the text that is. */
function replace(text, masks, limit) {
  const parts = []
  let at = 0
  while (at < limit) {
    let best = null
    for (const { bytes, label } of masks) {
      if (bytes.length < 2) continue
      const found = text.indexOf(bytes, at)
      if (found < 0 || found >= limit) continue
      if (!best || found < best.found || (found === best.found && bytes.length > best.length))
        best = { found, length: bytes.length, label }
    }
    if (!best) break
    parts.push(text.subarray(at, best.found), best.label)
    at = best.found + best.length
  }
  if (at < limit) {
    parts.push(text.subarray(at, limit))
    at = limit
  }
  return { done: at, out: Buffer.concat(parts) }
}

// ---- processes ----

/** Every process with what it used: `{ pid, parent, group, session, state, start, cpu, memory() }`. */
function processes() {
  return hasProc ? readdirSync('/proc').map(fromProc).filter(Boolean) : fromPs()
}

/** Linux counts CPU time in hundredths of a second towards programs. */
function fromProc(name) {
  if (!/^\d+$/.test(name)) return null
  try {
    // By its first thread: emulators (qemu) make up what a process reads in the file of its own.
    const text = readFileSync(`/proc/${name}/task/${name}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const [parent, group, session] = fields.slice(1, 4).map(Number)
    const cpu = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0)
    return { pid: Number(name), state: fields[0], parent, group, session, start: fields[19], cpu }
  } catch {
    return null // It ended while we looked.
  }
}

function memoryOf({ pid, memory }) {
  if (memory !== undefined) return memory
  try {
    const lines = readFileSync(`/proc/${pid}/status`, 'latin1').matchAll(/^Rss(?:Anon|Shmem):\s+(\d+)/gm)
    return [...lines].reduce((sum, [, kilobytes]) => sum + kilobytes * 1_024, 0)
  } catch {
    return 0 // It ended while we looked.
  }
}

/** As the `ps` of macOS and the BSDs tells it; sessions are not told there, and all memory is counted. */
function fromPs() {
  const columns = 'pid=,ppid=,pgid=,stat=,rss=,time=,lstart='
  const env = { ...process.env, LC_ALL: 'C' }
  const { stdout } = spawnSync('ps', ['-axo', columns], { encoding: 'latin1', env })
  return (stdout ?? '').split('\n').flatMap((line) => {
    const [pid, parent, group, state, kilobytes, time, ...start] = line.trim().split(/\s+/)
    if (!pid) return []
    const [clock, days = 0] = time.split('-').reverse()
    const cpu = (days * 86_400 + clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)) * 1_000
    const facts = { state: state[0], start: start.join(' '), cpu, memory: Number(kilobytes) * 1_024 }
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), ...facts }]
  })
}

/** A number alone may be another's by now. */
function identity({ pid, start }) {
  return `${pid} ${start}`
}

/** Limits as the helper counts them: milliseconds of CPU time, bytes, processes. Null: none. */
function limitsOf(get) {
  const limits = Object.fromEntries(
    [
      ['memory', Number(get('memory', 0))],
      ['processes', Number(get('processes', 0))],
      ['cpu', Number(get('cpu', 0)) * 1_000],
    ].filter(([, value]) => value > 0),
  )
  return Object.keys(limits).length > 0 ? limits : null
}

function usageOf(members) {
  const used = { memory: 0, processes: members.length, cpu: 0 }
  for (const one of members) {
    used.cpu += one.cpu ?? 0
    used.memory += memoryOf(one)
  }
  return used
}

/**
 * By the open file, or by the variable: programs close what they do not know, or clear their environment, seldom
 * both.
 */
function isMarked(pid, mark) {
  try {
    if (readlinkSync(`/proc/${pid}/fd/${MARK_FD}`) === `${mark} (deleted)`) return true
  } catch {
    // It has no such file, or it is another user's.
  }
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`CERITH_WARD=${mark}`)
  } catch {
    return false
  }
}

/** Milliseconds by the clock that is never set. */
function sinceBoot() {
  return Number(process.hrtime.bigint() / 1_000_000n)
}

function startTime(pid) {
  return hasProc ? (fromProc(String(pid))?.start ?? 0) : 0
}

/**
 * The shell of a session ignores SIGTERM: it would go on with its list while what it waits for ends. It also catches the
 * signal that stops its commands (marks.ts), as a program in Go does, which catches every one.
 */
function isShellOfSession(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    const has = (which, number) =>
      (BigInt(`0x${new RegExp(`^${which}:\\s+(\\w+)`, 'm').exec(status)?.[1]}`) >> BigInt(number - 1)) & 1n
    return (has('SigIgn', 15) & has('SigCgt', 55)) === 1n
  } catch {
    return false
  }
}

function groupAlive(pid) {
  try {
    process.kill(-pid, 0)
    return true
  } catch {
    return false
  }
}

function signalQuietly(pid, signal) {
  try {
    process.kill(pid, signal)
  } catch {
    // It is gone.
  }
}

function closeQuietly(fd) {
  try {
    closeSync(fd)
  } catch {
    // Already closed.
  }
}

function unlinkQuietly(path) {
  try {
    unlinkSync(path)
  } catch {
    // Already gone.
  }
}

function exists(path) {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

say('v', { version: 1, pid: process.pid })
