/** The first file of the `cerith` program. */
import { load } from '../os/package/script.js'

/** Put in by the build: the script that holds the program. */
declare const __CERITH_PROGRAM__: string

/** Verbs that hosts and scripts call often; each has a cache of its own, the others share one. */
const OWN_CACHE = ['check', 'hook', 'mcp', 'ps', 'read', 'run', 'wait']

load(__CERITH_PROGRAM__, 'cli', OWN_CACHE.find((name) => name === process.argv[2]) ?? 'other')
