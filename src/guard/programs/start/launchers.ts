/**
 * Programs that start another one in a place of its own: other users, other machines, terminals, debuggers, sandboxes.
 */
import { plain, UNKNOWN } from '../../words/text.js'
import { judgeCode } from '../code/inline.js'
import { type Call, known, longOption, options, type OptionSpec, type Program } from '../row/call.js'

/** `su -c CMD`, `script -c CMD`, `flock FILE -c CMD`, `nix-shell --run CMD`: the command line is an option's value. */
export const byOption: Program = (call, name) => {
  const spec: OptionSpec =
    {
      su: { short: 'cgGsw', long: ['command', 'group', 'shell', 'session-command', 'supp-group'] },
      runuser: { short: 'cugGsw', long: ['command', 'user', 'group', 'shell', 'session-command'] },
      script: { short: 'cEoTBIOm', long: ['command', 'log-in', 'log-out', 'log-io', 'log-timing', 'echo'] },
      flock: { short: 'cwE', long: ['command', 'timeout', 'wait', 'conflict-exit-code'] },
      sg: { short: 'c' },
      'nix-shell': { short: 'pIA', long: ['run', 'command', 'packages'] },
      expect: { short: 'c' },
      nodemon: { short: 'xewi', long: ['exec', 'ext', 'watch', 'ignore'] },
      screen: { short: 'SXtTspcehR' },
    }[name] ?? {}
  const given = options(call.args, spec)
  const lines = given.all('c', 'command', 'run', 'session-command', 'x', 'exec')
  for (const line of lines) call.script(plain(line), call.stdin)
  if (lines.length > 0) return
  const strict = options(call.args, { ...spec, stop: true })
  const isNamed = name === 'runuser' && strict.get('u', 'user') !== undefined
  // The lock file, or the user, stands in front.
  const rest = strict.operands.slice(/^(?:flock|sg|su|runuser)$/.test(name) && !isNamed ? 1 : 0)
  if (name === 'script' && rest.length > 1) return call.start(rest.slice(rest[1] === '--' ? 2 : 1), call.stdin)
  if (name === 'script' || name === 'expect' || name === 'nix-shell' || rest.length === 0)
    return shellIfEmpty(call, 'su')
  if (rest[0] === '-c') return call.script(plain(rest[1] ?? ''), call.stdin)
  if (name === 'sg') return call.script(rest.map(plain).join(' '), call.stdin)
  if (name === 'su') return call.start(['sh', ...rest], call.stdin)
  return call.start(rest, call.stdin)
}

/** `unshare`, `chroot DIR` or `sudo -s` without a command start a shell that reads stdin. */
export function shellIfEmpty(call: Call, name: string): undefined {
  if (/^(sudo|doas|su|unshare|nsenter|chroot|fakeroot|setpriv|newgrp)$/.test(name) && call.stdin)
    call.start(['sh'], call.stdin)
  return undefined
}

/** ssh HOST words...: the words are joined and given to the far shell; ProxyCommand runs here. */
export const ssh: Program = (call, name) => {
  const given = options(call.args, { short: 'bcDEeFIiJLlmOopQRSWwB', stop: true })
  for (const option of given.all('o')) {
    const local = /^(?:ProxyCommand|LocalCommand|KnownHostsCommand|RemoteCommand)[= ](.*)$/is.exec(plain(option))
    if (local) call.script(local[1] ?? '')
  }
  if (name === 'mosh') for (const line of options(call.args, { long: ['ssh'] }).all('ssh')) call.tryScript(plain(line))
  const rest = name === 'sshpass' ? given.operands : given.operands.slice(1)
  if (rest.length > 0) call.script(rest.map(plain).join(' '), call.stdin)
  else for (const text of call.stdin ?? []) if (text !== UNKNOWN) call.tryScript(text)
}

export const sshpass: Program = (call) => {
  const given = options(call.args, { short: 'pfdP', stop: true })
  return given.operands.length > 0 ? call.start(given.operands, call.stdin) : undefined
}

/** The lines of a file of commands that this command or its session wrote. */
function linesOf(call: Call, file: string): string[] {
  return call.contents(file).flatMap((text) => (known(text) ? plain(text).split('\n') : []))
}

/** gdb --args PROGRAM ...; -ex 'shell CMD', -ex '!CMD'. */
export const gdb: Program = (call) => {
  const at = call.argv.findIndex((arg) => arg === '-args' || longOption(arg, ['--args']))
  const lines = call.argv.flatMap((arg, i) => {
    const value = call.argv[i + 1] ?? ''
    if (/^--?(ex|eval-command|o|one-line)$/.test(arg)) return [plain(value)]
    return /^--?(x|command|s|source|ix|ex)$/.test(arg) ? linesOf(call, value) : []
  })
  for (const line of lines) {
    const shell = /^(?:(?:platform )?shell|!|make)\s*(.*)$/s.exec(line)
    const code = /^(?:python|py|pi)\s+(.*)$/s.exec(line)
    if (shell) call.script(shell[1] ?? '')
    const called = /\b(?:system|popen)\s*\(\s*"((?:[^"\\]|\\.)*)"/.exec(line)?.[1]
    if (called) call.tryScript(called)
    if (code) judgeCode(code[1] ?? '', 'python', call)
  }
  return at >= 0 ? call.start(call.argv.slice(at + 1), call.stdin) : undefined
}

/** capsh's `--` hands everything after it to bash. */
export const capsh: Program = (call) => {
  const at = call.argv.findIndex((arg) => arg === '--' || arg === '==')
  return at >= 0 ? call.start(['bash', ...call.argv.slice(at + 1)], call.stdin) : undefined
}

/** bwrap has dozens of options with one or two values; the command follows the last of them. */
export const bwrap: Program = (call) => {
  const words = call.args
  // A directory of the machine has another name inside.
  for (const [at, word] of words.entries())
    if (/^--(?:dev-)?bind(?:-try)?$/.test(word))
      call.walker.namesakes.stands(plain(words[at + 2] ?? ''), plain(words[at + 1] ?? ''), 'mount')
  const dashes = words.indexOf('--')
  if (dashes >= 0) return call.start(words.slice(dashes + 1), call.stdin)
  const two =
    /^--(ro-bind|bind|dev-bind|bind-try|ro-bind-try|dev-bind-try|setenv|symlink|file|bind-data|ro-bind-data|chmod)$/
  const none = /^--(unshare-.*|share-net|die-with-parent|new-session|as-pid-1|clearenv|help|version|disable-userns)$/
  let i = 0
  while (i < words.length && (words[i] ?? '').startsWith('--'))
    i += two.test(words[i] ?? '') ? 3 : none.test(words[i] ?? '') ? 1 : 2
  return i < words.length ? call.start(words.slice(i), call.stdin) : undefined
}

/** tmux new-session 'cmd', tmux send-keys 'cmd' Enter; screen -X stuff: a word with blanks is typed or run. */
export const terminal: Program = (call, name) => {
  const option = name === 'tmux' ? '-f' : '-c'
  const configured = call.argv.flatMap((word, i) => (word === option ? linesOf(call, call.argv[i + 1] ?? '') : []))
  for (const line of configured)
    for (const text of [line.replace(/^\s*(?:screen|exec|run(?:-shell)?|new\S*|split\S*)\s+/, ''), ...quotedIn(line)])
      call.tryScript(text)
  for (const word of call.args)
    if (/\s/.test(word))
      call.tryScript(
        plain(word)
          .replace(/^(exec|stuff|run-shell) /, '')
          .replace(/^(["'])(.*)\1$/s, '$2')
          .replace(/(?:\\n|\^M)+$/, ''),
      )
  if (name !== 'tmux') return byOption(call, 'screen')
  const verb = call.argv.findIndex((arg) =>
    /^(new|new-session|new-window|neww|split-window|splitw|respawn-pane|run-shell|run|if-shell)$/.test(arg),
  )
  if (verb < 0) return
  const given = options(call.argv.slice(verb + 1), { short: 'sntcFexyltL', stop: true })
  if (given.operands.length > 0) call.script(given.operands.map(plain).join(' '))
}

function quotedIn(line: string): string[] {
  return [...line.matchAll(/(["'])(.*?)\1/g)].map((match) => match[2] ?? '')
}

/** Terminal emulators: `xterm -e CMD ...`. */
export const emulator: Program = (call) => {
  const at = call.argv.findIndex((arg) => arg === '-e' || arg === '-x' || arg === '--' || arg === '--command')
  for (const word of call.args) if (/\s/.test(word)) call.tryScript(plain(word).replace(/\\n$/, ''))
  // `kitty CMD`, `foot CMD`: without an option, the operands.
  const rest = at < 0 ? options(call.args, { stop: true, short: 'TtodcgW' }).operands : call.argv.slice(at + 1)
  if (rest.length === 1) call.script(plain(rest[0] ?? ''))
  else if (rest.length > 1) call.start(rest)
}
