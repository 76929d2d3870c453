/** What a verdict costs: loading the guard once, typical commands, the heaviest the limits let through. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

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

/** Whole scripts of this machine: what its programs and packages are made of. More directories may be named in SCRIPTS. */
function scriptsOfThisMachine(): string[] {
  const directories = [
    '/usr/bin',
    '/usr/sbin',
    '/usr/lib/git-core',
    '/etc/init.d',
    '/var/lib/dpkg/info',
    ...(process.env['SCRIPTS'] ?? '').split(':').filter((path) => path !== ''),
  ]
  return directories.flatMap((directory) => {
    try {
      return readdirSync(directory).flatMap((name) => {
        const path = join(directory, name)
        const found = statSync(path, { throwIfNoEntry: false })
        if (!found?.isFile() || found.size > 400_000) return []
        const text = readFileSync(path, 'utf8')
        return /^#!\s*\S*\/(?:env )?(?:ba|da)?sh\b/.test(text) ? [text] : []
      })
    } catch {
      return []
    }
  })
}

/** CPU time of one verdict each, this process as a whole: its collector and compiler included. */
function cpuTimes(scripts: readonly string[]): number[] {
  return scripts
    .map((text) => {
      const before = process.cpuUsage()
      inspect(text, context)
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1_000
    })
    .sort((a, b) => a - b)
}

const scripts = scriptsOfThisMachine()
const scriptTimes = cpuTimes(scripts)

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
        cpu_ms: {
          median: at(scriptTimes, 0.5),
          p99: at(scriptTimes, 0.99),
          p999: at(scriptTimes, 0.999),
          max: at(scriptTimes, 1),
        },
      },
      script_of_500_lines_ms: at(times([script], 5), 0.5),
      one_mb_of_commands_ms: at(times(['a;'.repeat(500_000)], 2), 0),
      ten_thousand_subshells_ms: at(times(['('.repeat(10_000) + 'ls' + ')'.repeat(10_000)], 5), 0.5),
    },
    null,
    2,
  ),
)
