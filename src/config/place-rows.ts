/** Settings of another place to run commands at, and of the way there. */
import { setting, type Setting } from './setting.js'

const DAY_MS = 24 * 60 * 60_000

export const PLACE_ROWS: readonly Setting[] = [
  setting(
    { key: 'at', type: 'string', variable: 'CERITH_AT' },
    'Another place to run everything: ssh://host, docker://name, podman://name, k8s://namespace/pod, ' +
      'slurm://partition, chains with `!`. See docs/remote.md.',
  ),
  setting(
    { key: 'reach.clientArgs', type: 'names', variable: 'CERITH_CLIENT_ARGS' },
    'Further arguments of ssh, docker, kubectl or srun.',
  ),
  setting(
    { key: 'reach.runtime', type: 'string', default: 'auto' },
    'What runs the engine there: `auto`, `there` (its own Node), `send` (this one), or the path of a Node there.',
  ),
  setting(
    { key: 'reach.uploadDir', type: 'string' },
    'Where code is kept there; the first directory that may be written and executed from when absent.',
  ),
  setting(
    { key: 'reach.secrets', type: 'names' },
    'Secrets that may be used at other places without asking; `*` for all.',
  ),
  setting(
    { key: 'reach.leaseMs', type: 'number', default: 600_000, min: 1_000, max: DAY_MS },
    'An engine elsewhere closes when it has had no link for this long.',
  ),
  setting(
    { key: 'reach.linkWaitMs', type: 'number', default: 20_000, min: 100, max: DAY_MS },
    'How long a call waits for a link that is down.',
  ),
]
