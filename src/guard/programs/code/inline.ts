/**
 * Reads inline code of other languages for what it would do to the machine. It looks at strings
 * and calls, not at meaning.
 */
import { nameList } from '../../../contract/quote.js'
import { GuardLimit } from '../../words/limits.js'
import { resolvePath } from '../../words/paths.js'
import { activate, EMPTY, hasUnknown, isConstant, STAR, TREE, unique } from '../../words/text.js'
import { type Call, fieldsOf, table } from '../row/call.js'
import { unescape } from '../../words/escapes.js'
import { forksForever } from './forks.js'
import { withPaths } from './paths.js'
import { decodedStrings, foldedCode, type Outside, strings } from './text.js'
import { writtenBy } from './writes.js'

/** Calls that hand text to a shell or start a program. */
const STARTS =
  /\b(?:system|systemlist|exec|execv\w*|execl\w*|popen\d?|spawn\w*|posix_spawn\w*|call|check_call|check_output|getoutput|getstatusoutput|run|Popen|execSync|execFile|execFileSync|spawnSync|shell_exec|passthru|proc_open|pcntl_exec|execute|open3|capture\w*|pipe|jobstart|termopen|shell-command|call-process|start-process|Execute|ProcessBuilder|cmd|pclose|startfile|createProcess|fork_exec|async_run|sh|\$|qx|writefile|system2|command|callCommand|readProcess|run-program|shell|shellout|Process|Command|run_command|execShellCmd|EXEC|runProgram)\b|"\s*\.\s*!|`|%x|\bdo shell script\b|\|&?\s*getline|\|&?\s*"|\bqx\b|open\s*\(?\s*\w*,?\s*["']\s*\||open\b[^\n;]*\|\s*["']|\bsystem\b/

/** Calls that remove what they are given; the second group is read as the path. */
const REMOVES_TREE =
  /\b(?:rmtree|remove_tree|rm_rf|rm_r|remove_entry(?:_secure)?|remove_dir(?:_all)?|removeSync|emptyDirSync|emptyDir|rimraf(?:\.sync|Sync)?|deltree|delete_directory|RemoveAll|rmdirSync|rmdir_r|rm|rmSync|rmdir|delete-directory(?:\/files)?|rmrf|removedirs|deleteRecursively|del_dir_r|delete-tree|removeDirectoryRecursive|removePathForcibly|deleteSync|rmDir|removeDir|removeItem|deleteDir|delTree|(?<!(?<!\b(?:os|fs|fse|io|Deno|shutil|files|Files|File|FileUtils|path))\.)remove)\b!?\s*\(?\s*(?:atPath:\s*)?/g
const REMOVES_FILE =
  /\b(?:os\.(?:remove|unlink|truncate)|delete-file|unlink(?:Sync)?|file\.remove|File\.(?:delete|unlink|truncate)|truncate(?:Sync)?|delete|os\.remove)\b\s*\(?\s*/g
const WRITES =
  /\b(?:writeFile(?:Sync)?|file_put_contents|createWriteStream|File\.write|IO\.write|write_text|write_bytes|WriteAllText|spew|openSync)\b\s*\(?\s*/g
const COPIES = /\b(?:copyFileSync|copyFile|copyfile|copy2?|copytree|cp|cp_r|copy_file)\b\s*\(\s*[^,()]*,\s*/g
/** The second of two names comes to stand for something else. */
const LANDS =
  /\b(?:os\.(?:rename|renames|replace|link|symlink)|shutil\.move|(?:rename|link|symlink)(?:Sync)|fs\.(?:rename|link|symlink)|File\.(?:rename|link|symlink)|FileUtils\.(?:mv|ln|ln_s|ln_sf)|symlink|symlink_to|(?<![.\w])rename)\b\s*\(?\s*(?:[^,()]|\([^()]*\))*,\s*/g
const MOVES = /\b(?:renameSync|rename|move|moveSync)\b\s*\(?\s*/g
const OPENS = /\b(?:open|fopen|File\.open|File\.new|io\.open|sysopen|os\.open)\b\s*\(?\s*/g
const MODES = /\b(?:chmod|chown|lchown|chmodSync|chownSync|chmod_R|chown_R)\b\s*\(?\s*/g

/** A string that is run in the same language. */
const EVALUATES =
  /\b(?:exec|eval|Function|compile|instance_eval|load|loadstring|runIn\w*Context|Script)\s*\(?\s*(["'`])/
const EVALUATED = new RegExp(String.raw`${EVALUATES.source}((?:(?!\1)[^\\]|\\.)*)\1`, 'gs')

export function judgeCode(code: string, language: string, call: Call): void {
  if (code.length > 200_000) throw new GuardLimit('size', 'inline code is too long to check')
  call.walker.step()
  const folded = withPaths(foldedCode(code, language, outsideOf(call)))
  const source = language === 'awk' ? withPrintf(folded) : folded
  const starts = STARTS.test(JAVASCRIPT.test(language) ? source.replace(/(?<!\$)`/g, '"') : source)
  if (starts || /\beval\b/.test(source))
    for (const hidden of decodedStrings(source)) judgeHidden(hidden, language, call)
  if (forksForever(source)) call.report('fork-bomb', [call.argv[0] ?? language, 'fork'])
  const there = inDirectory(source, call)
  if (starts) startedCommands(source, there)
  // What is read from a file that this command or its session wrote, by code that starts something.
  if (starts && call.shell.files.size > 0)
    for (const [, name = ''] of source.matchAll(/(?:\bopen\b|\bread\w*|<|@ARGV\s*=)[^;\n]{0,40}?["']([^"'\n]+)["']/g))
      for (const text of call.contents(name)) if (!hasUnknown(text)) call.tryScript(text)
  if (EVALUATES.test(source)) {
    for (const match of source.matchAll(EVALUATED)) call.walker.code(match[2] ?? '')
    // The last of its strings is the body.
    for (const [whole] of source.matchAll(/\bFunction\s*\([^)]*/g))
      for (const { text } of strings(`${whole})`)) call.walker.code(text)
    // As it was written too: what it asks of the world outside would stand in quotes inside of quotes.
    for (const { text } of [...strings(source), ...(source === code ? [] : strings(code))])
      if (/[(]/.test(text) && text.length < source.length - 4)
        call.walker.budget.deeper(() => judgeCode(text, language, call))
  }
  call.tryMatches(source, /\b(?:run|shell)\s*<([^<>\n]+)>/g)
  if (language === 'tclsh') call.tryMatches(source, /\b(?:exec|spawn)\s+([^\]\n;]+)/g)
  if (language === 'tclsh')
    for (const match of source.matchAll(/\bfile\s+delete\s+(?:-force\s+|--\s+)*([^\]\n;]+)/g))
      for (const word of fieldsOf(match[1] ?? '')) call.effect('delete-tree', word.replace(/["{}]/g, ''))
  fileCalls(source, there)
  for (const { file, text } of writtenBy(source)) call.walker.streams.write(file, [text], false, there.shell)
  for (const { text } of strings(source))
    if (/^[/~.]|vault|tokens/.test(text)) call.walker.reads(text, there.shell, call.argv)
  const redirect = language === 'awk' ? source.matchAll(/>\s*"([^"]+)"/g) : []
  for (const match of redirect) call.effect('overwrite', match[1] ?? '')
  if (
    /\bos\.kill\s*\(\s*(?:-1\b|1\s*,(?!\s*0))|\b(?:process\.|posix_)kill\s*\(\s*(?:-1\b|1\s*,(?!\s*0))|\bkill\s*\(?\s*["']?(?:KILL|TERM|9|-?SIGKILL)["']?\s*(?:,|=>)\s*-1\b/.test(
      source,
    )
  )
    call.report('kill-everything', ['kill', '-1'])
  if (/\breboot\s*\(\s*(?:RB_|0x|LINUX_REBOOT)/.test(source)) call.report('host-down', ['reboot()'])
}

/** Backticks are plain strings there, unless a tag makes them a command (`$` of zx and bun). */
const JAVASCRIPT = /^(?:node|deno|bun|ts)$/

/** What the code may ask of the world around it, as far as it is known. */
export function outsideOf(call: Call): Outside {
  const environment = call.environment
  return {
    home: call.shell.home[0] ?? '',
    args: call.args,
    stdin: call.stdin?.find((text) => !hasUnknown(text)),
    file: (name) => call.contents(name).find((text) => !hasUnknown(text)),
    variable: (name) => environment.get(name).values.find((value) => value !== '' && isConstant(value)),
  }
}

/** `os.chdir("/")`, `{ cwd: "/" }`: what follows happens there as well. */
function inDirectory(source: string, call: Call): Call {
  const moved = /\bchdir(?:Sync)?\s*\(?\s*["']([^"']+)["']|\bcwd\s*[:=]\s*["']([^"']+)["']/.exec(source)
  if (!moved) return call
  const shell = call.shell.fork()
  shell.cwd = unique(shell.cwd.flatMap((cwd) => [cwd, resolvePath(moved[1] ?? moved[2] ?? '', cwd)]))
  return call.withShell(shell)
}

/** What print statements with constant text would write; enough to follow `python -c "print(...)" | sh`. */
export function printedBy(code: string, call: Call): readonly string[] | undefined {
  const source = withPrintf(foldedCode(code, 'any', outsideOf(call)))
  const printed = [
    ...source.matchAll(
      /\b(?:print|puts|echo|printf|console\.log|process\.stdout\.write|sys\.stdout\.write|say|io\.write|p)\b\s*(?:\(\s*)?(?="|'|`)/g,
    ),
  ].map((match) => argument(source, match.index + match[0].length) ?? '')
  const decoded = decodedStrings(source)
  const all = [...printed, ...decoded].filter((text) => text !== '')
  if (all.length === 0) return undefined
  // What printf and write print stands side by side.
  return all.length > 1 && /printf|write/.test(source) ? [`${all.join('\n')}\n`, all.join('')] : [`${all.join('\n')}\n`]
}

function withPrintf(source: string): string {
  return source.replace(
    /\bprintf\s*\(?\s*"((?:[^"\\]|\\.)*)"((?:\s*,\s*(?:\d+|"[^"]*"))+)/g,
    (_, format: string, given: string) => `printf "${filled(format, given.match(/\d+|"[^"]*"/g) ?? [])}"`,
  )
}

/** A format with its values in their places: `%c` of a number is a character. */
function filled(format: string, values: readonly string[]): string {
  let at = 0
  return format.replace(/%[cds]/g, (place) => {
    const value = (values[at++] ?? '').replace(/^"|"$/g, '')
    return place === '%c' ? (/^\d+$/.test(value) ? String.fromCharCode(Number(value)) : value.slice(0, 1)) : value
  })
}

/** Code inside decoded text is either the same language or a shell command. */
function judgeHidden(text: string, language: string, call: Call): void {
  call.walker.budget.deeper(() => {
    call.tryScript(text)
    if (text.length < 20_000) judgeCode(text, language, call)
  })
}

function startedCommands(source: string, call: Call): void {
  const found = strings(source)
  for (const { text } of found) if (/\S/.test(text)) call.tryScript(text.replace(/^\s*\|\s*|\s*\|\s*$/g, ''))
  // ["rm", "-rf", "/"] and ("rm", "-rf", "/"): neighbours separated by commas are one argv.
  let group: string[] = []
  for (const [i, one] of found.entries()) {
    const previous = found[i - 1]
    const between = previous ? source.slice(previous.end, one.start) : ''
    if (previous && NEIGHBOURS.test(between)) group.push(one.text)
    else {
      runGroup(group, call)
      group = [one.text]
    }
  }
  runGroup(group, call)
  // "rm -rf " + name in a loop over a list: each string of the list may be the name.
  const lists = [...source.matchAll(/(?:%w|\bqw\s*)(?:\(([^)]*)\)|\{([^}]*)\}|\[([^\]]*)\]|\/([^/]*)\/)/g)].map(
    (words) => fieldsOf(words.slice(1).find((list) => list !== undefined) ?? ''),
  )
  const heads = /\b(?:for(?:each)?|map|each|forEach)\b/.test(source)
    ? [...source.matchAll(/["'`]([^"'`\n]* )(?:["'`]\s*(?:\+|\.\.?)\s*[A-Za-z_$]|(?:[$#]?\{\w+\}|\$\w+)["'`])/g)]
    : []
  for (const head of heads.slice(0, 4))
    for (const text of [...found.map((one) => one.text), ...lists.flat()].slice(0, 20))
      if (/^[/~]/.test(text)) call.tryScript(`${head[1] ?? ''}${text}`)
  for (const words of lists) runGroup(words, call)
}

/** Between two words of one argv: `"rm", ["-rf"`, `"rm").args(["-rf"`, `"rm" nil nil nil "-rf"`, `"rm" (list "-rf"`. */
const NEIGHBOURS =
  /^\s*(?:,\s*(?:\{\s*args\s*:\s*)?(?:\[\s*|c\(\s*)?|\)\s*\.args?\(\s*&?\[?\s*|(?:\s+nil)+\s+|\s'?\((?:list\s+)?|\s+)$/

function runGroup(group: readonly string[], call: Call): void {
  if (group.length < 2) return
  try {
    call.start(group)
  } catch (error) {
    if (!(error instanceof GuardLimit) || error.limit === 'steps') throw error
  }
}

function fileCalls(source: string, call: Call): void {
  const literals = strings(source)
  const path = (from: number): string | undefined =>
    // The word is inside a string, and what follows its closing quote is not an argument.
    literals.some(({ start, end }) => start < from && from === end - 1) ? undefined : argument(source, from)
  // A secret that the code was given may be what it writes.
  const secrets = [...call.args, ...(call.stdin ?? [])].filter((text) => text.includes('{{'))
  const effect = (kind: Parameters<Call['effect']>[0], word: string | undefined, mode?: string): void => {
    if (word === undefined || word === '') return
    // R, Lisp and vim know the tilde; where it is only a name, nothing is lost by asking.
    const path = kind === 'delete-tree' ? word.replace(/^~(?=\/|$)/, () => call.shell.home[0] ?? '~') : word
    call.effect(kind, path, mode)
    if (secrets.length > 0 && /^(?:overwrite|append)$/.test(kind)) call.write(path, secrets, true)
  }
  // A loop over a list of names: the names are the arguments.
  if (removesItsNames(source))
    for (const { text, start } of literals)
      if (/^[/~]/.test(text) && !COMPARED.test(source.slice(Math.max(0, start - 40), start)))
        effect('delete-tree', activate(text))
  for (const path of enumerated(source)) effect('delete-tree', path)
  for (const match of source.matchAll(/\bunlink\s*\(?\s*(?:glob\s*\(?\s*(?:["']|qq?\W)([^"')}\]]+)|<([^>]+)>)/g))
    effect('delete', activate(match[1] ?? match[2] ?? ''))
  // R's names below a directory, .NET's directories, PowerShell's emptied files.
  for (const match of source.matchAll(/\b(?:unlink|file\.remove)\(\s*(?:list\.files|dir)\(\s*(["'])(\/[^"']*)\1/g))
    effect('delete-tree', `${match[2]}/${STAR}`)
  for (const match of source.matchAll(/\bunlink\s+dir\(?\s*["'](\/[^"']*)["']/g))
    effect('delete', `${match[1]}/${STAR}`)
  for (const match of source.matchAll(/Directory\]::Delete\(\s*["']([^"']+)["']/gi)) effect('delete-tree', match[1])
  for (const match of source.matchAll(/\b(?:Clear-Content|Set-Content|Out-File)\s+(?:-\w+\s+)*["']?(\/[^\s"']+)/gi))
    effect('overwrite', match[1], EMPTY)
  for (const match of source.matchAll(REMOVES_TREE)) effect('delete-tree', path(match.index + match[0].length))
  for (const match of source.matchAll(COPIES)) effect('overwrite', path(match.index + match[0].length))
  for (const match of source.matchAll(LANDS)) effect('overwrite', path(match.index + match[0].length))
  for (const match of source.matchAll(MOVES)) effect('move', path(match.index + match[0].length))
  const recursive = /recursive\s*=\s*T(?:RUE)?\b|,\s*["']rf["']/.test(source)
  for (const match of source.matchAll(REMOVES_FILE))
    effect(recursive ? 'delete-tree' : 'delete', path(match.index + match[0].length))
  for (const match of source.matchAll(WRITES)) effect('overwrite', path(match.index + match[0].length))
  for (const match of source.matchAll(OPENS)) {
    const rest = source.slice(match.index, match.index + 400)
    const called =
      /^[^,]*,\s*(?:(?:flags|mode)\s*=\s*)?(?:[^)\n;]*?)(?:["'](?:r[bt]*\+[bt]*|[wax][bt+]*|[+]?>{1,2}[^"']*|\+<)["']|O_(?:WRONLY|RDWR|TRUNC))/.exec(
        rest,
      )
    if (!called && !/^\w+\s*\(?\s*(?:my\s+)?[\w$*]+\s*,\s*["']\+?>/.test(rest)) continue
    const appends = /["']a[bt+]*["']|["']>>/.test(called?.[0] ?? rest)
    effect(
      appends ? 'append' : 'overwrite',
      path(match.index + match[0].length) ??
        /["']\+?>{1,2}\s*([^"']+)["']/.exec(rest)?.[1] ??
        /,\s*["'][+<>]+["']\s*,\s*["']([^"']+)["']/.exec(rest)?.[1],
    )
    effect(
      appends ? 'append' : 'overwrite',
      /,\s*["']\+?>{1,2}["']\s*,\s*["']([^"']+)["']/.exec(rest)?.[1] ??
        /,\s*["']\+?>{1,2}\s*(\/[^"']+)["']/.exec(rest)?.[1],
    )
  }
  for (const match of source.matchAll(MODES))
    effect(
      /_R/.test(match[0]) ? 'mode-tree' : 'mode',
      path(match.index + match[0].length),
      /0o?([0-7]{3,4})/.exec(source.slice(match.index, match.index + 200))?.[1] ?? '777',
    )
  // Perl and Lisp name the mode, or nothing, first.
  for (const match of source.matchAll(/\b(chmod|chown)\s*\(?\s*(\d+)\s*,(?:\s*\d+\s*,)?\s*(["'][^"'\n]+["'])/g))
    effect(match[1] === 'chmod' ? 'mode' : 'owner', match[3]?.slice(1, -1), match[2])
  for (const match of source.matchAll(
    /\bwrite-region\b[^\n)]*?nil\s+"([^"]+)"|\bwritefile\s*\([^\n]*,\s*["'](\/[^"']+)["']/g,
  ))
    effect('overwrite', match[1] ?? match[2])
  for (const match of source.matchAll(
    /(?:\b(?:Path|File|Directory|Pathname\.new)\(\s*)?(["'][^"'\n]*["'])\s*\)?\s*\.\s*(unlink|rmdir|write_text|write_bytes|open|symlink_to|hardlink_to|touch|rename|deleteDir|deleteRecursively|deleteSync|rmtree)\b/g,
  ))
    effect(METHODS[match[2] ?? ''] ?? 'overwrite', match[1]?.slice(1, -1))
}

/** What methods of a path do to it, other than to write it. */
const METHODS: Readonly<Record<string, Parameters<Call['effect']>[0]>> = {
  ...table(nameList('deleteDir deleteRecursively deleteSync rmtree'), 'delete-tree' as const),
  rename: 'move',
  unlink: 'delete',
  rmdir: 'create',
}

/**
 * `for f in os.walk("/"): os.remove(f)`: the directory whose every name is listed and removed;
 * a condition picks some out.
 */
function enumerated(source: string): string[] {
  const removes =
    /\b(?:unlink\w*|remove\w*|rmtree|rm(?:Sync|_rf|_r)?|rmdir\w*|delete)\b\s*\(?\s*(?:os\.path\.join|path\.join|File\.join|[A-Za-z_$"'`])|\.(?:unlink|rmdir)\(\)|\{[^}]*\bunlink\b[^}]*\}/.test(
      source,
    )
  const conditions = source.replace(/\bif\s+[\w.]*(?:is_?file|is_?dir|exists)\([^()]*\)/g, '')
  if (
    !removes ||
    /\b(?:if|unless|filter|select|grep|endswith|endsWith|match|reject|skip|continue|next)\b/.test(conditions)
  )
    return []
  const deep =
    /\b(?:os\.walk|os\.fwalk|File::Find::find|Find\.find|walk)\s*\(?\s*["'](\/[^"']*)["']|\bPath\(\s*["'](\/[^"']*)["']\s*\)\.rglob\(\s*["']\*["']/g
  const flat =
    /\b(?:os\.listdir|os\.scandir|readdirSync|readdir|Dir\.(?:children|entries|each_child|foreach)|opendir)\s*\(?\s*["'](\/[^"']*)["']|\bPath\(\s*["'](\/[^"']*)["']\s*\)\.(?:iterdir\(|glob\(\s*["']\*["'])/g
  const globbed = /(?:\bi?glob(?:Sync)?\s*\(?|\bDir\s*\[)\s*["'](\/[^"']*[*?][^"']*)["']/g
  const found = /\bfind(?:depth)?\s*\(\s*(?:sub\s*)?\{[^}]*\}\s*,\s*["'](\/[^"']*)["']/g
  const paths = (pattern: RegExp): string[] =>
    [...source.matchAll(pattern)].map((match) => (match[1] ?? match[2] ?? '').replace(/(.)\/+$/, '$1'))
  return [
    ...[...paths(deep), ...paths(found)].map((path) => `${path}/${TREE}`),
    ...paths(flat).map((path) => `${path}/${STAR}`),
    ...paths(globbed).map(activate),
  ]
}

/** In front of a string that text is cut at or compared with: no name. */
const COMPARED =
  /(?:\.(?:[rl]?(?:split|strip|find|index)|join|replace\w*|starts_?[wW]ith|ends_?[wW]ith|indexOf|lastIndexOf|count|r?partition|includes)\(|[=!]==?|\bin)\s*[rbu]?$/

/** `for (const p of [...]) rmSync(p)`: what is removed is what the loop goes through. */
function removesItsNames(source: string): boolean {
  if (!/\b(?:for(?:each)?|map|each|forEach)\b/.test(source)) return false
  const removed = source.matchAll(
    /\b(?:remove|unlink\w*|rmtree|rmSync|rm_rf|rmdirSync|unlinkSync)\s*\(?\s*([A-Za-z_$][\w$]*)\s*[,)]/g,
  )
  for (const [, name = ''] of removed) {
    const escaped = name.replaceAll('$', '\\$')
    const loops = `\\bfor(?:each)?\\b[^\\n;{]*(?<![\\w$])${escaped}(?!\\w)|(?<![\\w$])${escaped}\\s*\\)?\\s*=>|\\|\\s*${escaped}\\s*\\||function\\s*\\w*\\(\\s*${escaped}(?!\\w)|lambda\\s+${escaped}(?!\\w)`
    if (new RegExp(loops).test(source)) return true
  }
  return false
}

/** The first argument of a call when it is a string (perhaps wrapped once, as in `Path("/")`). */
function argument(source: string, from: number): string | undefined {
  const rest = source.slice(from, from + 2_000)
  const found =
    /^(?:(?:pathlib\.)?Path\(|String\(|File\.join\(|\[|b|r|f|u|my\s+)*\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`)/.exec(
      rest,
    )
  return found ? unescape(found[1] ?? found[2] ?? found[3] ?? '') : undefined
}
