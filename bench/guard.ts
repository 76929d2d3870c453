/** What a verdict costs: loading the guard once, typical commands, the heaviest the limits let through. */
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'

const context = { cwd: '/home/u/proj', home: '/home/u', tmp: '/tmp' }

const started = performance.now()
const { inspect } = await import('../src/guard/inspect.js')
const loadMs = performance.now() - started
const firstStart = performance.now()
inspect('git status', context)
const firstMs = performance.now() - firstStart

const TYPICAL = [
  'git status',
  'npm test -- --watch=false 2>&1 | tail -50',
  'cd src && grep -rn "TODO" --include="*.ts" . | head -20',
  'for f in *.log; do gzip "$f"; done',
  "find . -name '*.pyc' -print0 | xargs -0 rm -f",
  'sudo env X=1 bash -c "rm -rf $HOME/"',
  "cat > notes.md <<'EOF'\n# Notes\nsome text\nEOF",
  'python3 -c \'import json,sys; print(json.load(sys.stdin)["a"])\' < x.json',
]

function times(commands: readonly string[], rounds: number): number[] {
  const all: number[] = []
  for (let round = 0; round < rounds; round++) {
    for (const command of commands) {
      const start = performance.now()
      inspect(command, context)
      all.push(performance.now() - start)
    }
  }
  return all.sort((a, b) => a - b)
}

const at = (sorted: readonly number[], share: number): number =>
  Number((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(3))
times(TYPICAL, 50)
const typical = times(TYPICAL, 500)
const corpus = readFileSync(new URL('file://' + process.cwd() + '/test/corpus/dangerous.jsonl'), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => (JSON.parse(line) as { cmd: string }).cmd)
const labelled = times(corpus, 5)
const script = Array.from({ length: 500 }, (_, i) => `echo "step ${i}" && test -f "file${i}" || touch "file${i}"`).join(
  '\n',
)

/**
 * Whole scripts of this machine, each once: what its programs and packages are made of. More directories may be named
 * in SCRIPTS.
 */
function scriptsOfThisMachine(): string[] {
  const found = new Set<string>()
  const look = (directory: string, depth: number): void => {
    let names: string[] = []
    try {
      names = readdirSync(directory)
    } catch {
      // Not for us to read, or not there.
    }
    for (const name of names) {
      const path = join(directory, name)
      const about = lstatSync(path, { throwIfNoEntry: false })
      if (about?.isDirectory() && depth < 12) look(path, depth + 1)
      if (!about?.isFile() || about.size < 20 || about.size > 2_000_000) continue
      const named = /\.(?:sh|bash|tests|sub)$/.test(name)
      if (!named && name.includes('.') && !/\.(?:pre|post)(?:inst|rm)$/.test(name)) continue
      const text = readFileSync(path, 'utf8')
      if (!text.includes('\0') && (named || /^#!\s*\S*\/(?:env )?(?:ba|da)?sh\b/.test(text))) found.add(text)
    }
  }
  const more = (process.env['SCRIPTS'] ?? '').split(':').filter((path) => path !== '')
  for (const directory of ['/usr', '/etc', '/var/lib/dpkg/info', 'node_modules', ...more]) look(directory, 0)
  return [...found]
}

/**
 * CPU time of one verdict each, this process as a whole, its collector and compiler included: the first time each
 * script is seen, and the best of three rounds over all of them. V8's compiler works beside the first thousand
 * verdicts and is charged to whichever is under way; three times in a row would measure it three times.
 */
function cpuTimes(all: readonly string[]): { first: number[]; best: number[] } {
  const once = (text: string): number => {
    const before = process.cpuUsage()
    inspect(text, context)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  }
  const rounds = [0, 1, 2].map(() => all.map(once))
  const best = all.map((_, i) => Math.min(...rounds.map((round) => round[i] ?? Infinity)))
  return { first: (rounds[0] ?? []).sort((a, b) => a - b), best: best.sort((a, b) => a - b) }
}

const spread = (sorted: readonly number[]): Record<string, number> => ({
  median: at(sorted, 0.5),
  p99: at(sorted, 0.99),
  p999: at(sorted, 0.999),
  max: at(sorted, 1),
})

/** How long an engine that judges the longest scripts, one after the other, does nothing else. */
async function loopHeldMs(longest: readonly string[]): Promise<{ judging: number; idle: number }> {
  const { createEngine } = await import('../src/index.js')
  const stateDir = mkdtempSync(join(tmpdir(), 'cerith-bench-'))
  const engine = await createEngine({ stateDir })
  await engine.check(longest[0] ?? 'true')
  const delays = monitorEventLoopDelay({ resolution: 1 })
  delays.enable()
  for (const text of longest) await engine.check(text)
  const judging = delays.max
  delays.reset()
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  const idle = delays.max
  delays.disable()
  await engine.close()
  rmSync(stateDir, { recursive: true, force: true })
  return { judging: Number((judging / 1e6).toFixed(1)), idle: Number((idle / 1e6).toFixed(1)) }
}

const scripts = scriptsOfThisMachine()
const scriptTimes = cpuTimes(scripts)
const longest = [...scripts].sort((a, b) => b.length - a.length).slice(0, 20)
const heldMs = await loopHeldMs(longest)

console.log(
  JSON.stringify(
    {
      load_ms: Number(loadMs.toFixed(1)),
      first_verdict_ms: Number(firstMs.toFixed(1)),
      typical_ms: { median: at(typical, 0.5), p99: at(typical, 0.99) },
      corpus_ms: { median: at(labelled, 0.5), p99: at(labelled, 0.99), max: at(labelled, 1) },
      scripts_of_this_machine: {
        count: scripts.length,
        kilobytes: Math.round(scripts.reduce((sum, text) => sum + text.length, 0) / 1_000),
        cpu_ms: spread(scriptTimes.best),
        cpu_ms_at_first_sight: spread(scriptTimes.first),
        longest_kilobytes: Math.round((longest[0]?.length ?? 0) / 1_000),
        event_loop_held_at_most_ms: heldMs,
      },
      script_of_500_lines_ms: at(times([script], 5), 0.5),
      one_mb_of_commands_ms: at(times(['a;'.repeat(500_000)], 2), 0),
      ten_thousand_subshells_ms: at(times(['('.repeat(10_000) + 'ls' + ')'.repeat(10_000)], 5), 0.5),
    },
    null,
    2,
  ),
)
