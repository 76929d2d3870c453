/** The order to start a process, in the fields that the helper reads. */
import type { ResourceLimits } from '../../contract/request.js'
import type { Field } from './frames.js'
import type { LaunchSpec, Mask, RoomOrder } from './launcher.js'

export function describeStart(id: number, spec: LaunchSpec): Field[] {
  const fields: Field[] = [
    ['id', id],
    ['path', spec.path],
    ['cwd', spec.cwd],
  ]
  for (const argument of spec.argv) fields.push(['arg', argument])
  const environment = environmentText(spec.env)
  if (environment !== '') fields.push(['env', environment])
  if (spec.stdin) fields.push(['in', spec.stdin.slot])
  if (spec.stdout) fields.push(['out', spec.stdout.slot])
  if (spec.stderr) fields.push(['err', spec.stderr.slot])
  if (spec.merge) fields.push(['merge', 1])
  if (spec.extraIn) fields.push(['xin', `${spec.extraIn.fd}:${spec.extraIn.pipe.slot}`])
  if (spec.detached) fields.push(['detached', 1])
  if (spec.oomScore !== undefined) fields.push(['oom', spec.oomScore])
  if (spec.limits) fields.push(...limitFields(spec.limits))
  if (spec.graceMs !== undefined) fields.push(['grace', Math.ceil(spec.graceMs)])
  if (spec.inside) fields.push(['room', spec.inside.room.id])
  for (const group of spec.inside?.groups ?? []) fields.push(['group', group])
  if (spec.inside?.folder !== undefined) fields.push(['folder', spec.inside.folder])
  if (spec.listenerOf) fields.push(['listener', spec.listenerOf.id])
  const { keep } = spec
  if (keep) {
    fields.push(['dir', keep.dir], ['head', keep.headBytes], ['tail', keep.tailBytes])
    if (keep.openStdin || keep.pty) fields.push(['fifo', 1])
    if (keep.pty) fields.push(['pty', `${keep.pty.cols},${keep.pty.rows}`])
    if (keep.deadlineMs) fields.push(['deadline', Math.ceil(keep.deadlineMs)])
    for (const mask of keep.masks ?? []) fields.push(maskField(mask))
  }
  return fields
}

/** The order to build a room. */
export function describeRoom(id: number, order: RoomOrder): Field[] {
  const fields: Field[] = [
    ['room', id],
    ['inner', order.inner],
  ]
  if (order.onlyWall) fields.push(['tier', 'landlock'])
  if (order.strict) fields.push(['strict', 1])
  if (order.allNetwork) fields.push(['network', 'all'])
  if (order.nested) fields.push(['nested', 1])
  if (order.weaker) fields.push(['weaker', 1])
  if (order.listens) fields.push(['listens', 1])
  if (order.tmpBytes) fields.push(['tmp', order.tmpBytes])
  if (order.lock !== undefined) fields.push(['lock', order.lock])
  for (const { kind, path, layer } of order.items) {
    fields.push([kind, path])
    if (layer !== undefined) fields.push(['layer', layer])
  }
  return fields
}

export function limitFields({ cpuSeconds, memoryBytes, processes, fileBytes }: ResourceLimits): Field[] {
  const fields: Field[] = []
  if (cpuSeconds) fields.push(['cpu', cpuSeconds])
  if (memoryBytes) fields.push(['memory', memoryBytes])
  if (processes) fields.push(['processes', processes])
  if (fileBytes) fields.push(['filesize', fileBytes])
  return fields
}

const environmentTexts = new WeakMap<Readonly<Record<string, string>>, string>()

/**
 * All of it as the value of one field, which holds the beginnings of the others. Most commands
 * of an engine have the same environment: it is put into words once.
 */
function environmentText(env: Readonly<Record<string, string>>): string {
  const known = environmentTexts.get(env)
  if (known !== undefined) return known
  const text = Object.entries(env)
    .map(([name, value]) => `${name}=${value}`)
    .join('\0env=')
  environmentTexts.set(env, text)
  return text
}

export function maskField({ name, bytes }: Mask): Field {
  return ['mask', `${name.replaceAll(/[:\0\n]/g, '_')}:${hex(bytes)}`]
}

export function hex(bytes: Uint8Array | undefined): string {
  return bytes ? Buffer.from(bytes).toString('hex') : ''
}
