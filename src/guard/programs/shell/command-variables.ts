/** Variables whose value a program runs later: judged where they are assigned. */
import { nameSet } from '../../../contract/quote.js'
import { type Alternatives, plain, UNKNOWN } from '../../words/text.js'
import { type Call, splitString } from '../row/call.js'

/** Variables whose value some program runs as a command line. */
const COMMAND_VARIABLES = nameSet(`
  PROMPT_COMMAND GIT_SSH_COMMAND GIT_EDITOR GIT_PAGER GIT_SEQUENCE_EDITOR GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS
  EDITOR VISUAL PAGER MANPAGER LESSOPEN LESSCLOSE BROWSER SUDO_EDITOR RSYNC_RSH GIT_PROXY_COMMAND CVS_RSH
  FZF_DEFAULT_COMMAND MAKEFLAGS KUBE_EDITOR FCEDIT
`)

/** A value that will be run as a command is judged where it is assigned. */
export function judgeVariable(
  name: string,
  values: Alternatives,
  call: Pick<Call, 'walker' | 'shell'> & Partial<Pick<Call, 'stdin'>>,
): void {
  if (COMMAND_VARIABLES.has(name))
    for (const value of values) call.walker.tryScript(plain(value).replace(/^\|-?/, ''), call.shell)
  if (/^npm_config_script_shell$/i.test(name))
    for (const value of values) if (value.includes('/')) call.walker.external([value], call.shell.fork(), null)
  if (/^(?:PERL5OPT|RUBYOPT)$/.test(name))
    for (const value of values)
      for (const [, code = ''] of plain(value).matchAll(/-e\s*(.*)/gs))
        call.walker.external([name === 'RUBYOPT' ? 'ruby' : 'perl', '-e', code], call.shell.fork(), null)
  if (name === 'PERL5DB')
    for (const value of values) call.walker.external(['perl', '-e', value], call.shell.fork(), null)
  if (name === 'PYTHONSTARTUP')
    for (const value of values) call.walker.external(['python3', value], call.shell.fork(), null)
  if (name === 'TAR_OPTIONS')
    for (const value of values) call.walker.external(['tar', ...splitString(value)], call.shell.fork(), null)
  // `LESS=+!CMD`: what less does first.
  if (name === 'LESS')
    for (const value of values) call.walker.tryScript(/\+!(.*)/s.exec(plain(value))?.[1] ?? '', call.shell)
  if (/^PS[0-4]$/.test(name)) for (const value of values) call.walker.prompt(plain(value), call.shell)
  if (name === 'BASH_ENV' || name === 'ENV') {
    for (const value of values) {
      const own = /^\/dev\/(?:stdin|fd\/0)$/.test(value) ? call.stdin : undefined
      for (const text of own ?? call.walker.streams.contents(value, call.shell))
        if (text !== UNKNOWN) call.walker.script(text, call.shell.fork())
      if (value.includes('$(') || value.includes('`')) call.walker.prompt(plain(value), call.shell)
    }
  }
}
