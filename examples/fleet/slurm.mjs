// node slurm.mjs [PARTITION]: two agents, an allocation of one CPU each, queued by Slurm and given back.
import { createFleet } from 'cerith'

const [partition = 'agents'] = process.argv.slice(2)
const fleet = createFleet({ places: [{ at: `slurm://${partition}?cpus=1&time=10`, capacity: 100 }] })
try {
  const engines = await Promise.all(['agent-1', 'agent-2'].map((name) => fleet.engine(name)))
  for (const engine of engines) {
    const { stdout } = await engine.run({ command: 'echo "on $(hostname)"' })
    console.log(stdout.trim())
  }
} finally {
  await fleet.close()
}
