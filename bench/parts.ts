/**
 * What the parts of a new command cost where a session spends its time: with empty caches, because everything else that
 * ran on the processor since the last command has taken them. Each part alone, behind a walk through more memory than
 * any cache holds; the sum of the stream is in `stream.ts`.
 */
import { homedir, tmpdir } from 'node:os'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Capture } from '../src/engine/call/capture.js'
import { realPath } from '../src/engine/services/judge/disk-looks.js'
import { firstLook } from '../src/guard/first-look.js'
import { inspect } from '../src/guard/inspect.js'
import type { GuardContext } from '../src/guard/policy/context.js'
import { shellFacts } from '../src/guard/walk/shell-facts.js'
import { parseScript } from '../src/guard/words/syntax.js'
import { listed, VARIANTS, workspace } from './lib/everyday.js'
import { mixed } from './lib/mixed.js'

const root = mkdtempSync(join(tmpdir(), 'cerith-parts-'))
const state = join(root, 'state')
const context: GuardContext = {
  cwd: workspace(root, 'project'),
  home: homedir(),
  tmp: '/tmp',
  variables: { HOME: homedir(), PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
  functions: {},
  aliases: {},
  protectedPaths: [state, '/dev/shm/cerith-bench'],
  unreadablePaths: ['vault', 'vault.key', 'http-tokens'].map((name) => join(state, name)),
  resolveSymlink: realPath,
}

const memory = new Uint8Array(48 * 1024 * 1024)
function emptyCaches(): void {
  for (let at = 0; at < memory.length; at += 64) memory[at] = (memory[at] as number) + 1
}

function microseconds(part: () => unknown): number {
  emptyCaches()
  const began = performance.now()
  part()
  return (performance.now() - began) * 1_000
}

/** Without the slowest 3 of 100, which are the machine's. */
function mean(values: readonly number[]): string {
  const kept = [...values].sort((a, b) => a - b).slice(0, Math.ceil(values.length * 0.97))
  return (kept.reduce((all, one) => all + one, 0) / kept.length).toFixed(0).padStart(5)
}

const streams = { 'the list': listed(), 'by chance': mixed(Number(process.env['SEED'] ?? 1), VARIANTS * 40) }
console.log(
  '\nmicroseconds on empty caches; a verdict holds the parts before it, and a walk where the first look is not enough',
)
for (const [name, commands] of Object.entries(streams)) {
  const times: Record<string, number[]> = { parse: [], 'first look': [], facts: [], verdict: [], output: [] }
  const note = (part: string, what: () => unknown): void => void times[part]?.push(microseconds(what))
  for (const [at, command] of commands.entries()) {
    const script = parseScript(command)
    note('parse', () => parseScript(command))
    note('first look', () => firstLook(script.commands, command, context))
    note('facts', () => shellFacts(script, command))
    note('verdict', () => inspect(command, context))
    const printed = Buffer.from(`some words ${at}\nand more\n`)
    note('output', () => {
      const capture = new Capture({
        stream: 'stdout',
        masker: null,
        ansi: 'strip',
        progress: 'collapse',
        binary: 'describe',
        onOutput: () => {},
        onBytes: null,
        live: () => false,
        memoryBytes: 1 << 20,
        clip: 'ends',
        openSpill: null,
        spillAfterBytes: 1 << 20,
      })
      void capture.push(printed)
      capture.end()
      return capture.text({ kind: 'ends', maxChars: 30_000 })
    })
  }
  const parts = Object.entries(times).map(([part, values]) => `${part} ${mean(values)}`)
  console.log(`  ${name.padEnd(10)} ${parts.join('   ')}`)
}
rmSync(root, { recursive: true, force: true })
