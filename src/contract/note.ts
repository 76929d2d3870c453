/** Short sentences worth telling a model beside an outcome. Programs decide by the code; the text is free to change. */

export interface Note {
  readonly code: NoteCode
  readonly text: string
}

export type NoteCode =
  /** Exit 1 of a program that answers "no" with it: grep found nothing, read met the end of its input. */
  | 'answered-no'
  /** What an exit code means. */
  | 'exit-code'
  /** What probably went wrong, and what to do instead. */
  | 'advice'
  /** Nothing of it ran: cancelled, or a syntax error. */
  | 'not-run'
  /** A job cannot be ended yet: it has not started. */
  | 'not-started'
  /** It was not killed: it goes on as a job. */
  | 'goes-on'
  | 'waits-for-input'
  /** A resource limit ended it, or kept it from writing. */
  | 'over-limit'
  /** The limits that it runs under. */
  | 'limits'
  /** How it ended, or whether it began, is not known. */
  | 'lost'
  /** The end of a call that a cut link had kept back. */
  | 'recovered'
  /** Processes that are left. */
  | 'still-there'
  /** Processes that had been left, and are ended now. */
  | 'ended-with-it'
  /** What kept a kill from being certain. */
  | 'weak-kill'
  | 'signal-sent'
  | 'port-in-use'
  | 'output-lost'
  | 'output-late'
  /** The session goes on in a new shell. */
  | 'shell-restarted'
  /** What a shell, a job or a terminal does not get of the session's state. */
  | 'state'
  /** The directory changed. */
  | 'directory'
  /** Something imitated the shell's own words. */
  | 'forged'
  /** Variables of the directory's `.env`, direnv or mise. */
  | 'environment'
  | 'unknown-secret'
  | 'sandbox'
  /** A file that the sandbox set aside, a limit of it that is not in force, a try that was removed. */
  | 'sandbox-lost'
  /** What happened to the machine it runs on, or to the link. */
  | 'place'
  | 'typed-by-person'
  /** From a damaged record, or one without codes. */
  | 'record'

export function stillThere(processes: string): Note {
  return { code: 'still-there', text: `Could not end every process; still there: ${processes}.` }
}

/** The notes as they leave a door: what a job and its kill both know is said once. */
export function noteTexts(notes: readonly Note[]): string[] {
  return [...new Set(notes.map(({ text }) => text))]
}

export function maskedNotes(notes: readonly Note[], secrets: { mask(text: string): string }): Note[] {
  return notes.map((note) => ({ ...note, text: secrets.mask(note.text) }))
}
