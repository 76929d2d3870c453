/** Every verb of the command line. The one that is asked for is loaded; the others cost a line each. */
import type { VerbRow } from './verb.js'

export const VERBS: readonly VerbRow[] = [
  { name: 'run', about: 'run a command; its output and exit code are yours', load: () => import('./verbs/run.js') },
  { name: 'ps', about: 'what is running: commands, jobs and sessions', load: () => import('./verbs/ps.js') },
  {
    name: 'top',
    about: 'everything that runs, full screen; interrupt, end, answer',
    load: () => import('./verbs/top.js'),
  },
  { name: 'ui', about: 'everything that agents do, in your browser', load: () => import('./verbs/ui.js') },
  { name: 'read', about: 'output of a job', load: () => import('./verbs/read.js') },
  { name: 'wait', about: 'wait for a job: its end, a line, a port, silence', load: () => import('./verbs/wait.js') },
  { name: 'send', about: 'type into a running job', load: () => import('./verbs/send.js') },
  { name: 'kill', about: 'end a job and everything it started', load: () => import('./verbs/kill.js') },
  { name: 'attach', about: 'connect your terminal to the terminal of a job', load: () => import('./verbs/attach.js') },
  { name: 'clean', about: 'forget finished jobs', load: () => import('./verbs/clean.js') },
  {
    name: 'sessions',
    about: 'named sessions that are kept between calls',
    load: () => import('./verbs/sessions.js'),
  },
  { name: 'check', about: 'what the guard says about a command, and why', load: () => import('./verbs/check.js') },
  { name: 'approve', about: 'allow a command that is waiting for a person', load: () => import('./verbs/approve.js') },
  { name: 'diff', about: 'what commands of a try changed', load: () => import('./verbs/diff.js') },
  { name: 'accept', about: 'apply the changes of a try', load: () => import('./verbs/accept.js') },
  { name: 'discard', about: 'throw away the changes of a try', load: () => import('./verbs/discard.js') },
  {
    name: 'secret',
    about: 'keep secrets that commands can use and a model never sees',
    load: () => import('./verbs/secret.js'),
  },
  { name: 'schema', about: 'tool definitions for a model', load: () => import('./verbs/schema.js') },
  { name: 'mcp', about: 'MCP server on stdin and stdout', load: () => import('./verbs/mcp.js') },
  { name: 'hook', about: "the guard in front of a host's own shell", load: () => import('./verbs/hook.js') },
  { name: 'serve', about: 'MCP server over HTTP on this machine', load: () => import('./verbs/serve.js') },
  {
    name: 'fleet',
    about: 'containers, pods and allocations that were made from here',
    load: () => import('./verbs/fleet.js'),
  },
  {
    name: 'doctor',
    about: 'what works on this machine, and how to fix the rest',
    load: () => import('./verbs/doctor.js'),
  },
  {
    name: 'bench',
    about: 'measure cerith against plain spawn on this machine',
    load: () => import('./verbs/bench.js'),
  },
  { name: 'config', about: 'the settings in force and where each comes from', load: () => import('./verbs/config.js') },
  { name: 'audit', about: 'who ran what, what was decided, what came of it', load: () => import('./verbs/audit.js') },
  { name: 'log', about: 'what was done in a session, command by command', load: () => import('./verbs/log.js') },
  { name: 'replay', about: 'play a recording of a terminal or of a session', load: () => import('./verbs/replay.js') },
  { name: 'completion', about: 'completion for bash or zsh', load: () => import('./verbs/completion.js') },
]
