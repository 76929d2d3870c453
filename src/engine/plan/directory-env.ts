/** A request of a fresh shell with the variables of its directory; what was given for the call itself wins. */
import type { Note } from '../../contract/note.js'
import type { RunRequest } from '../../contract/request.js'
import { checkDirectory } from '../../os/files/paths.js'
import type { Services } from '../services/services.js'
import { environmentOf } from './plan.js'

export async function withDirectoryEnv<R extends RunRequest>(
  request: R,
  services: Services,
): Promise<{ readonly request: R; readonly notes: readonly Note[] }> {
  const { directories, sandbox } = services
  if (!directories || request?.envMode === 'replace') return { request, notes: [] }
  // Commands in the sandbox could have written the files that they come from.
  if (sandbox && request.outside !== undefined) return { request, notes: [] }
  const confined = sandbox !== null || (request.sandbox?.profile ?? 'off') !== 'off'
  const cwd = checkDirectory(request.cwd, services.cwd, services.roots)
  const { set, unset, notes } = await directories.of(cwd, environmentOf({ command: ':' }, services).env, confined)
  // A variable that a directory takes away is empty then: a fresh environment knows no more than values.
  const env = { ...Object.fromEntries(unset.map((name) => [name, ''])), ...set, ...request.env }
  return { request: Object.keys(env).length === 0 ? request : { ...request, env }, notes }
}
