// A network that is really cut: sshd in a network namespace of its own, behind a pair of virtual Ethernet cards.
import { spawnSync } from 'node:child_process'
import { ensurePackages, must } from './daemons.mjs'

/** Null where namespaces may not be made. */
export function makeNetwork() {
  if (!ensurePackages(['ip', 'iptables'], ['iproute2', 'iptables'])) return null
  const tag = Math.random().toString(36).slice(2, 8)
  const name = `cerith-${tag}`
  const [here, there] = [`c${tag}h`, `c${tag}t`]
  const net = `10.${200 + Math.floor(Math.random() * 50)}.${Math.floor(Math.random() * 250)}`
  if (spawnSync('ip', ['netns', 'add', name]).status !== 0) return null
  const inside = (...words) => must('ip', ['netns', 'exec', name, ...words])
  must('ip', ['link', 'add', here, 'type', 'veth', 'peer', 'name', there, 'netns', name])
  must('ip', ['addr', 'add', `${net}.1/30`, 'dev', here])
  must('ip', ['link', 'set', here, 'up'])
  inside('ip', 'addr', 'add', `${net}.2/30`, 'dev', there)
  inside('ip', 'link', 'set', there, 'up')
  inside('ip', 'link', 'set', 'lo', 'up')
  return {
    name,
    address: `${net}.2`,
    /** Packets vanish in both directions, without an error on either side. */
    silence: () => inside('iptables', '-I', 'INPUT', '1', '-j', 'DROP'),
    speak: () => inside('iptables', '-D', 'INPUT', '-j', 'DROP'),
    /** The cable is pulled. */
    unplug: () => must('ip', ['link', 'set', here, 'down']),
    plug: () => {
      must('ip', ['link', 'set', here, 'up'])
      spawnSync('ip', ['addr', 'add', `${net}.1/30`, 'dev', here])
    },
    /** One packet in `oneIn` is lost on its way there. */
    lose: (oneIn) =>
      inside('iptables', '-A', 'INPUT', '-m', 'statistic', '--mode', 'random', '--probability', String(1 / oneIn), '-j', 'DROP'),
    mend: () => inside('iptables', '-F', 'INPUT'),
    remove() {
      spawnSync('ip', ['link', 'del', here])
      spawnSync('ip', ['netns', 'del', name])
    },
  } // prettier-ignore
}
