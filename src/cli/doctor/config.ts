/**
 * The doctor's look at what the user has set: the configuration readable and valid, no variable
 * that means nothing, a umask to work with.
 */
import { nameList } from '../../contract/quote.js'
import { existsSync } from 'node:fs'
import { ShellError } from '../../contract/errors.js'
import { loadConfig } from '../../config/load.js'
import { nearest } from '../../config/nearest.js'
import { SETTINGS } from '../../config/schema.js'
import type { Finding } from './doctor.js'
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
      return {
        name: 'configuration',
        state: 'degraded',
        detail: `nothing reads ${strange.join(', ')}`,
        fix: close ? `Did you mean ${close}?` : 'Unset it; `cerith config` shows what can be set.',
      }
    }
    return {
      name: 'configuration',
      state: 'ok',
      detail:
        [files.user, files.project].filter((file) => file && existsSync(file)).join(' and ') || 'no file; the defaults',
      fix: null,
    }
  } catch (error) {
    return {
      name: 'configuration',
      state: 'broken',
      detail: error instanceof Error ? error.message : String(error),
      fix: ShellError.is(error) ? error.hint : null,
    }
  }
}

export function umaskFinding(): Finding {
  const { text, takesOwnRights } = umaskNow()
  return takesOwnRights
    ? { name: 'umask', state: 'broken', detail: `${text}: you could not read the files that you make`, fix: UMASK_FIX }
    : { name: 'umask', state: 'ok', detail: text, fix: null }
}
