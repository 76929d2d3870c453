/** Inner shells: `bash -c TEXT args`, `bash FILE`, `... | sh`, `sh <<EOF`, also for zsh, dash, ksh and fish. */
import { nameList } from '../../../contract/quote.js'
import { plain, UNKNOWN, unique } from '../../words/text.js'
import type { ShellState } from '../../words/state.js'
import { parseScript } from '../../words/syntax.js'
import { type Call, known, options, type Program, table } from '../row/call.js'
import { isReadable } from '../row/decoding.js'

export const SHELLS = nameList(`
  bash sh dash zsh ksh mksh lksh pdksh ash rbash yash posh fish csh tcsh elvish hush ksh93 static-sh pwsh xonsh nu osh
  ysh oil bash5 brush
`)

const shell: Program = (call, name) => {
  const written = call.args.filter((arg) => !/^\+[a-zA-Z]$/.test(arg))
  const args = name === 'pwsh' ? written.map((arg) => (/^-(?:c|command)$/i.test(arg) ? '-c' : arg)) : written
  // fish takes text by `-C` and by each `-c`.
  const fish = name === 'fish'
  const short = fish ? 'oCc' : 'oO'
  const given = options(args, { short, long: ['rcfile', 'init-file', 'command', 'init-command'], stop: true })
  const readsOnly = given.flags.includes('n') || given.all('o').includes('noexec')
  if (args.some((arg) => arg === '--version' || arg === '--help')) return
  for (const name of ['BASH_ENV', 'ENV']) startupFile(call, call.environment.get(name).values)
  startupFile(call, given.all('rcfile', 'init-file'))
  for (const text of given.all('C', 'init-command', ...(fish ? ['c'] : [])))
    code(call, text, child(call, []), call.stdin)
  const long = given.get('command', ...(fish ? ['c'] : []))
  if (given.flags.includes('c') || long !== undefined) {
    const operands = given.operands.filter((arg, i) => !(i === 0 && arg === '--'))
    // Options may follow -c; the first operand after them is the text.
    const at = long === undefined ? operands.findIndex((arg) => !/^[-+][a-zA-Z]+$/.test(arg)) : -1
    const text = long ?? operands[at]
    if (text === undefined || readsOnly) return
    const inner = child(call, at >= 0 ? operands.slice(at + 1) : operands)
    return code(call, text, inner, call.stdin)
  }
  const readsInput = given.flags.includes('s')
  const file = readsInput ? undefined : given.operands[0]
  const rest = readsInput ? given.operands : given.operands.slice(1)
  if (readsOnly) return
  const path = file === undefined ? '' : call.resolve(file)
  const real = call.walker.namesakes.meaning(path) ?? path
  if (file !== undefined && file !== '-' && !/^\/dev\/(stdin|fd\/0)$|^\/proc\/self\/fd\/0$/.test(real))
    return runFile(call, file, rest)
  const inner = child(call, ['bash', ...rest])
  let out: readonly string[] = []
  for (const text of call.stdin ?? []) out = unique([...out, ...code(call, text, inner, null)])
  return out.length > 0 ? out : undefined
}

/** A new shell: knows the variables it inherits, has its own positional parameters. */
function child(call: Call, args: readonly string[]): ShellState {
  const inner = call.environment.fork()
  inner.arg0 = args[0] ?? 'bash'
  inner.positional = args.slice(1)
  return inner
}

function code(call: Call, text: string, inner: ShellState, stdin: Call['stdin']): readonly string[] {
  const { walker } = call
  if (text === UNKNOWN) {
    walker.settings.observer.opaque('a shell runs text that is not known here', walker, call.argv)
    return [UNKNOWN]
  }
  if (!isReadable(text)) {
    walker.report('hidden-code', call.argv)
    return [UNKNOWN]
  }
  // What bash would merely complain about may mean something in another shell: each piece of it is read by itself,
  // and where one may do harm, the whole has to be readable.
  if (!OTHER_GRAMMAR.test(plain(call.argv[0] ?? '')))
    return walker.recursion.inProcess(() => walker.script(plain(text), inner, stdin))
  const read = asBash(plain(text))
  if (MAY_DO_HARM.test(read)) parseScript(read)
  for (const piece of read.split(/[\n;|{}()&]+/)) walker.tryScript(piece, inner)
  return walker.recursion.inProcess(() => walker.script(read, inner, stdin))
}

/** Assignments of fish, csh and PowerShell in bash's words, and PowerShell's way to remove what a list names. */
function asBash(text: string): string {
  return text
    .replace(/(^|[;\n]\s*)set\s+(?:-{1,2}\w+\s+)*([A-Za-z_]\w*)\s+(?:=\s*)?(?=[^\s=])/g, '$1$2=')
    .replace(/(^|[;\n]\s*)\$([A-Za-z_]\w*)\s*=\s*/g, '$1$2=')
    .replace(
      /\b(?:Get-ChildItem|gci|dir|ls)\s+(?:-(?!Path)\w+\s+)*(?:-Path\s+)?([^\s|;]+)[^|;]*\|\s*(?=(?:Remove-Item|ri|rm|del)\b)/gi,
      'Remove-Item -Recurse $1/*; ',
    )
}

const OTHER_GRAMMAR = /(?:^|\/)(?:fish|csh|tcsh|elvish|pwsh|xonsh|nu|ysh|oil|zsh)$/

const MAY_DO_HARM =
  /\b(?:rm|ri|rd|rmdir|del|erase|unlink|find|mv|dd|shred|mkfs\S*|wipefs|truncate|chmod|chown|kill\w*|iex|eval|exec|Invoke-Expression|Remove-\w+|Clear-\w+|Format-Volume|Stop-(?:Computer|Process)|Restart-Computer|shutdown|reboot|poweroff|halt)\b/i

function startupFile(call: Call, paths: readonly string[]): void {
  for (const path of paths) {
    if (path === '' || !known(path)) continue
    for (const text of call.contents(path)) if (text !== UNKNOWN) call.script(text)
  }
}

/** A script file: judged when this same command has written it. */
export function runFile(call: Call, file: string, args: readonly string[]): readonly string[] | undefined {
  const texts = call.contents(file)
  let out: readonly string[] = []
  for (const text of texts) {
    if (text === UNKNOWN) {
      out = unique([...out, UNKNOWN])
      call.walker.settings.observer.opaque('runs a script that is not known here', call.walker, call.argv)
    } else if (!isReadable(text)) call.report('hidden-code')
    else
      out = unique([
        ...out,
        ...call.walker.frame(`script ${file}`, text, () =>
          call.walker.recursion.inProcess(() =>
            call.walker.script(plain(text), child(call, [file, ...args]), call.stdin),
          ),
        ),
      ])
  }
  return out.length > 0 ? out : undefined
}

export const SHELL_PROGRAMS: Readonly<Record<string, Program>> = table(SHELLS, shell)
