// lid.mjs CONFIG STATE LEASE_MS FILE SECONDS: an agent's program that is stopped as a whole while its command runs
// elsewhere.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../scripts/ensure.mjs'

const [config, stateDir, leaseMs, file, seconds] = process.argv.slice(2)
const { createEngine } = await import(join(root, 'dist/index.js'))
const reach = { beatMs: 300, leaseMs: Number(leaseMs), clientArgs: ['-F', config] }
const engine = await createEngine({ at: 'ssh://far', stateDir, reach })
const session = await engine.session()
await session.run({ command: 'Y=kept' })
const running = session.run({ command: `echo x >> ${file}; sleep ${seconds}; echo late $Y` })
while (!existsSync(file)) await new Promise((next) => setTimeout(next, 20))
console.log(`running ${engine.place.pid}`)
const first = await running
const next = await session.run({ command: 'echo "[$Y]"' })
console.log(JSON.stringify({ first, next }))
await engine.close()
