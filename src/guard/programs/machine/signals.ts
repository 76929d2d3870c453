/** Programs that signal processes: refused when they end everything, or the process that runs this shell. */
import { nameList } from '../../../contract/quote.js'
import { type Alternatives, ANYTHING, hasUnknown, hasWildcard, NOTHING, plain, TREE } from '../../words/text.js'
import { basename, type Call, onlyTalks, options, type Options, type Program, table } from '../row/call.js'

const kill: Program = (call) => {
  const words = call.args.map(plain)
  if (words.some((word) => /^(-l|-L|--list.*|--table)$/.test(word))) return
  let targets = words
  const dashes = words.indexOf('--')
  if (dashes >= 0) targets = words.slice(dashes + 1)
  else if (/^(-s|-n|--signal)$/.test(words[0] ?? '')) targets = words.slice(2)
  else if (/^-/.test(words[0] ?? '') && words.length > 1) targets = words.slice(1)
  else if (/^-\d+$/.test(words[0] ?? '')) targets = words[0] === '-1' ? [] : words
  const harmless = /^(?:-|-s ?)(?:0|(?:SIG)?(?:CONT|WINCH|CHLD|URG))(?: |$)/.test(words.join(' '))
  if (harmless) return
  const { own } = call.walker.settings
  // Process 1 of a container is its program, and its signals end there.
  if (call.walker.namesakes.isContained) return
  // A pattern that numbers match; `[pid]` is what a page calls them.
  if (call.args.some((word) => hasWildcard(word) && /[\d\uFDD1\uFDD2]/.test(word)))
    call.report('kill-everything', ['kill', ...words])
  for (const target of targets) {
    // Process 1 reads its settings again.
    const reloads =
      target === '1' && /^(?:-1|-HUP|-SIGHUP|-s)$/.test(words[0] ?? '') && !/^(?:9|KILL|TERM|INT)/.test(words[1] ?? '')
    if (reloads) continue
    const isOwn = /^-?\d+$/.test(target) && own.pids.includes(Math.abs(Number(target)))
    if (/^-?1$|^-0$/.test(target) || (target.includes(TREE) && !isOwn))
      call.report('kill-everything', ['kill', ...words])
    else if (isOwn) killsHost(call, target)
  }
}

/** A debugger on the engine or its host stops it, and could answer for the person. */
const debuggers: Program = (call) => {
  const at = call.argv.findIndex((word) => /^(?:-p|--pid|--attach|-o|attach)$/.test(word))
  const named = call.argv.flatMap((word) => /^(?:--pid=|--attach=|-p|attach )(\d+)$/.exec(plain(word))?.[1] ?? [])
  // `gdb PROGRAM PID`, `gcore PID`.
  const last = /^\d+$/.test(call.argv.at(-1) ?? '') ? [call.argv.at(-1) ?? ''] : []
  for (const pid of [...named, ...(at > 0 ? [plain(call.argv[at + 1] ?? '')] : []), ...last])
    if (call.walker.settings.own.pids.includes(Number(pid))) return killsHost(call, pid, 'stop')
}

function killsHost(call: Call, target: string, what = 'end'): void {
  const words = [basename(call.argv[0] ?? ''), target]
  call.walker.add({
    decision: 'deny',
    rule: 'kill-host',
    reason: `\`${words.join(' ')}\` would ${what} the process that runs this shell`,
    guidance: 'End your own processes by their pid, or stop the job by its id.',
    words,
    dangerous: true,
  })
}

/** Everything that runs, as a list of pids. */
const EVERY_PID: Alternatives = [`${TREE}\n`]

const SELECTION = nameList(`
  signal user older-than younger-than ns nslist pgroup group parent session terminal euid uid pidfile cgroup env older
  runstates delimiter
`)

/** The options of pkill and pgrep; a signal (`-9`, `-KILL`) is not one of them. */
function selection(call: Call, short: string): Options {
  const words = call.args.filter((arg) => !/^-(?:\d+|SIG[A-Z0-9]+|[A-Z]{2,}[A-Z0-9]*)$/.test(arg))
  return options(words, { short, long: SELECTION })
}

/** Only the children of a process, a group, a session, a terminal, a pid file. */
function isNarrowed(given: Options): boolean {
  return ['P', 'parent', 'g', 'pgroup', 's', 'session', 't', 'terminal', 'F', 'pidfile', 'cgroup', 'ns'].some(
    (option) => given.get(option) !== undefined,
  )
}

/** Names with no letter in common: a pattern that matches all of them picks nothing out. */
const UNRELATED_NAMES = ['bash', 'node', 'cron', 'systemd', 'sshd', 'python3']

/**
 * Also true of a pattern that would take too long to try: a command that needs that many
 * repetitions can name a pid instead.
 */
function matchesEverything(pattern: string, exact: boolean): boolean {
  if (hasUnknown(pattern)) return false
  if (!isQuicklyTried(pattern)) return true
  const expression = posixExpression(pattern.replace(/^\*+/, ''), exact)
  return expression !== undefined && UNRELATED_NAMES.every((name) => expression.test(name))
}

/** Few enough ways to match a short name, however the pattern nests its repetitions and alternatives. */
function isQuicklyTried(pattern: string): boolean {
  const groups = pattern.split('(').length - 1
  return (
    pattern.length <= 1_000 &&
    groups <= 3 &&
    !(groups > 0 && pattern.includes('{')) &&
    (pattern.match(/[*+?{]/g) ?? []).length <= 8
  )
}

function posixExpression(pattern: string, exact: boolean): RegExp | undefined {
  const text = pattern.replace(/\[:(\w+):\]/g, (_, name: string) => POSIX_CLASSES[name] ?? '')
  try {
    return new RegExp(exact ? `^(?:${text})$` : text)
  } catch {
    return undefined
  }
}

const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alpha: 'A-Za-z',
  lower: 'a-z',
  upper: 'A-Z',
  digit: '0-9',
  alnum: 'A-Za-z0-9',
  print: ' -~',
  graph: '!-~',
  space: '\\s',
  punct: '!-/:-@',
}

/** Signals by which a daemon reads its settings again. */
const RELOADS = /^-(?:1|(?:SIG)?(?:HUP|USR[12]))$/

/** pkill and killall by name: everything, or something that includes the engine. */
const killByName: Program = (call, name) => {
  const byRegex = name !== 'killall'
  const given = selection(call, byRegex ? 'dFgGPrstuUO' : 'osuynZ')
  if (given.has('l', 'list', 'V', 'version', 'help')) return
  const signal = given.get('s', 'signal')
  if (signal === '0' || call.argv.includes('-0')) return
  const reloads = /^(?:SIG)?(?:HUP|USR[12])$/.test(signal ?? '') || call.argv.some((word) => RELOADS.test(word))
  const patterns = given.operands.map(plain)
  const exact = given.has('x', 'exact', 'e')
  const user = given.get('u', 'euid', 'U', 'uid', 'user')
  // Everything of another user, by name: that user's session ends, not this one.
  const others =
    user !== undefined &&
    /^[a-z_][\w-]*$/i.test(user) &&
    user !== 'root' &&
    !call.shell.get('USER').values.includes(user)
  if (patterns.length === 0 && others && !given.has('v', 'inverse')) return
  if (patterns.length === 0 && (user !== undefined || given.has('v', 'inverse')))
    return call.report('kill-everything', [name, ...call.args])
  for (const pattern of patterns) {
    const everything =
      byRegex || given.has('r', 'regexp')
        ? matchesEverything(pattern, byRegex && given.has('x', 'exact')) && !(byRegex && isNarrowed(given))
        : /^[.^*$\s]+$/.test(pattern) && pattern !== '.'
    if (everything) call.report('kill-everything', [name, pattern])
    else if (given.has('v', 'inverse')) call.report('kill-everything', [name, '-v', pattern])
    else if (
      !reloads &&
      /^(init|systemd|sshd|systemd-logind|dbus-daemon|Xorg|gnome-shell)$/.test(pattern) &&
      !given.has('P', 'parent')
    )
      call.report('kill-everything', [name, pattern])
    else if (call.walker.settings.own.names.some((ours) => namesUs(name, pattern, ours, exact, given.has('f', 'full'))))
      killsHost(call, pattern)
  }
}

function namesUs(program: string, pattern: string, ours: string, exact: boolean, full: boolean): boolean {
  if (hasUnknown(pattern)) return false
  if (program === 'killall' || exact) return pattern === ours
  if (full && !/^[\w.-]+$/.test(pattern)) return false
  return isQuicklyTried(pattern) && (posixExpression(pattern, false)?.test(ours) ?? false)
}

/** pgrep prints the pids that pkill would signal. */
const pgrep: Program = (call) => {
  const given = selection(call, 'dFgGPrstuUO')
  if (isNarrowed(given) || given.has('c', 'count')) return ANYTHING
  const [pattern] = given.operands.map(plain)
  const everything =
    pattern === undefined
      ? given.get('u', 'euid', 'U', 'uid') !== undefined
      : matchesEverything(pattern, given.has('x', 'exact'))
  return everything || given.has('v', 'inverse') ? EVERY_PID : ANYTHING
}

export const SIGNAL_PROGRAMS: Readonly<Record<string, Program>> = {
  kill,
  ...table(['pkill', 'killall', 'skill'], killByName),
  killall5: (call) => {
    if (!onlyTalks(call.args)) call.report('kill-everything')
    return NOTHING
  },
  ps: ({ argv }) =>
    argv.slice(1).some((word) => /^-?\w*[eAax]/.test(word)) && !argv.some((word) => /^-[pC]/.test(word))
      ? EVERY_PID
      : ANYTHING,
  slay: (call) => {
    const users = options(call.args).operands.map(plain)
    if (users.some((user) => user === 'root' || call.shell.get('USER').values.includes(user)))
      call.report('kill-everything')
    return NOTHING
  },
  ...table(['gdb', 'lldb', 'strace', 'ltrace', 'gcore', 'reptyr'], debuggers),
  pgrep,
  pidof: () => ANYTHING,
}
