// fleet.mjs URL STATE: a program with two agents at places that are made for them and one made ahead; ended by its
// test.
import { join } from 'node:path'
import { root } from '../../scripts/ensure.mjs'

const [at, stateDir] = process.argv.slice(2)
const { createFleet } = await import(join(root, 'dist/index.js'))
const fleet = createFleet({ name: 'contract', places: [{ at, capacity: 2, warm: 1 }], engine: { stateDir } })
const engines = await Promise.all(['one', 'two'].map((name) => fleet.engine(name)))
const said = await Promise.all(engines.map(async (engine) => (await engine.run({ command: 'echo here' })).stdout))
const isSame = (await fleet.engine('one')) === engines[0]
const third = await fleet.engine('three').catch(({ code }) => code)
console.log(JSON.stringify({ said, isSame, third }))
setInterval(() => {}, 1_000_000)
