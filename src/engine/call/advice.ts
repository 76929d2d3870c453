/** Short sentences worth telling the model about how a command ended: what a code means, what probably went wrong. */
import type { Note } from '../../contract/note.js'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { End } from '../../contract/outcome.js'
import type { Verdict } from '../../contract/verdict.js'
import { signalName } from '../../os/process/signals.js'
import { quoteWord } from '../../contract/quote.js'

/** Programs whose exit status 1 means "no", not "broken". */
const SAYS_NO = new Map([
  ['grep', 'no line matched'],
  ['egrep', 'no line matched'],
  ['fgrep', 'no line matched'],
  ['rg', 'no line matched'],
  ['diff', 'the files differ'],
  ['cmp', 'the files differ'],
  ['test', 'the condition is false'],
  ['[', 'the condition is false'],
  ['[[', 'the condition is false'],
  ['pgrep', 'no process matched'],
])

/** With one of these the last command may never have run: the 1 may be the status of an earlier one. */
const MAY_END_EARLIER = /&&|\b(?:exit|return|exec|errexit|set -\w*e)\b/

export interface AdvisedCommand {
  readonly command: string
  readonly cwd: string
  readonly verdict: { readonly facts: Pick<Verdict['facts'], 'finalCommand'> }
}

export function adviceFor(about: {
  end: End
  plan: AdvisedCommand
  stderr: string
  pipeStatus: readonly number[] | null
}): Note[] {
  const { end, plan } = about
  const notes: Note[] = []
  if (end.kind === 'timeout') return waitingAdvice(plan.verdict, about.stderr)
  if (end.kind !== 'exit') return notes
  const { finalCommand } = plan.verdict.facts
  if (
    end.code === 1 &&
    finalCommand &&
    SAYS_NO.has(finalCommand) &&
    about.stderr.trim() === '' &&
    !MAY_END_EARLIER.test(plan.command)
  )
    notes.push({ code: 'answered-no', text: `Exit code 1 of ${finalCommand} means: ${SAYS_NO.get(finalCommand)}.` })
  else if (end.code > 128 && end.code < 193 && !isUsageOfGit(end.code, about.stderr))
    notes.push({
      code: 'exit-code',
      text: `Exit code ${end.code} means that a process was ended by ${signalName(end.code - 128)}.`,
    })
  if (end.code === 0 && about.pipeStatus?.some((code) => code !== 0 && code !== 141))
    notes.push({
      code: 'exit-code',
      text: `Exit code 0 is that of the last stage only; the stages ended with ${about.pipeStatus.join(', ')}.`,
    })
  if (end.code !== 0 && end.code < 128) {
    notes.push(...failureAdvice(end.code, about.stderr, plan.verdict))
    const path = unquotedPathWithSpaces(plan.command, plan.cwd)
    if (path)
      notes.push({
        code: 'advice',
        text: `The path ${JSON.stringify(path)} exists and has spaces; quote it: ${quoteWord(path)}.`,
      })
  }
  return notes
}

/** Git leaves with 129 where it does not know an option. */
function isUsageOfGit(code: number, stderr: string): boolean {
  return code === 129 && /^usage: git /m.test(stderr)
}

/** Full-screen programs that do nothing useful without a terminal. */
const NEEDS_TERMINAL = /^(?:vim?|nvim|nano|emacs|pico|joe|htop|top|less|more|tmux|screen|mc|tig|lazygit|ncdu|watch)$/

/** What programs print when they miss a terminal, input or an editor, and what to do about it. */
const COMPLAINTS: readonly (readonly [RegExp, string])[] = [
  [
    /problem with the editor|[Tt]erminal is dumb, but (?:EDITOR|VISUAL|no editor)/,
    'No editor opens here. Give the text by an option (git commit -m), set the editor for this command ' +
      '(GIT_SEQUENCE_EDITOR="sed -i ..." git rebase -i ...), or use pty.',
  ],
  [
    /EOFError: EOF when reading a line|EOF when reading a line|end of file .*(?:stdin|input)|Error reading input, exiting/,
    'stdin is empty here. Give the answer with a pipe or a here-string, or use pty and type it.',
  ],
  [
    /(?:is|are) not (?:a|to a|from a) (?:tty|terminal)|not a tty|requires? a (?:tty|terminal)|a terminal is required|[Mm]ust be run (?:from|in) a terminal|cannot open \/dev\/tty|Error opening terminal/i,
    'There is no terminal here: use pty, or an option of the program that needs none.',
  ],
]

function failureAdvice(code: number, stderr: string, verdict: AdvisedCommand['verdict']): Note[] {
  const { finalCommand } = verdict.facts
  if (code === 1 && finalCommand === 'read' && stderr.trim() === '')
    return [
      {
        code: 'answered-no',
        text: 'Exit code 1 of read means: stdin is empty. Give it input (read x <<< text), or use pty and type it.',
      },
    ]
  if (code === 126) return notExecutable(stderr)
  // What was not found did not miss a terminal.
  return code === 127 ? [] : waitingAdvice(verdict, stderr)
}

/** Why a command may wait for nothing, or failed for want of it: no terminal, no input, no editor. */
export function waitingAdvice(verdict: AdvisedCommand['verdict'], stderr: string): Note[] {
  const tail = stderr.slice(-4_096)
  const complaint = COMPLAINTS.find(([words]) => words.test(tail))
  return complaint ? [advice(complaint[1])] : terminalAdvice(verdict)
}

function terminalAdvice({ facts: { finalCommand } }: AdvisedCommand['verdict']): Note[] {
  if (!finalCommand || !NEEDS_TERMINAL.test(finalCommand)) return []
  return [advice(`${finalCommand} needs a terminal: use pty, or a command that needs none (sed -i, cat, ps).`)]
}

function advice(text: string): Note {
  return { code: 'advice', text }
}

/** What bash says about a file that it found and could not start, and what that means. */
const NOT_EXECUTABLE: readonly (readonly [RegExp, string])[] = [
  [/Is a directory/, 'it is a directory.'],
  [
    /bad interpreter/,
    'the interpreter in its first line does not exist. Run it with an interpreter that is there, or correct ' +
      'its first line.',
  ],
  [/Exec format error/, 'it is made for another machine, or has no #! line.'],
  [
    /Argument list too long/,
    'it was given more words, or exported variables, than the kernel takes. Pass them by a file or a pipe ' +
      '(xargs), or unset large variables.',
  ],
  [/Text file busy/, 'it is being written. Wait until its writer is done.'],
  [/Permission denied/, 'it is not executable. Make it so (chmod +x FILE) or run it with its interpreter (bash FILE).'],
]

/** Programs leave with 126 for reasons of their own too: nothing is said where nothing shows which one it was. */
function notExecutable(stderr: string): Note[] {
  const why = NOT_EXECUTABLE.find(([words]) => words.test(stderr))?.[1]
  return why === undefined ? [] : [{ code: 'exit-code', text: `Exit code 126 means: found, but ${why}` }]
}

/** An existing path of which the command names the words without quotes (`cat my file.txt`). */
export function unquotedPathWithSpaces(command: string, cwd: string): string | null {
  if (command.length > 4_096 || !command.includes(' ')) return null
  const words = command.split(/\s+/)
  for (let from = 1; from < words.length && from < 40; from++) {
    if (!/^[\w./~-][^'"\\$`]*$/.test(words[from] as string) || (words[from] as string).startsWith('-')) continue
    for (let to = from + 2; to <= words.length && to - from <= 8; to++) {
      const joined = words.slice(from, to).join(' ')
      if (/['"\\$`;|&<>]/.test(joined)) break
      if (existsSync(resolve(cwd, joined))) return joined
    }
  }
  return null
}
