/** The owner of a job, when several servers share a state directory: a client's own come first, others are named. */
import type { JobInfo } from '../../contract/job.js'

/** The engine of the server that started the job. */
export const SERVER_LABEL = 'mcp_server'
/** How the host calls itself. */
export const HOST_LABEL = 'mcp_host'

/** The connection through which it was started, where a server has several. */
export const CONNECTION_LABEL = 'mcp_connection'

/**
 * The other client that started it; null for jobs of this connection of this engine, and for
 * those that no server started.
 */
export function otherOwner(
  { labels }: Pick<JobInfo, 'labels'>,
  engineId: string,
  mine: JobInfo['labels'] = {},
): string | null {
  const server = labels[SERVER_LABEL]
  if (server === undefined) return null
  if (server !== engineId) return labels[HOST_LABEL] ?? 'another MCP server'
  const theirs = labels[CONNECTION_LABEL]
  if (theirs === undefined || theirs === mine[CONNECTION_LABEL]) return null
  return `another connection of ${labels[HOST_LABEL] ?? 'this server'}`
}
