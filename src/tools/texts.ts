/** Sentences and small formats that every dialect shares, so that a fact reads the same everywhere. */
import type { Note } from '../contract/note.js'
import { messageOf, ShellError } from '../contract/errors.js'
import type { Doing, JobInfo } from '../contract/job.js'
import type { End, Outcome } from '../contract/outcome.js'
import { utf8Length } from '../output/utf8.js'
import { isDescription, sizeWords } from '../output/binary.js'
import type { Policy } from './dialect.js'
import type { Part } from './reading/read.js'
import type { ToolResult } from './tool.js'
import type { Ran } from './toolbox.js'

/** 12ms, 3.4s, 2m 5s: what a person would say. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0).replace(/\.0$/, '')}s`
  return `${Math.floor(ms / 60_000)}m ${Math.round((ms % 60_000) / 1_000)}s`
}

/**
 * Says that it was blocked, by which rule, and what to do instead. For what can never be undone
 * the engine's own reason says "dangerous".
 */
export function refusalText(outcome: Outcome, command: string): string {
  const { rule, reason, guidance, isWhole } = outcome.refused ?? { rule: 'policy', reason: '', guidance: '' }
  const shown = command.length > 200 ? `${command.slice(0, 200)}...` : command
  const head = isWhole ? '' : `Command blocked (rule: ${rule}): ${shown}`
  return [head, reason, guidance].filter((line) => line !== '').join('\n')
}

export function errorText(error: ShellError): string {
  if (!error.hint) return error.message
  return `${error.message}${/[.!?:]$/.test(error.message) ? '' : '.'} ${error.hint}`
}

export function dryRunText(command: string): string {
  return `[Dry Run] Would execute: ${command}`
}

/** The last line of a stream may lack its newline; whatever follows must still begin on a line of its own. */
export function lines(...parts: readonly string[]): string {
  let joined = ''
  for (const part of parts) {
    if (part === '') continue
    joined += joined === '' || joined.endsWith('\n') ? part : `\n${part}`
  }
  return joined
}

/** stdout, then stderr under its marker. */
function withStderr(stdout: string, stderr: string, marker = '[stderr]'): string {
  return stderr === '' ? stdout : lines(stdout, marker === '' ? '' : `${marker}\n`, stderr)
}

/** Everything a finished or yielded command printed, as one text. */
export function bodyOf(outcome: Outcome, marker = '[stderr]'): string {
  return outcome.output ?? withStderr(outcome.stdout, outcome.stderr, marker)
}

/**
 * `clipped, 23 MB in all, whole in FILE`; '' for what is all there. Hosts cut the middle out of
 * long texts: this belongs to the first line.
 */
export function clippedWords(outcome: Outcome): string {
  if (!outcome.truncated) return ''
  const where = outcome.outputFile === null ? '' : `whole in ${outcome.outputFile}`
  const shown = outcome.output ?? outcome.stdout
  // The description of binary output says how much it was.
  if (isDescription(shown)) return where
  const bytes = outcome.omittedBytes + utf8Length(shown) + utf8Length(outcome.output === null ? outcome.stderr : '')
  return [`clipped, ${sizeWords(bytes)} in all`, where].filter(Boolean).join(', ')
}

/** The file is named in the first line: naming it again in the middle costs tokens and says nothing. */
export function withoutFile(body: string, file: string | null): string {
  return file === null
    ? body
    : body.replaceAll(`; whole output: ${file} ...]`, ' ...]').replaceAll(`; whole in ${file}]`, ']')
}

/** What the next step with a running job depends on: where it listens, what it asks. */
export function doingWords(info: JobInfo, { listening, waitingForInput }: Doing): string[] {
  return [
    ...(listening.length > 0 ? [`listening on ${listening.slice(0, 5).join(', ')}`] : []),
    ...(waitingForInput ? [`waiting for input: ${JSON.stringify(waitingForInput.prompt)}`] : []),
    ...(info.isRunning && info.bytes.total === 0 && listening.length > 0 ? ['nothing printed yet'] : []),
  ]
}

/** Advice names the field that gives a command a terminal; where a dialect has no such field, it is left out. */
export function inWordsOf(field: Policy['terminal'], note: Note): Note {
  if (field === 'pty' || !note.text.includes('use pty')) return note
  const text =
    field === null
      ? note.text.replaceAll(/, or use pty(?: and type it)?/g, '').replaceAll('use pty, or ', 'use ')
      : note.text.replaceAll('use pty', `use ${field}`)
  return { ...note, text }
}

export function bodyOfParts(parts: readonly Part[], marker = '[stderr]'): string {
  const of = (stream: Part['stream']): string => parts.find((part) => part.stream === stream)?.text ?? ''
  return of('output') === '' ? withStderr(of('stdout'), of('stderr'), marker) : of('output')
}

/** How a process ended in two or three words: "exit 1", "signal SIGSEGV", "by claude-code". */
export function endWords(of: Pick<JobInfo, 'exitCode' | 'signal' | 'end'>): string {
  if (of.end?.kind === 'kill') return killWords(of.end)
  if (of.signal !== null) return `signal ${of.signal}`
  return of.exitCode === null ? 'no exit code' : `exit ${of.exitCode}`
}

/** How a command failed, in a sentence: "exit code 1", "signal SIGSEGV". */
export function failureWords(outcome: Outcome): string {
  return outcome.signal === null ? `exit code ${outcome.exitCode}` : endWords(outcome)
}

/** Who or what killed it. */
function killWords({ by, who, over }: Extract<End, { kind: 'kill' }>): string {
  if (by === 'limit') return `over its ${over ? LIMIT_WORDS[over.limit] : ''} limit`
  return by === 'close' ? 'with its engine' : who === undefined ? 'on request' : `by ${who}`
}

const LIMIT_WORDS = { memoryBytes: 'memory', processes: 'process', cpuSeconds: 'CPU' } as const

/** For the results of commands that failed. */
export function byExit({ outcome }: Ran): Pick<ToolResult, 'failedByExit'> {
  return outcome.status === 'failed' && outcome.exitCode !== null ? { failedByExit: true } : {}
}

export function noteLines(notes: readonly Note[]): string {
  return notes.map(({ text }) => `[note: ${text}]`).join('\n')
}

/** "running for 3s" or "completed (exit 0) after 3s". */
export function jobWords(info: JobInfo): string {
  if (info.isRunning) return `${info.status} for ${duration(info.durationMs)}`
  if (info.status === 'timeout') return `timed out after ${duration(info.durationMs)}`
  return `${info.status} (${endWords(info)}) after ${duration(info.durationMs)}`
}

export function good(text: string, structured: Record<string, unknown>): ToolResult {
  return { text, structured, isError: false }
}

export function bad(text: string, structured: Record<string, unknown>): ToolResult {
  return { text, structured, isError: true }
}

export function asShellError(error: unknown): ShellError {
  if (ShellError.is(error)) return error
  return new ShellError(
    'SPAWN_FAILED',
    `Failed to execute: ${messageOf(error)}`,
    'This is not a fault of the command; try again, or tell a person.',
    { cause: error },
  )
}
