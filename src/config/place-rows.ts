/** Settings of another place to run commands at, and of the way there. */
import type { Setting } from './schema.js'

const DAY_MS = 24 * 60 * 60_000

export const PLACE_ROWS: readonly Setting[] = [
  {
    key: 'at',
    type: 'string',
    default: null,
    about:
      'Another place to run everything: ssh://host, docker://name, podman://name, k8s://namespace/pod, slurm://partition, chains with `!`. See docs/remote.md.',
    project: 'never',
    variable: 'CERITH_AT',
  },
  {
    key: 'reach.clientArgs',
    type: 'names',
    default: [],
    about: 'Further arguments of ssh, docker, kubectl or srun.',
    project: 'never',
    variable: 'CERITH_CLIENT_ARGS',
  },
  {
    key: 'reach.runtime',
    type: 'string',
    default: 'auto',
    about:
      'What runs the engine there: `auto`, `there` (its own Node), `send` (this one), or the path of a Node there.',
    project: 'never',
  },
  {
    key: 'reach.uploadDir',
    type: 'string',
    default: null,
    about: 'Where code is kept there; the first directory that may be written and executed from when absent.',
    project: 'never',
  },
  {
    key: 'reach.secrets',
    type: 'names',
    default: [],
    about: 'Secrets that may be used at other places without asking; `*` for all.',
    project: 'never',
  },
  {
    key: 'reach.leaseMs',
    type: 'number',
    default: 600_000,
    about: 'An engine elsewhere closes when it has had no link for this long.',
    project: 'never',
    min: 1_000,
    max: DAY_MS,
  },
  {
    key: 'reach.linkWaitMs',
    type: 'number',
    default: 20_000,
    about: 'How long a call waits for a link that is down.',
    project: 'never',
    min: 100,
    max: DAY_MS,
  },
]
