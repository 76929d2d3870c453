/**
 * Recognises the line that a program asks on: passwords, yes or no, pagers, shells and
 * debuggers. Text only; what the kernel says counts more.
 */
import { stripAnsi } from '../../output/terminal/ansi.js'

const LONGEST_PROMPT = 200

/** The unfinished last line of an output, as it stands on the screen; empty when the output ended with a line end. */
export function openLine(tail: string): string {
  const plain = stripAnsi(tail)
  const line = plain.slice(plain.lastIndexOf('\n') + 1)
  // Everything before a lone carriage return has been written over.
  const parts = line.split('\r').filter((part) => part !== '')
  return (parts.at(-1) ?? '').replaceAll(/[\0-\x08\x0b-\x1f\x7f]/g, '').slice(-LONGEST_PROMPT)
}

/** What to show as the prompt: the open line, or the last line that says something. */
export function promptText(tail: string): string {
  const open = openLine(tail).trim()
  if (open) return open
  const lines = stripAnsi(tail)
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter(Boolean)
  return (lines.at(-1) ?? '').slice(-LONGEST_PROMPT)
}

/** Whether the last line looks like a question to the person at the terminal. */
export function looksLikePrompt(tail: string): boolean {
  const line = openLine(tail).trimEnd()
  if (line === '') return ASKING_LINES.some((shape) => shape.test(promptText(tail)))
  return SHAPES.some((shape) => shape.test(line))
}

const SHAPES: readonly RegExp[] = [
  // Answers offered: [y/N], (yes/no), [Y/n/a], (yes/no/[fingerprint])?
  /[[(](?:y|yes)\s*[/|]\s*(?:n|no)\b[^\])]*\]?[\])]?\s*[:?]?$/i,
  /[[(][a-z0-9](?:[/,|][a-z0-9?]){1,12}[\])]\s*[:?]?$/i,
  /\b(?:password|passphrase|passcode|pin|username|user name|login|user|name|email|token|otp|verification code)\b[^\n]{0,80}[:?]$/i,
  // Debuggers and interpreters: (Pdb), (gdb), >>>, ..., In [1]:, irb(main):001:0>, mysql>, postgres=#, sqlite>, ->
  /^\((?:i?pdb(?:\+\+)?|gdb|lldb|rdb[^)]*|byebug|dlv|ghci)\)$/i,
  /(?:^|\s)(?:>>>|\.\.\.|In \[\d+\]:|irb\([^)]*\):\d+(?::\d+)?[>*"']|[\w.:/@~-]{0,60}(?:=#|=>|->|[>❯➜λ»]))$/,
  // Shells: $, #, or a % that is not a number's.
  /[$#]$/,
  /(?:^|[^\d\s])\s?%$/,
  /^--\s?More\s?--|^\(END\)$|^:$|\(press (?:h|return)|^lines \d+-\d+/i,
  /\b(?:press|hit|type|enter)\b[^\n]{0,60}(?:any key|enter|return|space|key|continue|quit|exit|yes|no|['"<[]\S{1,12}[>'"\]])[^\n]{0,40}$/i,
  // A question mark, or a colon after words, and nothing after it.
  /\?$/,
  /^[^\n]{0,120}[\p{L}\p{N})\]"'’]\s?:$/u,
]

/** Programs that end the line before they wait for a key. */
const ASKING_LINES: readonly RegExp[] = [
  /\b(?:press|hit)\b[^\n]{0,40}\b(?:any key|enter|return|space)\b/i,
  /\b(?:do you want to|would you like to|are you sure|proceed|continue|overwrite)\b[^\n]{0,120}\?\s*(?:[[(].{0,20}[\])])?:?$/i,
]
