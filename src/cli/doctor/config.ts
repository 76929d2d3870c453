/**
 * The doctor's look at what the user has set: the configuration readable and valid, no variable
 * that means nothing, a umask to work with.
 */
import { nameList } from '../../contract/quote.js'
import { existsSync } from 'node:fs'
import { loadConfig } from '../../config/load.js'
import { nearest } from '../../contract/names/nearest.js'
import { SETTINGS } from '../../config/schema.js'
import { broken, degraded, ofError, ok, type Finding } from './finding.js'
import { UMASK_FIX, umaskNow } from '../../os/files/umask.js'
import type { Io } from '../io/io.js'

/** Variables that are read elsewhere than in the configuration. */
const OTHERS = nameList(`
  CERITH_HOME CERITH_CONFIG CERITH_HELPER CERITH_PASSPHRASE CERITH_DEBUG CERITH_ENGINE CERITH_TOKEN CERITH_NO_APT
  CERITH_CODE_CACHE
`)

export function configFinding(io: Io): Finding {
  try {
    const { files } = loadConfig({ cwd: io.cwd, env: io.env })
    const known = [...OTHERS, ...SETTINGS.flatMap(({ variable }) => variable ?? [])]
    const strange = Object.keys(io.env).filter((name) => name.startsWith('CERITH_') && !known.includes(name))
    if (strange.length > 0) {
      const close = nearest(strange[0] as string, known)
      return degraded(
        'configuration',
        `nothing reads ${strange.join(', ')}`,
        close ? `Did you mean ${close}?` : 'Unset it; `cerith config` shows what can be set.',
      )
    }
    return ok(
      'configuration',
      [files.user, files.project].filter((file) => file && existsSync(file)).join(' and ') || 'no file; the defaults',
    )
  } catch (error) {
    return broken('configuration', ...ofError(error))
  }
}

export function umaskFinding(): Finding {
  const { text, takesOwnRights } = umaskNow()
  return takesOwnRights
    ? broken('umask', `${text}: you could not read the files that you make`, UMASK_FIX)
    : ok('umask', text)
}
