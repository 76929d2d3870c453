/**
 * The oracle of sessions: one plain bash that is given the same commands, and what both of them print, answer and
 * remember.
 */
import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Engine } from '../../../src/index.js'

export interface Step {
  readonly code: number | null
  readonly stdout: string
  /** As `plainErrors` has it. */
  readonly stderr?: string
  /** `PIPESTATUS` */
  readonly stages?: readonly number[]
}

export interface Story {
  readonly steps: readonly Step[]
  readonly state: Readonly<Record<string, string>>
}

/** What both shells start from: nothing of the machine that runs the tests. */
export const ORACLE_ENV = { PATH: process.env['PATH'] ?? '/usr/bin:/bin', HOME: '/tmp', LANG: 'C.UTF-8' }

const SEPARATOR = '\x1e'
/** The same as printf spells it, so that the text of a command does not hold the separator itself. */
const SPELLED = String.raw`\036`
/** Printed by builtins, called by their full name: the shell under test may have shadowed any of them. */
const PROBES: Readonly<Record<string, string>> = {
  cwd: 'builtin pwd',
  variables: 'builtin declare -p',
  functions: 'builtin declare -f',
  exportedFunctions: 'builtin declare -xF',
  aliases: 'builtin alias -p',
  shopts: 'builtin shopt -p',
  options: 'builtin set +o',
  umask: 'builtin umask',
  traps: 'builtin trap -p',
  jobs: 'builtin jobs',
  positional: `builtin printf '<%s>' "$@"`,
  directories: 'builtin dirs -l -p',
}
const PROBE = Object.values(PROBES)
  .map((probe) => `${probe} 2>/dev/null; builtin printf '${SPELLED}'`)
  .join('; ')

/** Names that bash sets by itself, or that differ between any two shells. */
const OF_ONE_SHELL =
  /^(?:BASH\w*|COLUMNS|LINES|EPOCH\w+|EUID|UID|PPID|GROUPS|HIST\w*|HOST\w+|MACHTYPE|OSTYPE|PIPESTATUS|PS[0124]|pid\w*|fd|S?RANDOM|SECONDS|SHELLOPTS|SHLVL|LINENO|FUNCNAME|OPTERR|CERITH_ENGINE|_|__oracle\w*|__cerith\w*)$/
/** What an interactive shell without a terminal has set differently, by design. */
const BY_DESIGN = /\b(?:checkwinsize|expand_aliases|histexpand|history|emacs|vi|monitor)\b/

/** Some stories wait for ever, in any bash (`cat` on a pipe that the story itself holds). */
const LONGEST_MS = 30_000

/**
 * Runs the commands in one plain bash; after each, a line of the oracle's notes the status and leaves `$?` and `$_` as
 * they were. What came after one that did not end has no code.
 */
export async function askPlainBash(
  bash: string,
  commands: readonly string[],
  dir: string,
  scratch: string,
): Promise<Story> {
  emptyDirectory(dir)
  const output = join(scratch, 'output')
  const errors = join(scratch, 'errors')
  const script = join(scratch, 'script')
  writeFileSync(output, '')
  writeFileSync(errors, '')
  const mark = `__oracle_mark "\${PIPESTATUS[@]}" "$_"`
  const define = `__oracle_mark() { __oracle_status=$?; __oracle_stages=("\${@:1:$#-1}"); builtin printf %b '${SPELLED}' "$__oracle_status" "\${__oracle_stages[@]/#/ }" '${SPELLED}' >>'${output}'; builtin printf '${SPELLED}%.0s' "$__oracle_status" >>'${errors}'; builtin return "$__oracle_status"; }`
  // On the left side of a list a status sets off neither an ERR trap nor `set -e`, and stays for the next command.
  const lines = commands.map((command) => `${command}\n${mark} && builtin : "$_"\n`)
  writeFileSync(script, `${define}\ncd '${dir}'\n${lines.join('')}${PROBE}\n`)
  const stdout = openSync(output, 'a')
  const stderr = openSync(errors, 'a')
  try {
    const child = spawn(bash, ['--norc', '--noprofile', '-O', 'expand_aliases', script], {
      cwd: dirname(dirname(dir)),
      env: { ...ORACLE_ENV, PWD: dirname(dirname(dir)) },
      stdio: ['ignore', stdout, stderr],
      detached: true,
    })
    const overdue = setTimeout(() => {
      console.warn(
        `a plain bash did not end within ${LONGEST_MS} ms and was ended; it was given: ${JSON.stringify(commands)}`,
      )
      process.kill(-(child.pid as number), 'SIGKILL')
    }, LONGEST_MS)
    await new Promise<void>((resolve, reject) => child.once('error', reject).once('exit', () => resolve()))
    clearTimeout(overdue)
  } finally {
    closeSync(stdout)
    closeSync(stderr)
  }
  const parts = readFileSync(output, 'utf8').split(SEPARATOR)
  const said = readFileSync(errors, 'utf8').split(SEPARATOR)
  rmSync(output)
  rmSync(errors)
  rmSync(script)
  const steps = commands.map((_, at): Step => {
    const [code = null, ...stages] = parts[at * 2 + 1]?.split(' ').map(Number) ?? []
    return {
      stdout: plainOutput((parts[at * 2] ?? '').replaceAll(script, 'bash')),
      code,
      stderr: plainErrors((said[at] ?? '').replaceAll(script, 'bash')),
      stages,
    }
  })
  return { steps, state: readProbe(parts.slice(commands.length * 2)) }
}

/** Gives the same commands to a session, one call each. */
export async function askSession(
  engine: Engine,
  name: string,
  commands: readonly string[],
  dir: string,
  more: { readonly input?: string } = {},
): Promise<Story> {
  emptyDirectory(dir)
  const session = await engine.session(name)
  try {
    const steps: Step[] = []
    for (const [at, command] of commands.entries()) {
      const outcome = await session.run({
        command,
        timeoutMs: 20_000,
        clip: { kind: 'none' },
        ...more,
        ...(at === 0 ? { cwd: dir } : {}),
      })
      if (outcome.end?.kind !== 'exit')
        throw new Error(`${JSON.stringify(command)} ended with ${JSON.stringify(outcome.end ?? outcome.refused)}`)
      steps.push({
        code: outcome.exitCode,
        stdout: plainOutput(outcome.stdout),
        stderr: plainErrors(outcome.stderr),
        ...(outcome.pipeStatus && { stages: outcome.pipeStatus }),
      })
    }
    const probed = await session.run({ command: PROBE, clip: { kind: 'none' } })
    return { steps, state: readProbe(probed.stdout.split(SEPARATOR)) }
  } finally {
    await session.close()
  }
}

/** The state of a shell that can be asked. */
export async function readState(
  run: (command: string) => Promise<{ readonly stdout: string }>,
): Promise<Readonly<Record<string, string>>> {
  return readProbe((await run(PROBE)).stdout.split(SEPARATOR))
}

/**
 * What bash says, without what differs between any two shells: the line, process numbers. A session says nothing of
 * a program that a signal ended (docs/sessions.md).
 */
export function plainErrors(text: string): string {
  return (
    text
      .replace(/\bline \d+: /g, '')
      .replace(/\b\d{2,}\b/g, 'N')
      .replace(/^(?:Killed|Terminated|Hangup|Segmentation fault)\b.*\n/gm, '')
      // Of a pipeline a script tells of all stages.
      .replace(/^(?:bash:)? +N +[A-Z|].*\n/gm, '')
  )
}

/**
 * A DEBUG trap of the sequence also sees the oracle's own lines; after `exec 2>&1` bash says here in which line of
 * which file a mistake is, and a session has other files.
 */
export function plainOutput(text: string): string {
  const plain = text.replace(/\bbash: line \d+: /g, 'bash: ')
  return /__oracle|builtin : "\$_"/.test(plain)
    ? plain
        .split('\n')
        .filter((line) => !/__oracle|builtin : "\$_"/.test(line))
        .join('\n')
    : plain
}

function readProbe(parts: readonly string[]): Record<string, string> {
  const state = Object.fromEntries(Object.keys(PROBES).map((name, at) => [name, parts[at] ?? '(missing)']))
  return {
    ...state,
    variables: declarations(state['variables'] as string),
    functions: (state['functions'] as string).replace(/^__oracle_mark \(\)[\s\S]*?^\}\n/m, ''),
    // When finished jobs leave the table differs between shells that notify and shells that do not; one that only
    // exits may not have been heard of yet.
    jobs: (state['jobs'] as string)
      .split('\n')
      .filter((line) => /Running|Stopped/.test(line) && !/\( exit \d+ \)/.test(line))
      .join('\n'),
    shopts: (state['shopts'] as string)
      .split('\n')
      .filter((line) => !BY_DESIGN.test(line))
      .join('\n'),
    options: (state['options'] as string)
      .split('\n')
      .filter((line) => !BY_DESIGN.test(line))
      .join('\n'),
  }
}

function declarations(text: string): string {
  return text
    .split(/\n(?=declare )/)
    .filter((line) => !OF_ONE_SHELL.test(/^declare \S+ (\w+)/.exec(line)?.[1] ?? ''))
    .join('\n')
    .trim()
}

export function emptyDirectory(dir: string): void {
  // Its parent too: a sequence may go there.
  rmSync(dirname(dir), { recursive: true, force: true })
  mkdirSync(join(dir, 'sub', 'deep'), { recursive: true })
  writeFileSync(join(dir, 'lines.txt'), 'one\ntwo\nthree\n')
}
