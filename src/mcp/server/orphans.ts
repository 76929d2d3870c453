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
  const time = orphanMs < 60_000 ? `${Math.round(orphanMs / 1_000)} s` : `${Math.round(orphanMs / 60_000)} min`
  const endOrphans = async (): Promise<void> => {
    for (const info of await engine.jobs()) {
      if (info.owner !== 'manager' || info.labels[CONNECTION_LABEL] !== connection) continue
      await (await engine.job(info.id)).kill({ by: `cerith, because its client was gone for ${time}` })
      log(`cerith: ended ${info.id}, whose client has been gone for ${time}: ${info.command.slice(0, 80)}`)
    }
  }
  setTimeout(() => void endOrphans().catch(() => {}), orphanMs).unref()
}
