/** Reads inline code of other languages for what it would do to the machine. It looks at strings and calls, not at meaning. */
import { GuardLimit } from '../limits.js'
import { activate } from '../text.js'
import type { Call } from './call.js'
import { decodeBase64, decodeHex, unescape } from './printing.js'

/** Calls that hand text to a shell or start a program. */
const STARTS =
  /\b(?:system|systemlist|exec|execv\w*|execl\w*|popen\d?|spawn\w*|posix_spawn\w*|call|check_call|check_output|getoutput|getstatusoutput|run|Popen|execSync|execFile|execFileSync|spawnSync|shell_exec|passthru|proc_open|pcntl_exec|execute|open3|capture\w*|pipe|jobstart|termopen|shell-command|call-process|start-process|Execute|ProcessBuilder|cmd|pclose|startfile|createProcess|fork_exec|async_run|sh|\$|qx|writefile)\b|`|%x|\bdo shell script\b|\|\s*getline|\|\s*"|\bqx\b|open\s*\(?\s*\w*,?\s*["']\s*\||\bsystem\b/

/** Calls that remove what they are given; the second group is read as the path. */
const REMOVES_TREE =
  /\b(?:rmtree|remove_tree|rm_rf|rm_r|remove_entry_secure|remove_dir_all|removeSync|emptyDirSync|emptyDir|rimraf(?:\.sync|Sync)?|deltree|delete_directory|RemoveAll|rmdirSync|rmdir_r|rm|rmSync|rmdir|delete-directory|rmrf|removedirs|deleteRecursively|deleteDir|delTree|remove)\b\s*\(?\s*/g
const REMOVES_FILE = /\b(?:os\.(?:remove|unlink|truncate)|unlink(?:Sync)?|File\.(?:delete|unlink|truncate)|truncate(?:Sync)?|delete|os\.remove)\b\s*\(?\s*/g
const WRITES = /\b(?:writeFile(?:Sync)?|file_put_contents|createWriteStream|File\.write|IO\.write|write_text|write_bytes|WriteAllText|spew|openSync)\b\s*\(?\s*/g
const COPIES = /\b(?:copyFileSync|copyFile|copyfile|copy2?|copytree|cp|cp_r|copy_file)\b\s*\(\s*[^,()]*,\s*/g
const MOVES = /\b(?:renameSync|rename|move|moveSync)\b\s*\(?\s*/g
const OPENS = /\b(?:open|fopen|File\.open|File\.new|io\.open|sysopen|os\.open)\b\s*\(?\s*/g
const MODES = /\b(?:chmod|chown|lchown|chmodSync|chownSync|chmod_R|chown_R)\b\s*\(?\s*/g

const HOME_CALLS =
  /(?:Path\.home\(\)|(?:os\.path\.)?expanduser\(\s*["']~\/?["']\s*\)|os\.environ(?:\.get\()?\[?\(?\s*["']HOME["']\s*[\])]|os\.getenv\(\s*["']HOME["']\s*\)|process\.env\.HOME|process\.env\[["']HOME["']\]|(?:os|require\(["'](?:node:)?os["']\))\.homedir\(\)|Dir\.home|ENV\[["']HOME["']\]|\$ENV\{["']?HOME["']?\}|getenv\(\s*["']HOME["']\s*\)|\$_(?:ENV|SERVER)\[["']HOME["']\]|File\.expand_path\(["']~["']\)|Deno\.env\.get\(["']HOME["']\))/g

export function judgeCode(code: string, language: string, call: Call): void {
  if (code.length > 200_000) throw new GuardLimit('size', 'inline code is too long to check')
  call.walker.step()
  const home = call.shell.home[0] ?? ''
  const source = withVariables(joined(code.replace(HOME_CALLS, () => `"${home}"`)))
  if (STARTS.test(source) || /\beval\b/.test(source)) for (const hidden of decodedStrings(source)) judgeHidden(hidden, language, call)
  if (forksForever(source)) call.walker.report('fork-bomb', [call.argv[0] ?? language, 'fork'])
  if (STARTS.test(source)) startedCommands(source, call)
  if (/\b(?:exec|eval|Function|compile|instance_eval|load|loadstring)\s*\(?\s*["'`]/.test(source)) {
    for (const { text } of strings(source)) if (/[(]/.test(text) && text.length < source.length - 4) call.walker.deeper(() => judgeCode(text, language, call))
  }
  if (language === 'tclsh') for (const match of source.matchAll(/\b(?:exec|spawn)\s+([^\]\n;]+)/g)) call.walker.tryScript(match[1] ?? '', call.shell)
  fileCalls(source, call)
  const redirect = language === 'awk' ? source.matchAll(/>\s*"([^"]+)"/g) : []
  for (const match of redirect) call.walker.effect('overwrite', match[1] ?? '', call.shell, call.argv)
  if (/\bos\.kill\s*\(\s*-1\b|\bprocess\.kill\s*\(\s*-1\b|\bkill\s*\(?\s*["']?(?:KILL|TERM|9|-?SIGKILL)["']?\s*(?:,|=>)\s*-1\b/.test(source)) call.walker.report('kill-everything', ['kill', '-1'])
  if (/\breboot\s*\(\s*(?:RB_|0x|LINUX_REBOOT)/.test(source)) call.walker.report('host-down', ['reboot()'])
}

/** What print statements with constant text would write; enough to follow `python -c "print(...)" | sh`. */
export function printedBy(code: string): readonly string[] | undefined {
  const source = withVariables(joined(code))
  const printed = [...source.matchAll(/\b(?:print|puts|echo|printf|console\.log|process\.stdout\.write|sys\.stdout\.write|say|io\.write|p)\b\s*\(?\s*(?="|'|`)/g)].map(
    (match) => argument(source, match.index + match[0].length) ?? '',
  )
  const decoded = decodedStrings(source)
  const all = [...printed, ...decoded].filter((text) => text !== '')
  return all.length > 0 ? [`${all.join('\n')}\n`] : undefined
}

/** Code inside decoded text is either the same language or a shell command. */
function judgeHidden(text: string, language: string, call: Call): void {
  call.walker.deeper(() => {
    call.walker.tryScript(text, call.shell)
    if (text.length < 20_000) judgeCode(text, language, call)
  })
}

const STRING =
  /"""([\s\S]*?)"""|'''([\s\S]*?)'''|"((?:[^"\\\n]|\\[\s\S])*)"|'((?:[^'\\\n]|\\[\s\S])*)'|`((?:[^`\\]|\\[\s\S])*)`|%x\{([^}]*)\}|%x\(([^)]*)\)|\bqx\s*\{([^}]*)\}|\bqx\s*\(([^)]*)\)|\bqx\/([^/]*)\/|\bqq?\s*\{([^}]*)\}|\bqq?\s*\(([^)]*)\)/g

function strings(source: string): { text: string; start: number; end: number }[] {
  const found: { text: string; start: number; end: number }[] = []
  for (const match of source.matchAll(STRING)) {
    const raw = match.slice(1).find((group) => group !== undefined) ?? ''
    found.push({ text: unescape(raw), start: match.index, end: match.index + match[0].length })
    if (found.length >= 500) break
  }
  return found
}

function startedCommands(source: string, call: Call): void {
  const found = strings(source)
  for (const { text } of found) if (/\S/.test(text)) call.walker.tryScript(text.replace(/^\s*\|\s*|\s*\|\s*$/g, ''), call.shell)
  // ["rm", "-rf", "/"] and ("rm", "-rf", "/"): neighbours separated by commas are one argv.
  let group: string[] = []
  for (const [i, one] of found.entries()) {
    const previous = found[i - 1]
    const between = previous ? source.slice(previous.end, one.start) : ''
    if (previous && /^\s*,\s*(?:\[\s*)?$/.test(between)) group.push(one.text)
    else {
      runGroup(group, call)
      group = [one.text]
    }
  }
  runGroup(group, call)
  for (const words of source.matchAll(/%w[[({]([^\])}]*)[\])}]|\bqw\s*[({[/]([^)}\]/]*)/g))
    runGroup(
      (words[1] ?? words[2] ?? '').split(/\s+/).filter((word) => word !== ''),
      call,
    )
}

function runGroup(group: readonly string[], call: Call): void {
  if (group.length < 2) return
  try {
    call.walker.argv(group, call.shell.fork(), null)
  } catch (error) {
    if (!(error instanceof GuardLimit) || error.limit === 'steps') throw error
  }
}

function fileCalls(source: string, call: Call): void {
  const path = (from: number): string | undefined => argument(source, from)
  const effect = (kind: Parameters<typeof call.walker.effect>[0], word: string | undefined, mode?: string): void => {
    if (word !== undefined && word !== '') call.walker.effect(kind, word, call.shell, call.argv, mode)
  }
  // A loop over a list of names: the names are the arguments.
  if (/\b(?:for|map|each|forEach)\b/.test(source) && /\b(?:remove|unlink\w*|rmtree|rmSync|rm_rf|rmdirSync|unlinkSync)\s*\(?\s*[A-Za-z_$][\w$]*\s*[,)]/.test(source)) {
    for (const { text } of strings(source)) if (/^[/~]/.test(text)) effect('delete-tree', activate(text))
  }
  for (const match of source.matchAll(REMOVES_TREE)) effect('delete-tree', path(match.index + match[0].length))
  for (const match of source.matchAll(COPIES)) effect('overwrite', path(match.index + match[0].length))
  for (const match of source.matchAll(MOVES)) effect('move', path(match.index + match[0].length))
  const recursive = /recursive\s*=\s*T(?:RUE)?\b/.test(source)
  for (const match of source.matchAll(REMOVES_FILE)) effect(recursive ? 'delete-tree' : 'delete', path(match.index + match[0].length))
  for (const match of source.matchAll(WRITES)) effect('overwrite', path(match.index + match[0].length))
  for (const match of source.matchAll(OPENS)) {
    const rest = source.slice(match.index, match.index + 400)
    const called = /^[^,]*,\s*(?:(?:flags|mode)\s*=\s*)?(?:[^)\n;]*?)(?:["'](?:r[bt]*\+[bt]*|[wax][bt+]*|[+]?>{1,2}[^"']*|\+<)["']|O_(?:WRONLY|RDWR|TRUNC))/.exec(rest)
    if (!called && !/^\w+\s*\(?\s*(?:my\s+)?[\w$*]+\s*,\s*["']\+?>/.test(rest)) continue
    const appends = /["']a[bt+]*["']|["']>>/.test(called?.[0] ?? rest)
    effect(appends ? 'append' : 'overwrite', path(match.index + match[0].length) ?? /["']\+?>{1,2}\s*([^"']+)["']/.exec(rest)?.[1] ?? /,\s*["'][+<>]+["']\s*,\s*["']([^"']+)["']/.exec(rest)?.[1])
    effect(appends ? 'append' : 'overwrite', /,\s*["']\+?>{1,2}["']\s*,\s*["']([^"']+)["']/.exec(rest)?.[1] ?? /,\s*["']\+?>{1,2}\s*(\/[^"']+)["']/.exec(rest)?.[1])
  }
  for (const match of source.matchAll(MODES))
    effect(/_R/.test(match[0]) ? 'mode-tree' : 'mode', path(match.index + match[0].length), /0o?([0-7]{3,4})/.exec(source.slice(match.index, match.index + 200))?.[1] ?? '777')
  for (const match of source.matchAll(/\bPath\(\s*(["'][^"']*["'])\s*\)\s*\.\s*(unlink|rmdir|write_text|write_bytes|open)\b/g))
    effect(match[2] === 'unlink' ? 'delete' : match[2] === 'rmdir' ? 'create' : 'overwrite', match[1]?.slice(1, -1))
}

/** The first argument of a call when it is a string (perhaps wrapped once, as in `Path("/")`). */
function argument(source: string, from: number): string | undefined {
  const rest = source.slice(from, from + 2_000)
  const found = /^(?:(?:pathlib\.)?Path\(|String\(|File\.join\(|\[|b|r|f|u|my\s+)*\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`)/.exec(rest)
  return found ? unescape(found[1] ?? found[2] ?? found[3] ?? '') : undefined
}

/** "r" + "m" and "r" . "m" are one string. */
function joined(source: string): string {
  let text = source
  for (let round = 0; round < 20; round++) {
    const next = text
      .replace(/"((?:[^"\\\n]|\\.)*)"\s*(?:\+|\.(?!\w)|\.\.|<>|&)\s*"((?:[^"\\\n]|\\.)*)"/g, '"$1$2"')
      .replace(/'((?:[^'\\\n]|\\.)*)'\s*(?:\+|\.(?!\w)|\.\.|<>|&)\s*'((?:[^'\\\n]|\\.)*)'/g, "'$1$2'")
    if (next === text) return text
    text = next
  }
  return text
}

/** Replaces a name by the one string it was given. */
function withVariables(source: string): string {
  const values = new Map<string, string>()
  for (const match of source.matchAll(/(?:^|[\s;({,])(?:const\s+|let\s+|var\s+|my\s+|local\s+)?([$@]?[A-Za-z_]\w*)\s*=\s*("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')(?=\s*(?:[;,)\n]|$))/g)) {
    if (match[1] && match[2] && values.size < 20) values.set(match[1], match[2])
  }
  let text = source
  for (const [name, value] of values) {
    const escaped = name.replace(/[$@]/g, '\\$&')
    text = text.replace(new RegExp(`((?:\\(|,|\\+|\\s)\\s*)${escaped}(?=\\s*[,);+\\n}]|$)`, 'g'), (_, before: string) => before + value)
  }
  return joined(text)
}

/** Text that was encoded on purpose, decoded where the call is known. */
function decodedStrings(source: string): string[] {
  const found: string[] = []
  const base64 = /\b(?:b64decode|atob|decode_base64|decode64|urlsafe_decode64|base64_decode|from_base64|frombase64string|standard_b64decode|base64)\b/i.test(source) || /unpack\(?\s*["']m/.test(source)
  const hex = /\b(?:fromhex|unhexlify|hex2bin)\b|["']hex["']|pack\s*\(?\s*["']H/i.test(source)
  if (!base64 && !hex && !/\[::-1\]|\breverse\b|\brot_?13\b|strrev|fromCharCode|\bchr\s*\(/.test(source)) return found
  for (const { text } of strings(source)) {
    if (text.length < 6) continue
    const decoded = [base64 ? decodeBase64(text) : undefined, hex ? decodeHex(text) : undefined]
    if (/\[::-1\]|\breverse\b|strrev/.test(source)) decoded.push([...text].reverse().join(''))
    if (/rot_?13/i.test(source)) decoded.push(text.replace(/[a-z]/gi, (char) => String.fromCharCode(char.charCodeAt(0) + (/[a-m]/i.test(char) ? 13 : -13))))
    for (const one of decoded) if (one !== undefined && /^[\t\n\r\x20-\x7e]+$/.test(one)) found.push(one)
  }
  const codes = /fromCharCode\(([\d,\s]+)\)/.exec(source)?.[1] ?? [...source.matchAll(/\bchr\s*\(?\s*(\d{2,3})\s*\)?/g)].map((match) => match[1]).join(',')
  if (codes) found.push(String.fromCharCode(...codes.split(',').slice(0, 1_000).map(Number)))
  return found
}

/** fork in a loop that nothing ends. */
function forksForever(source: string): boolean {
  if (!/fork\b|\bProcess\.spawn\b|\bspawn\s*\(|\bsubprocess\b|\bPopen\b/.test(source)) return false
  if (/\bfork\b[\s();]*\bwhile\b\s*\(?\s*(?:1|true|fork)\b|\bfork\b\s*\(?\)?\s*while\s+fork/.test(source)) return true
  const endless = /\bwhile\s*\(?\s*(?:1|True|true|:)\s*\)?|\bloop\s*(?:do|\{)|\bfor\s*\(\s*;\s*;\s*\)|\buntil\s+false\b|\bitertools\.count\b|\bwhile\s*\(?\s*fork\b|\bforever\b|\bwhile\s+True\b/.test(
    source,
  )
  return (
    endless &&
    (/fork\b/.test(source) || /\b(?:spawn|Popen)\w*\s*\(\s*(?:process\.execPath|process\.argv|sys\.(?:argv|executable)|__file__|\$0|\[\s*sys\.)/.test(source)) &&
    !/\b(?:wait|waitpid|sleep|join)\b/.test(source)
  )
}
