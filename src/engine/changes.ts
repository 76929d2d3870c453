/** What commands of this engine tried: looked at, accepted after a person or the settings agreed, or discarded. */
import type { Accepted, AcceptOptions } from '../contract/changes.js'
import type { Engine } from '../contract/engine.js'
import { ShellError } from '../contract/errors.js'
import type { Verdict } from '../contract/verdict.js'
import { acceptFrom, changesOf, discardTry, intentOf, type Intent } from '../os/confine/try-changes.js'
import { isFree } from '../os/confine/try-helper.js'
import { findTry, keptUntil, listTries, type TryFolder } from '../os/confine/try-store.js'
import { commandLine } from '../os/process/proc.js'
import { askPerson } from './plan/ask.js'
import { ACCEPT_ROWS, CHANGES_ROWS, checkFields, DISCARD_ROWS } from './plan/fields.js'
import { environmentOf, planOf } from './plan/plan.js'
import type { Services } from './services/services.js'
import { foundTry, free, LEAVE_MS } from './services/sandbox/tries.js'
import { within } from './services/within.js'
import type { Sessions } from './session/sessions.js'
import { auditDeed } from './services/deeds.js'

type EngineChanges = Pick<Engine, 'tries' | 'changes' | 'accept' | 'discard'>

const SHOWN = 20

/** `leaveTry`: nothing of this engine stays in the room of its try, so that another engine can settle it. */
export function createChanges(
  services: Services,
  sessions: Sessions,
): EngineChanges & { readonly leaveTry: () => Promise<void> } {
  const folderOf = async (id: string | undefined): Promise<TryFolder> => {
    if (id !== undefined) return foundTry(services.stateDir, id)
    // Before its first command an engine may go on with what another has tried.
    if (services.sandbox?.options.try && !services.tries.current) await services.sandbox.prepared()
    const own = services.tries.current
    const folder = own && findTry(services.stateDir, own.record.id)
    if (folder) return folder
    throw new ShellError(
      'TRY_NOT_FOUND',
      'This engine has tried nothing',
      'Create it with sandbox: { profile: "workspace", try: true }, or name the try.',
    )
  }

  /** Nothing may live in the room of a try whose layers change. Idle sessions leave it, and keep their state. */
  const vacate = async (folder: TryFolder): Promise<void> => {
    const { id } = folder.record
    const isOwn = services.tries.current?.record.id === id
    if (!isOwn) return free(folder)
    const rooms = services.sandboxFor()
    // The last process of a command goes a moment after the command.
    const ending = rooms.livesIn(id).filter(({ state }) => state.exited)
    await within(Promise.all(ending.map(({ gone }) => gone)), LEAVE_MS)
    const infos = rooms.livesIn(id).length > 0 ? await sessions.list() : []
    const idle = new Set(infos.filter(({ busy }) => !busy).map(({ pid }) => pid))
    const busy = rooms
      .livesIn(id)
      .filter(({ pid }) => !idle.has(pid))
      .map(({ pid }) => pid)
    busy.push(...infos.flatMap(({ leftovers }) => leftovers.map(({ pid }) => pid)))
    if (busy.length > 0)
      throw new ShellError(
        'TRY_BUSY',
        `Commands still run in ${id}: ` +
          `${[...new Set(busy)].map((pid) => `${pid} (${commandLine(pid).slice(0, 80)})`).join(', ')}`,
        'Wait for them or end them, then repeat.',
      )
    await sessions.leaveRooms()
    await rooms.vacate(id)
    await free(folder)
  }

  const audit = (kind: 'accept' | 'discard', id: string, count: number, status: string): void =>
    auditDeed(services, kind, {
      command: `cerith ${kind} ${id} (${count} ${count === 1 ? 'change' : 'changes'})`,
      cwd: services.cwd,
      session: null,
      decision: status === 'refused' ? 'deny' : 'allow',
      rule: 'accept',
      status,
    })

  return {
    async leaveTry() {
      const own = services.tries.current
      const folder = own && findTry(services.stateDir, own.record.id)
      if (folder) await vacate(folder)
    },
    tries: () =>
      Promise.all(
        listTries(services.stateDir).map(async (folder) => ({
          id: folder.record.id,
          roots: folder.record.roots.map(({ path }) => path),
          startedAt: folder.record.startedAt,
          usedAt: folder.record.usedAt,
          keptUntil: keptUntil(folder.record),
          inUse: !(await isFree(folder)),
        })),
      ),
    async changes(options = {}) {
      checkFields('changes', options, CHANGES_ROWS)
      return changesOf(await folderOf(options.id), options, services.cwd)
    },
    async accept(options = {}) {
      checkFields('accept', options, ACCEPT_ROWS)
      const folder = await folderOf(options.id)
      const wanted = services.options.sandbox?.accept ?? 'ask'
      // Of the command line a person makes use.
      const mode = wanted === 'never' && services.door === 'cli' ? 'ask' : wanted
      const intent = await intentOf(folder, options, services.cwd)
      const refused = await agreement(intent, folder, options, mode, services)
      if (refused) {
        audit('accept', folder.record.id, intent.taken.length, 'refused')
        return { ...refused, id: folder.record.id, accepted: [], left: intent.count }
      }
      if (intent.taken.length > 0) await vacate(folder)
      const accepted = await acceptFrom(folder, intent, {
        force: options.force ?? false,
        isGoingOn: services.tries.current?.record.id === folder.record.id,
      })
      audit('accept', folder.record.id, accepted.accepted.length, accepted.kept.length > 0 ? 'partly' : 'completed')
      return accepted
    },
    async discard(options = {}) {
      checkFields('discard', options, DISCARD_ROWS)
      const folder = await folderOf(options.id)
      await vacate(folder)
      const discarded = await discardTry(folder)
      services.tries.forget(folder.record.id)
      audit('discard', folder.record.id, discarded.discarded.length, 'completed')
      return discarded
    },
  }
}

/**
 * Null: go on. What only the settings allow is never what other programs would run or believe,
 * nor what changed underneath.
 */
async function agreement(
  intent: Intent,
  { record }: TryFolder,
  options: AcceptOptions,
  mode: 'ask' | 'always' | 'never',
  services: Services,
): Promise<Pick<Accepted, 'kept' | 'refused' | 'approvalId'> | null> {
  const { taken, kept, digest } = intent
  if (taken.length === 0) return null
  const careful = taken.some(({ change }) => change.protected || change.conflict !== null)
  if (mode === 'always' && !careful) return null
  const refuse = (reason: string, guidance: string, approvalId: string | null) => ({
    kept: [...taken.map(({ change }) => ({ path: change.path, reason: 'nobody agreed' })), ...kept],
    refused: { rule: 'accept', reason, guidance },
    approvalId,
  })
  if (mode === 'never')
    return refuse(
      'Not accepted: sandbox.accept is never, so only a person accepts.',
      `Tell the person to look with \`cerith diff ${record.id}\` and to run \`cerith accept ${record.id}\`.`,
      null,
    )
  // The shape of a verdict comes from the guard; what is asked about is not a command.
  const plain = await services.judge('true', { cwd: services.cwd })
  const verdict = { ...plain, ...questionAbout(intent, record.id, options.force ?? false) }
  const request = {
    command: `cerith accept ${record.id}`,
    signal: options.signal,
    ask: options.ask,
    door: options.door,
    approvalWaitMs: options.approvalWaitMs,
  }
  const environment = environmentOf({ command: '' }, services)
  const about = { command: request.command, cwd: services.cwd, verdict, environment, session: null, background: false }
  const { as, id, trouble } = await askPerson(planOf(request, about, services), services)
  if (as === 'once' || as === 'session') return null
  const open = as === null && id !== '' ? id : null
  return refuse(
    'Not accepted: it needs approval. ' +
      `${as === 'deny' ? 'The person who was asked declined (or the client cannot ask and declined for them).' : (trouble ?? 'Nobody could be asked.')}`,
    open === null
      ? `The person can look with \`cerith diff ${record.id}\` and run \`cerith accept ${record.id}\`.`
      : `A person can allow exactly this (digest ${digest.slice(0, 12)}) with: cerith approve ${open} - then ` +
          `repeat the same call; or run: cerith accept ${record.id}`,
    open,
  )
}

function questionAbout({ taken, kept, digest }: Intent, id: string, force: boolean): Partial<Verdict> {
  const words = { added: 'add', changed: 'change', deleted: 'delete', replaced: 'replace' }
  const lines = taken.slice(0, SHOWN).map(({ change }) => {
    const marks = [
      ...(change.protected ? ['PROTECTED'] : []),
      ...(change.conflict ? [`CONFLICT: ${change.conflict}`] : []),
      ...change.notes,
    ]
    return `${words[change.kind]} ${change.path}${marks.length > 0 ? ` (${marks.join('; ')})` : ''}`
  })
  if (taken.length > SHOWN) lines.push(`and ${taken.length - SHOWN} more`)
  const rest = kept.length > 0 ? ` ${kept.length} would stay in the try.` : ''
  return {
    decision: 'ask',
    rule: 'accept',
    reason:
      `what was tried in ${id} is to count${force ? ', also over what changed underneath' : ''}: ` +
      `${lines.join(', ')}.${rest} Look with \`cerith diff ${id}\`; digest ${digest}.`,
    guidance: 'Leave it in the try, or ask the person to look.',
    commands: [],
  }
}
