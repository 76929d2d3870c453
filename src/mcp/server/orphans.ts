/**
 * Background shells whose connection is gone: no client will read them, so they end after a while, and the log says so.
 */
import type { Engine } from '../../contract/engine.js'
import { CONNECTION_LABEL } from '../../tools/reading/owners.js'
import type { Settings } from '../setup/options.js'

/** The timer keeps no process alive; an engine that closes first ends them itself. */
export function endOrphansLater(
  engine: Pick<Engine, 'jobs' | 'job'>,
  connection: string,
  { orphanMs, log }: Pick<Settings, 'orphanMs' | 'log'>,
): void {
  if (orphanMs <= 0) return
  setTimeout(() => void endOrphans(engine, connection, orphanMs, log).catch(() => {}), orphanMs).unref()
}

async function endOrphans(
  engine: Pick<Engine, 'jobs' | 'job'>,
  connection: string,
  orphanMs: number,
  log: Settings['log'],
): Promise<void> {
  for (const info of await engine.jobs()) {
    if (info.owner !== 'manager' || info.labels[CONNECTION_LABEL] !== connection) continue
    await (await engine.job(info.id)).kill({ by: `cerith, because its client was gone for ${spell(orphanMs)}` })
    log(`cerith: ended ${info.id}, whose client has been gone for ${spell(orphanMs)}: ${info.command.slice(0, 80)}`)
  }
}

function spell(ms: number): string {
  return ms < 60_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`
}
