/** Every verb of the command line. The one that is asked for is loaded; the others cost a line each. */
import type { VerbBody, VerbRow } from './verb/verb.js'

export const VERBS: readonly VerbRow[] = [
  row('run', 'run a command; its output and exit code are yours', () => import('./verbs/job/run.js')),
  row('ps', 'what is running: commands, jobs and sessions', () => import('./verbs/job/ps.js')),
  row('top', 'everything that runs, full screen; interrupt, end, answer', () => import('./verbs/person/top.js')),
  row('ui', 'everything that agents do, in your browser', () => import('./verbs/person/ui.js')),
  row('read', 'output of a job', () => import('./verbs/job/read.js')),
  row('wait', 'wait for a job: its end, a line, a port, silence', () => import('./verbs/job/wait.js')),
  row('send', 'type into a running job', () => import('./verbs/job/send.js')),
  row('kill', 'end a job and everything it started', () => import('./verbs/job/kill.js')),
  row('attach', 'connect your terminal to the terminal of a job', () => import('./verbs/job/attach.js')),
  row('clean', 'forget finished jobs', () => import('./verbs/job/clean.js')),
  row('sessions', 'named sessions that are kept between calls', () => import('./verbs/job/sessions.js')),
  row('check', 'what the guard says about a command, and why', () => import('./verbs/person/check.js')),
  row('approve', 'allow a command that is waiting for a person', () => import('./verbs/person/approve.js')),
  row('diff', 'what commands of a try changed', () => import('./verbs/person/diff.js')),
  row('accept', 'apply the changes of a try', () => import('./verbs/person/accept.js')),
  row('discard', 'throw away the changes of a try', () => import('./verbs/person/discard.js')),
  row('secret', 'keep secrets that commands can use and a model never sees', () => import('./verbs/person/secret.js')),
  row('schema', 'tool definitions for a model', () => import('./verbs/host/schema.js')),
  row('mcp', 'MCP server on stdin and stdout', () => import('./verbs/host/mcp.js')),
  row('hook', "the guard in front of a host's own shell", () => import('./verbs/host/hook.js')),
  row('serve', 'MCP server over HTTP on this machine', () => import('./verbs/host/serve.js')),
  row('fleet', 'containers, pods and allocations that were made from here', () => import('./verbs/setup/fleet.js')),
  row('doctor', 'what works on this machine, and how to fix the rest', () => import('./verbs/setup/doctor.js')),
  row('bench', 'measure cerith against plain spawn on this machine', () => import('./verbs/setup/bench.js')),
  row('config', 'the settings in force and where each comes from', () => import('./verbs/setup/config.js')),
  row('audit', 'who ran what, what was decided, what came of it', () => import('./verbs/record/audit.js')),
  row('log', 'what was done in a session, command by command', () => import('./verbs/record/log.js')),
  row('replay', 'play a recording of a terminal or of a session', () => import('./verbs/record/replay.js')),
  row('completion', 'completion for bash or zsh', () => import('./verbs/setup/completion.js')),
]

function row(name: string, about: string, load: () => Promise<{ readonly verb: VerbBody }>): VerbRow {
  return { name, about, load: async () => ({ usage: '', words: [0, 0], ...(await load()).verb, name, about }) }
}
