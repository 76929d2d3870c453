/** A git configuration, read as git reads it: what in it names files or starts programs, and what of it is harmless. */
import { nameSet } from '../contract/quote.js'

export interface GitSetting {
  /** In small letters, as git compares them. */
  readonly section: string
  readonly subsection: string | null
  readonly key: string
  /** Null: a key alone, which means true. */
  readonly value: string | null
}

const BOOLEAN = /^(?:true|false|yes|no|on|off|[01])?$/i
const HEADER = /\[\s*([\w.-]+)(?:[ \t]+"((?:[^"\\\n]|\\.)*)")?\s*\]/y
const KEY = /([A-Za-z][\w-]*)[ \t]*(=|$|(?=\n))/y
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b', '"': '"', '\\': '\\' }

/** Null where git would refuse it, or reads it in a way that is not followed here. */
export function readGitConfig(text: string): GitSetting[] | null {
  const settings: GitSetting[] = []
  const all = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  let section: Pick<GitSetting, 'section' | 'subsection'> | null = null
  let at = 0
  while (at < all.length) {
    const char = all[at] as string
    if (/\s/.test(char)) at += 1
    else if (char === '#' || char === ';') at = endOfLine(all, at)
    else if (char === '[') {
      HEADER.lastIndex = at
      const header = HEADER.exec(all)
      if (!header) return null
      const [name = '', ...below] = (header[1] as string).toLowerCase().split('.')
      const quoted = header[2]?.replace(/\\(.)/g, '$1') ?? null
      section = { section: name, subsection: quoted ?? (below.length > 0 ? below.join('.') : null) }
      at = HEADER.lastIndex
    } else {
      KEY.lastIndex = at
      const key = KEY.exec(all)
      if (!key || !section) return null
      const value: Value | null = key[2] === '=' ? readValue(all, KEY.lastIndex) : { text: null, end: KEY.lastIndex }
      if (!value) return null
      settings.push({ ...section, key: (key[1] as string).toLowerCase(), value: value.text })
      at = value.end
    }
  }
  return settings
}

interface Value {
  readonly text: string | null
  readonly end: number
}

function readValue(all: string, from: number): Value | null {
  let value = ''
  let spaces = ''
  let quoted = false
  let at = from
  for (; at < all.length; at++) {
    const char = all[at] as string
    if (char === '\n' && quoted) return null
    if (char === '\n') break
    if (!quoted && (char === '#' || char === ';')) {
      at = endOfLine(all, at)
      break
    }
    if (!quoted && /\s/.test(char)) {
      if (value !== '') spaces += char
      continue
    }
    if (char === '"') {
      quoted = !quoted
      continue
    }
    let next = char
    if (char === '\\') {
      const escaped = all[++at]
      if (escaped === '\n') continue
      next = ESCAPES[escaped ?? ''] ?? ''
      if (next === '') return null
    }
    value += spaces + next
    spaces = ''
  }
  return quoted ? null : { text: value, end: at }
}

function endOfLine(all: string, from: number): number {
  const end = all.indexOf('\n', from)
  return end < 0 ? all.length : end
}

/** Keys of `core` that start nothing and lead nowhere else. */
const CORE = nameSet(`
  repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf
  quotepath sharedrepository abbrev commentchar compression bigfilethreshold checkstat trustctime preloadindex
  untrackedcache sparsecheckout sparsecheckoutcone protecthfs protectntfs longpaths multipackindex commitgraph
  whitespace splitindex worktree fsyncmethod fsync
`)
const REMOTE =
  /^(?:url|pushurl|fetch|push|tagopt|prune|prunetags|mirror|promisor|partialclonefilter|skipfetchall|gh-resolved)$/
const SUBMODULE = /^(?:url|active|branch|ignore|shallow|fetchrecursesubmodules|recurse|path)$/
const SECTIONS = nameSet(`
  branch user author committer extensions push pull fetch rebase merge commit tag color advice gc index log status
  diff init feature
`)
const STARTS =
  /command|cmd|program|helper|hook|driver|editor|pager|textconv|external|filter|tool|template|options|strategy|path|file/
const LFS = new Set([
  'clean=git-lfs clean -- %f',
  'smudge=git-lfs smudge -- %f',
  'process=git-lfs filter-process',
  'required=true',
])

/**
 * Whether git starts no program because of it, and reads no other configuration. What is not
 * known to be harmless is not.
 */
export function isHarmless({ section, subsection, key, value }: GitSetting): boolean {
  if (section === 'core') return CORE.has(key) || (key === 'fsmonitor' && BOOLEAN.test(value ?? ''))
  if (section === 'remote') return REMOTE.test(key) && !/^-|::/.test(value ?? '')
  if (section === 'submodule')
    return SUBMODULE.test(key) || (key === 'update' && /^(?:checkout|rebase|merge|none)$/.test(value ?? ''))
  if (section === 'filter' && subsection === 'lfs') return LFS.has(`${key}=${value}`)
  return SECTIONS.has(section) && !STARTS.test(key)
}

/**
 * The harmless part, as text that git reads the same way; null where all of it is harmless.
 * `mayBeTree`: whether files may be checked out to what `core.worktree` names.
 */
export function harmlessPart(text: string, mayBeTree: (path: string) => boolean = () => true): string | null {
  const settings = readGitConfig(text)
  if (!settings) return ''
  const leadsAway = ({ section, key, value }: GitSetting): boolean =>
    section === 'core' && key === 'worktree' && !mayBeTree(value ?? '')
  const kept = settings.filter((one) => isHarmless(one) && !leadsAway(one))
  if (kept.length === settings.length) return null
  return kept
    .map(({ section, subsection, key, value }) => {
      const name = subsection === null ? section : `${section} "${subsection.replace(/["\\]/g, '\\$&')}"`
      const words = value === null ? key : `${key} = "${value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`
      return `[${name}]\n\t${words}\n`
    })
    .join('')
}

/** Values that are a file or directory, relative to the worktree (`include`: to the file). */
const PATH_KEYS = /^(?:hookspath|attributesfile|excludesfile|templatedir|path)$/
const INTERPRETER = /^(?:env|sh|bash|dash|zsh|node|deno|bun|python[\d.]*|perl|ruby|php)$/

export interface Named {
  readonly path: string
  readonly isInclude: boolean
}

/**
 * Files and directories that a configuration names, and programs and scripts that git starts by
 * a path without being told to.
 */
export function namedBySettings(settings: readonly GitSetting[]): Named[] {
  return settings.flatMap(({ section, key, value }): Named[] => {
    if (!value || BOOLEAN.test(value) || value.startsWith('~')) return []
    if (section === 'include' || section === 'includeif') return [{ path: value, isInclude: true }]
    if (PATH_KEYS.test(key)) return [{ path: value, isInclude: false }]
    const isStarted = key === 'fsmonitor' || STARTS.test(key) || section === 'filter' || section === 'pager'
    return isStarted ? programsIn(value).map((path) => ({ path, isInclude: false })) : []
  })
}

/** The top of the repository, as command lines name it. */
const TOP = /["']?\$(?:PWD|\{PWD\}|GIT_WORK_TREE|\{GIT_WORK_TREE\}|\(git rev-parse --show-toplevel\))["']?\//g

/** The programs of a command line, and the script where one is an interpreter. */
function programsIn(line: string): string[] {
  return line
    .replace(/^!/, '')
    .replace(TOP, './')
    .split(/[;|&]+/)
    .flatMap(programOf)
}

function programOf(command: string): string[] {
  const words = command.trim().split(/\s+/)
  const first = words.findIndex((word) => !INTERPRETER.test(word.replace(/^.*\//, '')) && !word.startsWith('-'))
  const word = words[first]?.replace(/^["']|["']$/g, '') ?? ''
  return /^[\w./@+-]*\/[\w./@+-]*$/.test(word) || (first > 0 && /^[\w.@+-]+$/.test(word)) ? [word] : []
}
