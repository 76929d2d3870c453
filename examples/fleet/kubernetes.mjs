// node kubernetes.mjs [POD_TEMPLATE] [kubectl arguments...]: two agents, a pod each, made and removed.
//   kubectl apply -f kubernetes.yaml
//   node kubernetes.mjs pod.yaml --as system:serviceaccount:agents:cerith
import { createFleet } from 'cerith'

const [template = 'pod.yaml', ...clientArgs] = process.argv.slice(2)
const fleet = createFleet({
  places: [{ at: `k8s://agents/?template=${encodeURIComponent(template)}`, capacity: 500 }],
  engine: { reach: { clientArgs } },
})
try {
  for (const name of ['agent-1', 'agent-2']) {
    const engine = await fleet.engine(name)
    const session = await engine.session()
    await session.run({ command: `me=${name}` })
    const { stdout } = await session.run({ command: 'echo "$me as $(id -u)"' })
    console.log(stdout.trim())
  }
} finally {
  await fleet.close()
}
