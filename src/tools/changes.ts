/**
 * The tool of a shell whose writes are only tried: look at them, have them accepted, throw them
 * away. The same in every dialect.
 */
import type { Accepted, AcceptOptions, Changes } from '../contract/changes.js'
import { badRequest } from '../contract/errors.js'
import { changeLine, changeText, countWords } from '../output/change-lines.js'
import { clipEnds } from '../output/clip.js'
import { defineTool } from './dialect.js'
import { flag, inputOf, list, oneOf, outputOf, text } from './schema/schema.js'
import { errorText, lines } from './texts.js'
import type { CallOptions, ToolResult } from './tool.js'
import type { Toolbox } from './toolbox.js'

const MAX_CHARS = 30_000

export const changesTool = defineTool({
  name: 'Changes',
  title: 'What was tried',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  describe: () =>
    'What your commands changed. Nothing in the workspace counts until accept, which a person confirms; ' +
    'discard throws all away.',
  inputSchema: () =>
    inputOf({
      action: oneOf(['diff', 'stat', 'accept', 'discard'], 'Default diff'),
      paths: list(text(), 'Default all'),
      force: flag('Overwrite what changed underneath'),
      protected: flag('Also hooks and configuration'),
    }),
  outputSchema: outputOf({ status: text(), text: text() }, ['status']),
  fail: (error) =>
    told('error', errorText(error), true, { error: { code: error.code, message: error.message, hint: error.hint } }),
  call: async (box, { action = 'diff', paths: given, force, protected: alsoProtected }, call) => {
    const paths = given?.length ? given : undefined
    switch (action) {
      case 'accept':
        return renderAccepted(await accept(box, call, { paths, force, protected: alsoProtected }))
      case 'discard': {
        if (paths) throw badRequest('discard takes no paths', 'Change these files back, or discard everything.')
        const { discarded } = await box.engine.discard()
        return told('discarded', `[${discarded.length} changes discarded]`, false, { discarded })
      }
      default:
        return renderChanges(
          await box.engine.changes({ paths, text: action === 'diff' }),
          paths,
          call.maxChars ?? MAX_CHARS,
        )
    }
  },
})

function accept(
  box: Toolbox,
  call: CallOptions,
  what: Pick<AcceptOptions, 'paths' | 'force' | 'protected'>,
): Promise<Accepted> {
  return box.engine.accept({
    ...what,
    signal: call.signal,
    ask: call.ask ?? box.options.ask,
    approvalWaitMs: call.approvalWaitMs,
    door: call.door ?? box.options.door ?? 'tools',
  })
}

function renderChanges(
  { id, digest, changes }: Changes,
  paths: readonly string[] | undefined,
  maxChars: number,
): ToolResult {
  const body = changes.map((change) => lines(changeLine(change), changeText(change))).join('\n')
  const clipped = clipEnds(body, { maxChars, wholeAt: null }).text
  const head = `[${id}: ${countWords(changes, paths)}${changes.length > 0 ? '; nothing of it counts yet' : ''}]`
  return told('tried', lines(head, clipped), false, { id, digest, changes: changes.length })
}

function renderAccepted({ id, accepted, kept, left, refused, approvalId }: Accepted): ToolResult {
  const head = refused
    ? `[not accepted] ${refused.reason} ${refused.guidance}`
    : `[${accepted.length} accepted${left > 0 ? `; ${left} stay tried` : ''}]`
  const list = [
    ...accepted.map((path) => `accepted ${path}`),
    ...(refused ? [] : kept.map(({ path, reason }) => `kept ${path}: ${reason}`)),
  ]
  return told(refused ? 'refused' : 'accepted', lines(head, list.slice(0, 200).join('\n')), refused !== null, {
    id,
    accepted,
    kept,
    left,
    ...(approvalId === null ? {} : { approval_id: approvalId }),
  })
}

function told(status: string, words: string, isError: boolean, facts: Record<string, unknown>): ToolResult {
  return { text: words, structured: { status, text: words, ...facts }, isError }
}
