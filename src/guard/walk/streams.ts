/** Where text flows: redirections, here-documents, descriptors, and the files that this same command has written. */
import type { Redirection } from 'unbash'
import { judgeCodeFile } from './code-files.js'
import { basename, listed } from '../programs/row/call.js'
import { resolvePath } from '../words/paths.js'
import type { ShellState } from '../words/state.js'
import {
  type Alternatives,
  ANYTHING,
  concat,
  DEVICES,
  EMPTY,
  FIFO,
  hasUnknown,
  hasWildcard,
  isConstant,
  NOTHING,
  READ_FIFO,
  SELECTED,
  TREE,
  unique,
} from '../words/text.js'
import { globMatches } from '../words/glob.js'
import type { Input, Walker } from './walk.js'
import { expandQuoted, expandSingle, expandText } from '../words/fold.js'

export class Streams {
  /** Where writing to a path feeds a command: `>(cmd)`, a coprocess. */
  private readonly sinks = new Map<string, (text: Alternatives) => void>()
  private unnamed = 63
  /** Bash gives `{name}<` the first free number from 10 on. */
  private named = 10

  constructor(private readonly walker: Walker) {}

  /** A descriptor that no redirection has named yet. */
  fresh(): number {
    return this.unnamed++
  }

  /** Whatever is written to the path is given to the command behind it. */
  feeds(path: string, sink: (text: Alternatives) => void): void {
    // What the command behind it writes to the same descriptor goes where that led before.
    let busy = false
    this.sinks.set(path, (text) => {
      if (busy) return
      busy = true
      try {
        sink(text)
      } finally {
        busy = false
      }
    })
  }

  /** What a command reads after its redirections. */
  inputOf(redirects: readonly Redirection[], shell: ShellState, stdin: Input): Input {
    let input = stdin
    for (const redirect of redirects) {
      const descriptor = this.descriptorOf(redirect, 0, shell)
      // What another descriptor reads is found again under its path.
      const feed = (text: Alternatives): void => {
        if (descriptor === 0) input = text
        else shell.files.set(`/dev/fd/${descriptor}`, text)
      }
      if (redirect.type === 'HereString' && redirect.target)
        feed(expandText(redirect.target, shell, this.walker).map((value) => `${value}\n`))
      else if (redirect.type === 'HereDoc') {
        const strip = (text: string): string => (redirect.operator === '<<-' ? text.replace(/^\t+/gm, '') : text)
        const quoted = redirect.delimiter?.quoted ?? false
        const text =
          quoted || !redirect.body.parts
            ? [quoted ? redirect.body.text : redirect.body.text.replace(/\\([$`\\])/g, '$1').replace(/\\\n/g, '')]
            : expandQuoted(redirect.body.parts, shell, this.walker)
        feed(text.map(strip))
      } else if (redirect.type === 'Redirect' && redirect.target) {
        const { operator, target } = redirect
        if (operator === '<&') {
          const numbers = expandSingle(target, shell, this.walker)
          const known = numbers.flatMap((number) => shell.files.get(`/dev/fd/${number}`) ?? [])
          if (known.length > 0) feed(unique(known))
        } else if (operator === '<' || operator === '<>') {
          const paths = expandSingle(target, shell, this.walker)
          if (operator === '<>') for (const path of paths) this.walker.effect('append', path, shell, ['<>'])
          for (const path of paths) this.walker.reads(path, shell, ['<'])
          feed(unique(paths.flatMap((path) => this.contents(path, shell))))
        }
        // `exec 7> FILE`: what is printed to 7 later comes into the file.
        if (/^<?>/.test(operator) && descriptor > 2)
          for (const path of expandSingle(target, shell, this.walker))
            if (!/^\d*-?$/.test(path))
              this.sinks.set(`/dev/fd/${descriptor}`, (text) => this.write(path, text, true, shell))
      }
    }
    return input
  }

  /** The number in front of a redirection; `{name}>` makes a new one and keeps it in the variable. */
  private descriptorOf({ descriptor }: Redirection, usual: number, shell: ShellState): number {
    if (descriptor?.type !== 'FileDescriptorVariable') return descriptor?.value ?? usual
    const known = Number(shell.get(descriptor.name).values[0])
    if (known >= 10) return known
    while (shell.files.has(`/dev/fd/${this.named}`)) this.named++
    const fresh = this.named++
    shell.set(descriptor.name, [String(fresh)])
    return fresh
  }

  /** Follows what a command prints into files and other commands; gives what is left on its output. */
  sendOutput(
    redirects: readonly Redirection[],
    printed: Alternatives,
    shell: ShellState,
    argv: readonly string[],
  ): Alternatives {
    let out = printed
    for (const [at, redirect] of redirects.entries()) {
      if (redirect.type !== 'Redirect' || !redirect.target) continue
      const { operator } = redirect
      if (operator === '>' && this.isPlaceholder(redirects[at - 1], redirect.pos, shell)) return NOTHING
      if (operator === '<' || operator === '<&' || operator === '<>') continue
      const paths = expandSingle(redirect.target, shell, this.walker)
      const descriptor = this.descriptorOf(redirect, 1, shell)
      if (operator === '>&' && paths.every((path) => /^\d*-?$/.test(path))) {
        for (const path of paths) if (descriptor === 1) this.sinks.get(`/dev/fd/${path}`)?.(out)
        continue
      }
      const append = operator === '>>' || operator === '&>>'
      for (const path of paths) {
        const sink = this.sinks.get(path)
        if (sink && descriptor !== 1) this.sinks.set(`/dev/fd/${descriptor}`, sink)
        const empty = descriptor === 1 && out.every((text) => text.trim() === '') ? EMPTY : undefined
        this.walker.guesses = path !== paths[0] && hasUnknown(paths[0] ?? '')
        this.walker.effect(append ? 'append' : 'overwrite', path, shell, [...argv.slice(0, 1), operator], empty)
        this.walker.guesses = false
        if (descriptor === 1) this.write(path, out, append, shell)
      }
      if (descriptor === 1) out = NOTHING
    }
    return out
  }

  /**
   * `docker exec -it <name> /bin/bash`, as it stands in a manual: there is no such file to read, nothing ran that
   * could have made one, and bash opens nothing behind it.
   */
  private isPlaceholder(before: Redirection | undefined, next: number, shell: ShellState): boolean {
    if (before?.type !== 'Redirect' || before.operator !== '<' || before.end !== next || !before.target) return false
    // `sudo docker exec ...` is two commands of the same words.
    const [first = [], ...inner] = this.walker.commands
    if (inner.some((argv) => argv.join(' ') !== first.slice(first.length - argv.length).join(' '))) return false
    return expandSingle(before.target, shell, this.walker).every(
      (name) =>
        /^[A-Za-z][\w:-]*$/.test(name) &&
        shell.cwd.every((cwd) => {
          const path = resolvePath(name, cwd)
          return !shell.files.has(path) && this.walker.disk.real(path) === undefined
        }),
    )
  }

  /** Remembers what a file holds after this command, so that running it later can be judged. */
  write(path: string, text: Alternatives, append: boolean, shell: ShellState): void {
    const sink = this.sinks.get(path)
    if (sink) return sink(text)
    for (const cwd of shell.cwd) {
      const absolute = resolvePath(path, cwd)
      if (absolute === '' || hasUnknown(absolute) || /^\/dev\/(null|stdout|stderr|fd\/\d)/.test(absolute)) continue
      judgeCodeFile(absolute, text, shell, this.walker)
      // A reader that was started before may be a shell.
      const [pipe = ''] = shell.files.get(absolute) ?? []
      if (pipe.startsWith(FIFO)) text.forEach((one) => this.walker.code(one))
      if (pipe === READ_FIFO) text.forEach((one) => this.walker.tryScript(one, shell))
      const before = append ? (shell.files.get(absolute) ?? NOTHING) : NOTHING
      shell.files.set(absolute, append ? concat(before, text) : text)
    }
  }

  /** What a file is known to hold. */
  contents(path: string, shell: ShellState): Alternatives {
    if (path === '/dev/null') return NOTHING
    if (/^\/dev\/(?:stdin|fd\/0)$/.test(path)) return this.walker.inherited ?? ANYTHING
    // What a program is given of the shell's variables.
    if (/^\/proc\/[^/]+\/environ$/.test(path)) return listed(shell) ?? ANYTHING
    if (/^\/proc\/(?:[^/]+\/)?mounts$|^\/etc\/mtab$/.test(path)) return [DEVICES]
    const found = shell.cwd.flatMap((cwd) => {
      const absolute = resolvePath(path, cwd)
      if (path.includes(TREE) || path.includes(SELECTED)) return foundBelow(absolute, shell)
      // What the files that a pattern can mean hold: each of them, and all one behind the other.
      if (hasWildcard(path)) return heldBy(shell, (file) => globMatches(absolute, file))
      const real = shell.files.has(absolute) || shell.files.size === 0 ? undefined : this.walker.disk.real(absolute)
      const texts = shell.files.get(real ?? absolute) ?? []
      if (texts[0] === FIFO) shell.files.set(absolute, [READ_FIFO])
      return [...texts]
    })
    return found.length > 0 && !found[0]?.startsWith(FIFO) ? unique(found) : ANYTHING
  }
}

/** What the files hold that `find` may have printed: those below its directory, of the names that it was asked for. */
function foundBelow(printed: string, shell: ShellState): string[] {
  const at = printed.search(new RegExp(`[${TREE}${SELECTED}]`))
  const [directory, name] = [printed.slice(0, at).replace(/\/*$/, '/'), printed.slice(at + 1)]
  return heldBy(shell, (path) => path.startsWith(directory) && (name === '' || globMatches(name, basename(path))))
}

function heldBy(shell: ShellState, isMeant: (path: string) => boolean): string[] {
  const texts = [...shell.files]
    .filter(([path, [text = '']]) => isConstant(text) && isMeant(path))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, [text = '']]) => text)
  return texts.length > 1 ? [...texts.slice(0, 16), texts.join('')] : texts
}
