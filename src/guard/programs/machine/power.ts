/** Programs that stop or restart the machine, or a service that logins need. */
import { nameList } from '../../../contract/quote.js'
import { ANYTHING, plain } from '../../words/text.js'
import { basename, options, type Program, table } from '../row/call.js'
import { unitCommands } from './units.js'

const power: Program = (call, name) => {
  const words = call.args.map(plain)
  if (words.some((word) => /^(--help|--version|--show|-c|-k|--no-wall-only)$/.test(word))) return
  if (/^(?:reboot|halt|poweroff)$/.test(name) && words.some((word) => /^(?:-w|--wtmp-only)$/.test(word))) return
  call.report('host-down', [name, ...words.slice(0, 3)])
}

/** `rtcwake -m off`: down now, up again later. */
const rtcwake: Program = (call) => {
  const mode = options(call.args, { short: 'mstdA', long: ['mode'] }).get('m', 'mode')
  if (mode !== undefined && /^(?:off|mem|disk|freeze|standby)$/.test(plain(mode)))
    call.report('host-down', ['rtcwake', '-m', mode])
}

const init: Program = (call, name) => {
  const [level = ''] = call.args
  if (/^[016sS]$/.test(plain(level))) call.report('host-down', [name, level])
}

const POWER_UNITS =
  /^(poweroff|reboot|halt|kexec|soft-reboot|suspend|hibernate|hybrid-sleep|suspend-then-hibernate|emergency|rescue|exit|switch-root)$/

const POWER_TARGETS = /^(poweroff|reboot|halt|kexec|emergency|rescue|shutdown|runlevel[016])(\.target)?$/

/** Without these a machine is unreachable or has no users. */
const VITAL_UNITS =
  /^(ssh|sshd|dbus|systemd-logind|systemd-journald|systemd-udevd|network|networking|NetworkManager|systemd-networkd|getty@tty1|init\.scope|user\.slice|system\.slice|-\.slice|user@\d+|\*|(?:default|basic|sysinit|multi-user|graphical|local-fs)\.target)(\.service|\.socket|\.target)?$/

/** Options with a value. */
const SYSTEMCTL_VALUES = nameList('type property host machine lines output signal state kill-whom root job-mode when')

const systemctl: Program = (call) => {
  const given = options(call.args, { short: 'tpHMnosP', long: SYSTEMCTL_VALUES })
  const [verb = '', ...units] = given.operands.map(plain)
  // `systemctl edit --stdin UNIT`: the unit is what it reads.
  for (const text of verb === 'edit' ? (call.stdin ?? []) : [])
    for (const line of unitCommands(plain(text), call.shell.home[0])) call.tryScript(line)
  if (given.has('help', 'version') || given.flags.includes('user') || given.has('dry-run')) return
  // A planned shutdown is called off, or shown.
  if (/^(?:cancel|show)?$/.test(given.get('when') ?? 'now')) return
  if (POWER_UNITS.test(verb)) call.report('host-down', ['systemctl', verb])
  else if (/^(isolate|start|set-default)$/.test(verb) && units.some((unit) => POWER_TARGETS.test(unit)))
    call.report('host-down', ['systemctl', verb, ...units])
  else if (/^(stop|disable|mask|kill)$/.test(verb) && units.some((unit) => VITAL_UNITS.test(unit)))
    call.report('cut-network', ['systemctl', verb, ...units])
  else if (/^(stop|disable|mask|kill)$/.test(verb) && units.some((unit) => /^auditd(\.service)?$/.test(unit)))
    call.report('disarm', ['systemctl', verb, ...units])
}

const service: Program = (call) => {
  const [unit = '', verb = ''] = call.args.map(plain)
  if (/^(stop|disable)$/.test(verb) && VITAL_UNITS.test(unit)) call.report('cut-network', ['service', unit, verb])
  if (/^(stop|disable)$/.test(verb) && unit === 'auditd') call.report('disarm', ['service', unit, verb])
}

const bus: Program = (call) => {
  const text = call.argv.map(plain).join(' ')
  if (
    /\b(login1|ConsoleKit|systemd1|UPower)\b/.test(text) &&
    /\b(PowerOff|Reboot|Halt|Suspend|Hibernate|KExec|Stop|Restart|SoftReboot|HybridSleep)(WithFlags)?\b/.test(text)
  )
    call.report('host-down', [basename(call.argv[0] ?? ''), 'PowerOff'])
}

const loginctl: Program = (call) => {
  const [verb = '', who = ''] = options(call.args).operands.map(plain)
  if (POWER_UNITS.test(verb)) call.report('host-down', ['loginctl', verb])
  if (verb === 'terminate-seat') call.report('kill-everything', ['loginctl', verb, who])
  const ours = who === '' || who === 'root' || /^\d+$/.test(who) || call.shell.get('USER').values.includes(who)
  if (/^(terminate-user|kill-user)$/.test(verb) && ours) call.report('kill-everything', ['loginctl', verb, who])
}

const sysctl: Program = (call) => {
  const text = call.args.map(plain).join(' ')
  if (/kernel\.(sysrq|panic)\b.*=/.test(text) && /kernel\.sysrq=|panic=/.test(text.replaceAll(' ', ''))) return
  // What the kernel starts for a program that crashed, as root.
  call.tryMatches(text, /core_pattern\s*=\s*\|(.*)$/gs)
  return ANYTHING
}

export const POWER_PROGRAMS: Readonly<Record<string, Program>> = {
  ...table(nameList('shutdown reboot halt poweroff openrc-shutdown pm-suspend pm-hibernate pm-suspend-hybrid'), power),
  rtcwake,
  ...table(nameList('init telinit runit-init'), init),
  // Down by a word among others.
  ...table(nameList('openrc machinectl gnome-session-quit s6-linux-init-shutdown'), (call, name) => {
    const words = call.args.map(plain)
    if (name === 'machinectl' && words[0] === 'shell') call.startExternal(call.argv.slice(3))
    const own = name !== 'machinectl' || words.includes('.host')
    if (own && words.some((word) => /^(?:shutdown|reboot|poweroff|single|--power-off|--reboot|-[phr])$/.test(word)))
      call.report('host-down', [name, ...words.slice(0, 3)])
  }),
  // Without a host it is the board of this machine.
  ipmitool: (call) => {
    const given = options(call.args, { short: 'IHUPpLEf' })
    if (
      given.get('H') === undefined &&
      /\bpower (?:off|reset|cycle|soft|diag)\b/.test(given.operands.map(plain).join(' '))
    )
      call.report('host-down')
  },
  systemctl,
  ...table(['service', 'rc-service'], service),
  // What is to be done and the name of the service, in either order.
  ...table(nameList('rc-update sv initctl update-rc.d chkconfig'), (call, name) => {
    const words = options(call.args).operands.map(plain)
    const unit = words.find((word) => VITAL_UNITS.test(word))
    if (
      unit !== undefined &&
      words.some((word) => /^(?:del|delete|down|stop|exit|force-stop|remove|disable|off)$/.test(word))
    )
      call.report('cut-network', [name, ...words])
  }),
  ...table(nameList('dbus-send busctl gdbus qdbus'), bus),
  loginctl,
  sysctl,
}
