/** Small languages whose programs hold commands: m4, just, cmake scripts, jq that prints, packages with scripts. */
import { nameList } from '../../../contract/quote.js'
import { activate, type Alternatives, ANYTHING, NOTHING, plain, UNKNOWN } from '../../words/text.js'
import { type Call, fieldsOf, known, options, type Program } from '../row/call.js'
import { decodeBase64 } from '../row/decoding.js'
import { targets } from '../files/find.js'
import { cmake as cmakeTools } from '../files/removal.js'
import { judgeCode } from './inline.js'

/** The texts a program reads: named files that are known here, or its input. */
function texts(call: Call, files: readonly string[]): string[] {
  const from = files.length === 0 ? (call.stdin ?? []) : files.flatMap((file) => call.input(file))
  return from.filter((text) => text !== UNKNOWN).map(plain)
}

export const m4: Program = (call) => {
  const given = options(call.args, { short: 'DUIoLlFR', long: ['define', 'include'] })
  const defined = given.all('D', 'define').map(plain)
  for (const text of [...texts(call, given.operands), ...defined])
    for (const match of text.matchAll(/\be?syscmd\(\s*[`"']?([^)]*?)['"]?\s*\)/g)) {
      const value = defined.find((one) => one.startsWith(`${match[1]}=`))?.slice(`${match[1]}=`.length)
      call.tryScript(value ?? match[1] ?? '')
    }
}

/** Recipes of a justfile: indented lines below `name:`. */
export const just: Program = (call) => {
  const given = options(call.args, {
    short: 'fdc',
    long: ['justfile', 'working-directory', 'command', 'set', 'shell', 'shell-arg'],
  })
  if (given.has('n', 'dry-run', 'l', 'list', 'show', 'summary')) return
  const files = given.all('f', 'justfile')
  const found = files.length > 0 ? texts(call, files) : ['justfile', 'Justfile'].flatMap((file) => texts(call, [file]))
  for (const text of found)
    for (const line of text.split('\n')) {
      call.tryMatches(line, /^[ \t]+[@-]*(.*)$/g)
      call.tryMatches(line, /:=\s*`([^`]*)`/g)
    }
  const at = call.argv.findIndex((word) => word === '-c' || word === '--command')
  if (at > 0 && at < call.argv.length - 1) call.start(call.argv.slice(at + 1), call.stdin)
}

/** Build tools and the files they read: commands stand in them in a language of their own. */
export const BUILD_FILES: Readonly<Record<string, readonly string[]>> = {
  rake: ['Rakefile', 'rakefile', 'Rakefile.rb'],
  gradle: ['build.gradle', 'build.gradle.kts', 'settings.gradle'],
  task: ['Taskfile.yml', 'Taskfile.yaml'],
  composer: ['composer.json'],
  ninja: ['build.ninja'],
  scons: ['SConstruct'],
  ant: ['build.xml'],
  invoke: ['tasks.py'],
  fab: ['fabfile.py'],
  tox: ['tox.ini'],
  bundle: ['Gemfile'],
  meson: ['meson.build'],
  nox: ['noxfile.py'],
  'ansible-playbook': [],
}

/** Code that tools read by the name of its file, wherever this command or its session wrote one. */
const CONFIGURES: readonly { readonly programs: string; readonly files: RegExp; readonly language: string }[] = [
  { programs: 'pip pip3 uv poetry', files: /\/setup\.py$/, language: 'python' },
  { programs: 'pytest', files: /\/conftest\.py$/, language: 'python' },
  { programs: 'cargo', files: /\/(?:build|main)\.rs$/, language: 'c' },
  {
    programs: 'vite vitest jest mocha webpack rollup babel eslint prettier next nuxt astro tsup playwright gulp grunt',
    files: /\/(?:[\w-]+\.config|\.(?:eslint|babel|prettier|mocha)rc|[gG](?:ulp|runt)file)\.[cm]?[jt]s$/,
    language: 'node',
  },
]

/** Judges code that this program will find beside it. */
export const configured: Program = (call, name) => {
  for (const { programs, files, language } of CONFIGURES)
    if (nameList(programs).includes(name))
      for (const [path, found] of call.shell.files)
        if (files.test(path)) for (const text of found) if (known(text)) judgeCode(plain(text), language, call)
}

export const CONFIGURED = CONFIGURES.flatMap(({ programs }) => nameList(programs))

/** Runs a build file that this command or its session wrote, or code that is given by `-e`: its strings are judged. */
export const buildFile: Program = (call, name) => {
  const given = options(call.args, { short: 'ef', long: ['execute', 'rakefile', 'file', 'build-file'] })
  const named = name === 'ansible-playbook' ? given.operands : given.all('f', 'rakefile', 'file', 'build-file')
  const files = [...named, ...(BUILD_FILES[name] ?? [])]
  for (const text of [...given.all('e', 'execute').map(plain), ...files.flatMap((file) => texts(call, [file]))]) {
    judgeCode(text, 'ruby', call)
    for (const line of text.split('\n')) {
      const value = /^\s*(?:-\s*)?(?:"?[\w.-]+"?\s*[:=]\s*)?["']?(.*?)["']?,?$/.exec(line)?.[1] ?? ''
      call.tryScript(value)
    }
    // Ansible's own way to remove a file, and keys in braces.
    if (/\bstate"?\s*[:=]\s*"?absent\b/.test(text))
      for (const match of text.matchAll(/\b(?:path|dest|name)"?\s*[:=]\s*["']?([/~][^\s"',}]*)/g))
        call.effect('delete-tree', match[1] ?? '')
    call.tryMatches(text, /[{,]\s*"?[\w.]+"?\s*:\s*["']?([^{}[\]"',\n]*\s[^{}[\]"',\n]*)/g)
    call.tryMatches(text, /"((?:[^"\\\n]|\\.)*\s(?:[^"\\\n]|\\.)*)"/g)
  }
}

export const cmake: Program = (call, name) => {
  const at = call.argv.indexOf('-P')
  for (const text of texts(call, [at > 0 ? (call.argv[at + 1] ?? '') : 'CMakeLists.txt'])) {
    for (const match of text.matchAll(/\bexecute_process\s*\(\s*COMMAND\s+([^)]*)/gi))
      call.tryScript((match[1] ?? '').replace(/\b(?:WORKING_DIRECTORY|RESULT_VARIABLE|OUTPUT_\w+)\b.*/s, ''))
    for (const [, verb = '', rest = ''] of text.matchAll(
      /\bfile\s*\(\s*(REMOVE(?:_RECURSE)?|WRITE|RENAME)\s+([^)]*)/gi,
    ))
      for (const word of /^REMOVE/i.test(verb) ? fieldsOf(rest) : fieldsOf(rest).slice(0, 1))
        call.effect(
          /RECURSE|RENAME/i.test(verb) ? 'delete-tree' : 'overwrite',
          word.replaceAll('"', '').replace(/\$ENV\{(\w+)\}/g, (_, name) => call.shell.get(name).values[0] ?? ''),
        )
  }
  return cmakeTools(call, name)
}

/** `jq -nr '"text"'` prints text, `jq -r .x` what the input holds there; yq prints text without being asked. */
export const jq: Program = (call, name) => {
  const given = options(call.args, { short: 'LfC', long: ['arg', 'argjson', 'indent', 'from-file'] })
  const filter = plain(given.operands[0] ?? '')
  const [, literal, coded] = /^\s*("(?:[^"\\]|\\.)*")\s*(\|\s*@base64d)?\s*$/.exec(filter) ?? []
  // `jq -R @base64d`: each line of the input as a text.
  const input = given.operands.length > 1 ? call.input(given.operands[1] ?? '') : call.stdin
  const [line] = input ?? []
  if (given.has('R', 'raw-input') && /^(?:\.\s*\|\s*)?@base64d$/.test(filter.trim()) && known(line))
    return [`${decodeBase64(line.trim()) ?? UNKNOWN}\n`]
  const raw = name === 'yq' || given.has('r', 'raw-output', 'j', 'join-output')
  if (literal === undefined) return raw ? fieldOf(filter, input) : undefined
  try {
    const text = String(JSON.parse(literal))
    return [`${coded === undefined ? (raw ? text : literal) : (decodeBase64(text) ?? UNKNOWN)}\n`]
  } catch {
    return
  }
}

function fieldOf(filter: string, stdin: Call['stdin']): Alternatives | undefined {
  const [text] = stdin ?? []
  if (!known(text) || !/^\.[\w.]*$/.test(filter)) return undefined
  try {
    // Of YAML, a key and its value on a line.
    const [, key, plainValue] = /^\s*([\w-]+):[ \t]+["']?([^"'\n{[]*)["']?\s*$/.exec(text) ?? []
    let value: unknown = key === undefined ? JSON.parse(text) : { [key]: plainValue }
    for (const key of filter.split('.').filter((part) => part !== ''))
      value = (value as Record<string, unknown> | null)?.[key]
    return typeof value === 'string' ? [`${value}\n`] : undefined
  } catch {
    return undefined
  }
}

/** locate prints paths of the whole machine that contain the pattern. */
export const locate: Program = (call) => {
  const given = options(call.args, { short: 'dln', long: ['database', 'limit'] })
  const all = given.operands.map(plain)
  if (all.length === 0) return ANYTHING
  const broad = all.some((pattern) => /^[*?./]*$/.test(pattern))
  const names = given.operands.map((pattern) =>
    activate(/[*?[]/.test(plain(pattern)) ? plain(pattern) : `*${plain(pattern)}*`),
  )
  return [`${targets(['/'], !broad, broad ? [] : names, call).join('\n')}\n`]
}

/** `npm pkg set scripts.x=CMD`, `npm run x` with a package.json that this command wrote. */
export const npmScripts: Program = (call, name) => {
  const [verb = '', ...rest] = options(call.args, { short: 'w', long: ['prefix', 'workspace'] }).operands.map(plain)
  if (verb === 'pkg' && rest[0] === 'set')
    for (const setting of rest.slice(1)) call.tryMatches(setting, /^scripts\.[^=]*=(.*)$/gs)
  // Scripts are given to this program instead of to sh.
  const shell = /^(?:config|set)$/.test(verb) ? /\bscript-shell[= ](\S+)/.exec(rest.join(' '))?.[1] : undefined
  if (shell !== undefined) call.walker.code(shell)
  if (shell !== undefined && shell.includes('/')) call.startExternal([shell])
  if (verb === 'set-script') call.tryScript(rest.slice(1).join(' '))
  // The others run a script by its name alone.
  if (
    name === 'npm' &&
    !/^(?:run|run-script|rum|test|t|start|stop|restart|install|i|ci|publish|pack|prepare)$/.test(verb)
  )
    return
  for (const text of call.contents('package.json').filter(known))
    for (const line of scriptsOf(text)) call.tryScript(line)
}

function scriptsOf(text: string): string[] {
  try {
    const { scripts } = JSON.parse(text) as { scripts?: Record<string, unknown> }
    return Object.values(scripts ?? {}).filter((line) => typeof line === 'string')
  } catch {
    return [text]
  }
}

/** `7z a -sdel x.7z DIR` removes what it packed. */
export const sevenZip: Program = (call) => {
  const words = call.args
  if (words.includes('-sdel')) call.effects('delete-tree', words.filter((one) => !one.startsWith('-')).slice(2))
}

/** `qemu-img convert SOURCE TARGET` and its like write their last operand, `create FILE SIZE` its first. */
export const qemuImage: Program = (call) => {
  const [verb = '', ...rest] = options(call.args, { short: 'fOotSmlBbFUTr' }).operands
  const sized = /^(?:create|resize)$/.test(plain(verb))
  const target =
    plain(verb) === 'dd' ? rest.find((word) => word.startsWith('of='))?.slice(3) : rest[sized ? 0 : rest.length - 1]
  if (/^(?:convert|dd|create|commit|resize)$/.test(plain(verb)) && target !== undefined)
    call.effect('overwrite', target)
  return NOTHING
}
