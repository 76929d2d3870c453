// `npm start [-- VERB ...]`: the command line from a clone, with nothing done before it.
// Without a verb: `cerith serve`.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ensure, root } from './ensure.mjs'

ensure()
const cli = join(root, 'dist', 'cli.js')
const given = process.argv.slice(2)
// In this process, so that signals and the exit code need no forwarding.
process.argv = [process.argv[0], cli, ...(given.length > 0 ? given : ['serve'])]
await import(pathToFileURL(cli).href)
