/** Cron tables: which commands they hold. */

/** The commands of a cron table; a system's table names the user in front. */
export function cronJobs(table: string, namesUser: boolean): string[] {
  return table.split('\n').flatMap((line) => {
    const job = /^\s*(?:@\w+|(?:\S+\s+){5})\s*(.+)$/.exec(line)?.[1]
    if (job === undefined || /^\s*#/.test(line)) return []
    return [namesUser ? job.replace(/^\S+\s+/, '') : job]
  })
}
