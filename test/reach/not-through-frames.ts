export interface Exception {
  /** A part of the whole title. */
  readonly title: string
  readonly why: string
  /** Not even tried, because it waits for long, or passes at times. */
  readonly isLeftOut?: true
}

const CARD = 'the card shows the directory with its place; test/reach/approvals.test.ts has the same'
const CHILDREN = 'looks for processes below this one; the engine there is none of them'
const CLOSED = 'asks an engine that was closed: there is no link any more'
const INSIDE = 'looks into the session itself'
const RUN = 'looks into the run directory of an engine here; that of a place is on tmpfs and has another name'
const UNKNOWN =
  'a value that no command there was given is known here only: files there and halves of it are not masked'
const NAMED = 'what is kept there is named by the engine there'
const LATE = 'the last line of a command that no process here follows is at the place'

/** By file below test/: what a link changes by intent, and what looks into a process or files that are elsewhere. */
export const NOT_THROUGH_FRAMES: Record<string, readonly Exception[]> = {
  'engine/approvals.test.ts': [{ title: 'runs once after `approve` from elsewhere', why: CARD }],
  'engine/job/input/prompt.test.ts': [{ title: 'the environment of a job carries its mark', why: NAMED }],
  'engine/job/look/read.test.ts': [{ title: 'a secret is masked on disk and in every read', why: UNKNOWN }],
  'engine/job/many.test.ts': [{ title: 'a thousand jobs', why: CHILDREN, isLeftOut: true }],
  'engine/job/promote.test.ts': [{ title: 'a secret that is printed around the moment of the move', why: UNKNOWN }],
  'engine/job/security.test.ts': [
    { title: 'F67 a link planted where a job would be made', why: 'an id is asked for once, before the call leaves' },
    { title: 'SEC-06 the end of a value that a column cut off is hidden in the file', why: UNKNOWN },
  ],
  'engine/live/door.test.ts': [
    { title: 'a foreground command is seen with its session', why: LATE },
    { title: 'who comes later gets what is in memory', why: LATE, isLeftOut: true },
    { title: 'sessions are told with their directory', why: LATE, isLeftOut: true },
  ],
  'engine/live/recorder.test.ts': [
    { title: 'each command has its mark', why: NAMED },
    { title: 'a call that waits for its turn', why: NAMED },
    { title: 'a flood takes its share', why: NAMED },
  ],
  'engine/run/bootstrap.test.ts': [{ title: 'a shell that does not get its command', why: RUN }],
  'engine/run/crash.test.ts': [
    { title: 'F54 F55 out of descriptors or processes', why: 'takes the descriptors of this process' },
    { title: 'the run in flight is lost and says so', why: CHILDREN, isLeftOut: true },
  ],
  'engine/run/pass-on.test.ts': [
    { title: 'every byte comes here or goes there', why: 'a pipe here cannot be given to a program there' },
  ],
  'engine/run/resources.test.ts': [{ title: 'a killed job says who killed it', why: CLOSED }],
  'engine/sandbox/changing-disk.test.ts': [
    { title: 'a protected name that appears while the room is built', why: CHILDREN, isLeftOut: true },
  ],
  'engine/sandbox/leftovers.test.ts': [
    { title: 'after close: sessions, jobs, a proxy', why: CHILDREN },
    { title: 'before the first room nothing is made', why: NAMED },
  ],
  'engine/sandbox/record.test.ts': [
    { title: 'audit lines of runs, sessions and jobs', why: NAMED },
    { title: 'a run that becomes a job keeps the name of its room', why: NAMED },
  ],
  'engine/sandbox/room.test.ts': [{ title: 'when the holder of a room is killed', why: CHILDREN, isLeftOut: true }],
  'engine/run/spare.test.ts': [{ title: '', why: CHILDREN, isLeftOut: true }],
  'engine/session/moments.test.ts': [
    { title: 'a function with redirections of its own', why: INSIDE },
    { title: 'arithmetic in old brackets assigns', why: INSIDE },
  ],
  'engine/session/program.test.ts': [
    { title: 'a session has it, and its programs do not know', why: 'the builtin comes from the uploaded code' },
    { title: 'what it declines runs in the background', why: INSIDE },
    { title: 'F73 a run folder that nobody can write', why: RUN },
    { title: 'who takes it away from the shell', why: INSIDE },
  ],
  'engine/session/regressions.test.ts': [{ title: 'a closed session leaves no file', why: RUN }],
  'engine/session/report.test.ts': [{ title: 'the builtin writes the state down as bash does', why: INSIDE }],
  'engine/session/typed.test.ts': [
    { title: 'SESS-01 traps that a sourced file has set', why: INSIDE },
    { title: 'SESS-01 a DEBUG trap that', why: INSIDE },
    { title: 'waits for whoever reads it', why: INSIDE },
  ],
}
