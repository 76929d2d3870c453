/** What a walk tells: effects and reads, each at every path that a word may mean, judged and shown to policy. */
import type { Effect, EffectKind, Finding } from '../rules/findings.js'
import { judgeEffect } from '../rules/judge.js'
import { isBroad } from '../words/glob.js'
import { locate, resolvePath } from '../words/paths.js'
import type { ShellState } from '../words/state.js'
import { FAILED, readable, TREE, UNKNOWN } from '../words/text.js'
import type { Walker } from './walk.js'

/** What policy is told of every effective command and every effect. */
export interface Observer {
  command(argv: readonly string[], shell: ShellState, walker: Walker): void
  effect(effect: Effect, walker: Walker, argv: readonly string[]): void
  /** A command reads a file, or is given its name. The path is absolute. */
  reads(path: string, walker: Walker, argv: readonly string[]): void
  /**
   * Text that the command made becomes code. `certain` is false where the text may also be plain data, as a string in a
   * program is.
   */
  code(text: string, certain: boolean): void
  /** Code was run that cannot be read here: a downloaded script, an unknown variable as a command. */
  opaque(what: string, walker: Walker, words: readonly string[]): void
}

/** Programs of the system are written in these; images take one away only to link another version in its place. */
const INTERPRETER = /^(?:\/usr)?\/bin\/(?:python3|perl|sh)$/

export function walkEffect(
  kind: EffectKind,
  word: string,
  shell: ShellState,
  argv: readonly string[],
  mode: string | undefined,
  walker: Walker,
): void {
  for (const cwd of shell.cwd) {
    // Only the root itself is judged by what a failed command did not print: most scripts check nothing else.
    if (word.startsWith(FAILED) && locate(resolvePath(word.slice(1), '/'), [])?.place !== 'root') continue
    for (const path of pathsMeant(kind, word, cwd, walker)) {
      const effect: Effect = { kind, path, word: readable(word), mode }
      const judged = judgeEffect(effect, {
        homes: shell.ownHomes,
        mayExist: (one) => walker.disk.mayExist(one),
        guessed: walker.guesses,
      })
      if (INTERPRETER.test(path) && (kind === 'create' || (kind === 'overwrite' && !path.endsWith('/sh'))))
        takeBack(path, walker.findings)
      else if (judged) walker.report(judged.rule, [...argv.slice(0, 1).map(readable), readable(word)], judged.shown)
      walker.settings.observer.effect(effect, walker, argv)
    }
  }
}

/** The path itself, what its links in this command mean, and what the disk says of both. */
function pathsMeant(kind: EffectKind, word: string, cwd: string, { namesakes, disk }: Walker): ReadonlySet<string> {
  const path = namesakes.onHost(resolvePath(word.replace(FAILED, ''), cwd)) ?? ''
  if (path === '') return new Set()
  const meant = [path]
  const follows = !/^(?:delete|move|replace)/.test(kind) || /\/$|\/\/\uFDD5$/.test(word)
  const link = namesakes.behind(word.endsWith('/') && path !== '/' ? `${path}/` : path, follows)
  if (link !== undefined) meant.push(link)
  if (kind === 'delete-tree' && climbsOut(path)) meant.push('/')
  for (const real of [disk.withoutDots(word, cwd), ...meant.map((one) => disk.behind(one, follows))])
    if (real !== undefined) meant.push(real)
  return new Set(meant)
}

/**
 * `$(git rev-parse --show-toplevel)/../../..`: whatever it begins with, three up and nothing named is no place to wipe.
 */
function climbsOut(path: string): boolean {
  if (!path.startsWith(`${UNKNOWN}/`)) return false
  let above = 0
  let below = 0
  for (const part of path.replace(TREE, '').split('/').slice(1)) {
    if (part === '..' && below === 0) above++
    else if (part === '..') below--
    else if (!/^\.?$/.test(part) && !isBroad(part)) below++
  }
  return above >= 3 && below === 0
}

/** An interpreter that was taken away is there again. */
function takeBack(path: string, findings: Finding[]): void {
  for (let at = findings.length - 1; at >= 0; at--) {
    const { rule, words } = findings[at] as Finding
    if (rule === 'overwrite-critical' && /^(?:rm|unlink)$/.test(words[0] ?? '') && words[1] === path)
      findings.splice(at, 1)
  }
}

export function walkRead(word: string, shell: ShellState, argv: readonly string[], walker: Walker): void {
  // --file=PATH, -T/PATH, if=PATH, field=@PATH;type=...
  const bare = word
    .replace(/^(?:(?:--?[\w-]+=|-[A-Za-z](?=[/~@])|[\w.-]+=)?[@<]?)(?=[/.~\w])/, '')
    .replace(/^file:\/\//, '')
    .replace(/;[\w-]+=.*$/s, '')
  for (const cwd of shell.cwd) {
    const path = resolvePath(bare, cwd)
    if (!path.startsWith('/')) continue
    for (const one of [path, walker.namesakes.meaning(path)])
      if (one !== undefined) walker.settings.observer.reads(one, walker, argv)
  }
}

/** Findings that hold only if some variables are empty: says which, and how to be safe. */
export function blameUnset(from: number, names: readonly string[], { findings, tree }: Walker): void {
  const [first] = names
  if (first === undefined) return
  for (const [i, finding] of findings.entries()) {
    if (i < from || !finding.dangerous || !/^wipe-|overwrite-critical|open-permissions/.test(finding.rule)) continue
    const blamed: Finding = {
      ...finding,
      reason: `${finding.reason} if ${names.join(' or ')} is unset or empty, and nothing here sets it`,
      guidance: `Set ${first} first, or write \`"\${${first}:?}"\` so that the command stops where it is empty.`,
    }
    findings[i] = blamed
    tree.replace(finding, blamed)
  }
}
