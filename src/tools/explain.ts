/** Tells a reader what an exit code does not say: that grep only found nothing, or that a path with spaces was not quoted. */
import type { Engine } from '../contract/engine.js'
import type { Outcome } from '../contract/outcome.js'
import { quote } from './quote.js'

export interface Explanation {
  /** What exit 1 means for a program that answers "no" with it; null when the command failed. */
  readonly meaning: string | null
  readonly notes: readonly string[]
}

const NOTHING: Explanation = { meaning: null, notes: [] }

/** Looks only at commands that ended with a non-zero exit code; costs nothing otherwise. */
export async function explain(engine: Engine, outcome: Outcome, command: string | readonly string[], session?: string): Promise<Explanation> {
  if (outcome.status !== 'failed' || outcome.exitCode === null || outcome.exitCode === 0) return NOTHING
  const meaning = outcome.exitCode === 1 ? await meaningOfOne(engine, command, session) : null
  if (meaning !== null) return { meaning, notes: [`exit 1 here means: ${meaning}`] }
  const path = typeof command === 'string' ? await unquotedPath(engine, outcome, command) : null
  return path === null ? NOTHING : { meaning: null, notes: [`this path exists and has spaces, so it must be quoted: ${quote(path)}`] }
}

/** Programs whose exit 1 is an answer. Git and others are here only with the subcommand that answers. */
const ANSWERS: readonly { readonly words: readonly string[]; readonly meaning: string }[] = [
  ...['grep', 'egrep', 'fgrep', 'zgrep', 'rg', 'ag', 'ack'].map((name) => ({ words: [name], meaning: `no match (${name})` })),
  { words: ['git', 'grep'], meaning: 'no match (git grep)' },
  { words: ['pgrep'], meaning: 'no process matched (pgrep)' },
  ...['diff', 'cmp'].map((name) => ({ words: [name], meaning: `the files differ (${name})` })),
  { words: ['git', 'diff'], meaning: 'there are differences (git diff)' },
  ...['test', '[', '[['].map((name) => ({ words: [name], meaning: `the condition is false (${name})` })),
  ...['which', 'type'].map((name) => ({ words: [name], meaning: `not found (${name})` })),
]

// With `&&`, `exit` or errexit the last command may never have been reached: saying "no match" could then be false.
const MAYBE_NOT_REACHED = /&&|\bexit\b|\breturn\b|\bset\s+-\w*e|\berrexit\b|\bbreak\b/

async function meaningOfOne(engine: Engine, command: string | readonly string[], session?: string): Promise<string | null> {
  if (typeof command === 'string' && MAYBE_NOT_REACHED.test(command)) return null
  const verdict = await engine.check(command, session === undefined ? {} : { session })
  const { finalCommand, parsedOk } = verdict.facts
  if (finalCommand === null || !parsedOk) return null
  const argv = verdict.commands.findLast((words) => baseName(words[0] ?? '') === baseName(finalCommand)) ?? [finalCommand]
  const words = [baseName(argv[0] ?? ''), ...argv.slice(1)]
  return ANSWERS.find((answer) => answer.words.every((word, index) => words[index] === word))?.meaning ?? null
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

const COULD_BE_A_SPLIT_PATH = /no such file|not found|cannot (?:access|stat|open|find|create)|does ?n[o']t exist|too many arguments|ambiguous redirect|is a directory|not a directory/i
const MAX_WORDS_IN_A_PATH = 8
const MAX_CANDIDATES = 64

/** The longest run of neighbouring unquoted words that together name something that exists. */
async function unquotedPath(engine: Engine, outcome: Outcome, command: string): Promise<string | null> {
  if (command.length > 4_096 || !COULD_BE_A_SPLIT_PATH.test(`${outcome.stderr}${outcome.output ?? ''}`)) return null
  const candidates = spacedCandidates(command)
  if (candidates.length === 0) return null
  // The shell itself is asked, so that the answer holds wherever it runs.
  const looked = await engine.run({
    command: ['bash', '-c', 'for p; do q=$p; [[ $q == "~/"* ]] && q=$HOME/${q:2}; if [[ -e $q ]]; then printf "%s" "$p"; exit; fi; done', 'look', ...candidates],
    cwd: outcome.cwd,
    timeoutMs: 2_000,
    clip: { kind: 'none' },
  })
  return looked.status === 'completed' && looked.stdout !== '' ? looked.stdout : null
}

/** Runs of two or more plain words that are separated by single blanks, longest first. */
export function spacedCandidates(command: string): readonly string[] {
  const candidates: string[] = []
  // Quotes, expansions and operators end a run: within them the blank is not what splits the path.
  for (const run of command.split(/["'`$\n;&|<>(){}*?]+/)) {
    const words = run.replaceAll('\\ ', '\u0000').split(' ')
    for (let size = Math.min(MAX_WORDS_IN_A_PATH, words.length); size >= 2; size -= 1) {
      for (let at = 0; at + size <= words.length; at += 1) {
        const chosen = words.slice(at, at + size)
        if (chosen.some((word) => word === '' || word.includes('\u0000')) || chosen[0]!.startsWith('-')) continue
        candidates.push(chosen.join(' '))
      }
    }
  }
  return [...new Set(candidates)].sort((a, b) => b.length - a.length).slice(0, MAX_CANDIDATES)
}
