/** Every default number of cerith, in one place. */
export const LIMITS = {
  timeoutMs: 120_000,
  maxTimeoutMs: 24 * 60 * 60_000,
  graceMs: 2_000,
  drainMs: 100,
  yieldMs: 45_000,
  clipChars: 30_000,
  /** Bytes of a foreground stream kept in memory as head + tail; the whole goes to a bounded file beyond this. */
  memoryBytes: 1024 * 1024,
  /** Bytes of output stored on disk per run or job (head + tail). */
  storedBytes: 64 * 1024 * 1024,
  totalStoredBytes: 2 * 1024 * 1024 * 1024,
  keepFinishedMs: 7 * 24 * 60 * 60_000,
  maxCommandBytes: 16 * 1024 * 1024,
  maxVariableBytes: 131_072,
  maxEnvironmentBytes: 1_500_000,
  /** Of one engine. It stops a runaway; a farm of agents in one engine has more jobs than one agent. */
  maxRunningJobs: 256,
  maxSessions: 1_000,
  pty: { cols: 120, rows: 40 },
} as const
