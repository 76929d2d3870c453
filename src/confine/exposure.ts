/**
 * What a sandbox gives away because its settings say so: told by `cerith check`, `cerith config` and `cerith doctor`.
 */
import type { SandboxOptions } from '../contract/sandbox.js'
import { join } from './paths.js'
import type { Machine } from './machine.js'

/** What a command can do with a socket, by its usual name. */
const SOCKETS: readonly (readonly [RegExp, string])[] = [
  [
    /(?:docker|podman|containerd|crio|buildkitd|libvirt-sock|lxd?\/unix\.socket|incus)/,
    'is a container engine: who can talk to it owns the machine',
  ],
  [/(?:agent\.\d+|ssh-agent|S\.gpg-agent|keyring\/ssh|gcr\/ssh|1password)/, 'is an agent: it signs with your keys'],
  [
    /(?:system_bus_socket|\/bus$|dbus|systemd\/private|systemd\/notify)/,
    'is a message bus: programs outside can be asked to start anything',
  ],
  [/(?:\.X11-unix|wayland-|pipewire|pulse\/native)/, 'belongs to your screen or sound: it can watch and type'],
  [/(?:tmux-\d+|screens\/S-|emacs\d*\/server)/, 'belongs to a terminal or editor of yours: it can type there'],
]

export function exposures(options: SandboxOptions, roots: readonly string[], machine: Machine): string[] {
  const found: string[] = []
  const given = [...(options.sockets ?? []), ...(options.show ?? [])]
  for (const path of given) {
    const why = SOCKETS.find(([name]) => name.test(path))?.[1]
    if (why !== undefined) found.push(`${path} ${why}`)
    else if (machine.kind(path) === 'socket') found.push(`${path} is a socket of a program outside`)
  }
  if (options.profile !== 'read-only')
    for (const root of [...roots, ...(options.write ?? [])])
      for (const name of machine.names(root))
        if (machine.kind(join(root, name)) === 'socket')
          found.push(`${join(root, name)} is a socket in a writable directory, which commands can reach`)
  if (options.network === 'all')
    found.push('sandbox.network is all: services on 127.0.0.1 of this machine and the whole network can be reached')
  if (options.nested) found.push('sandbox.nested leaves the second wall (Landlock) out')
  if (options.tier === 'landlock' || options.unavailable === 'weaker')
    found.push('without rooms every socket that the user may open by its path can be reached')
  return found
}
