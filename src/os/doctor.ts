/** Looks at this machine: what cerith needs, what it could use, and how to get what is missing. */

export interface Finding {
  readonly name: string
  readonly state: 'ok' | 'degraded' | 'broken'
  readonly detail: string
  readonly fix: string | null
}

export async function examine(_options: { env: Readonly<Record<string, string | undefined>>; stateDir: string }): Promise<Finding[]> {
  return []
}
