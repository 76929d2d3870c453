/**
 * Walks a command the way bash would run it, without running anything: follows variables, directories, pipes and
 * files just written, unwraps wrappers and inner shells, and collects what each effective command would do.
 */
import type {
  AndOr,
  Assignment,
  Command,
  CommandNode,
  CompoundList,
  Coproc,
  Function as FunctionNode,
  ParsedScript,
  Pipeline,
  ProcessSubstitutionPart,
  Redirected,
  Redirection,
  Statement,
  TestExpression,
  Word,
} from 'unbash'
import { catastrophe, type RuleName } from './catastrophe.js'
import type { Effect, EffectKind, Finding } from './findings.js'
import type { Runner } from './folding.js'
import { judgeEffect } from './judge.js'
import { GUARD_LIMITS, GuardLimit } from './limits.js'
import { resolvePath } from './paths.js'
import type { Call } from './programs/call.js'
import { judgeVariable } from './programs/builtins.js'
import { dispatch } from './programs/dispatch.js'
import type { ShellState } from './state.js'
import { complete, parseScript } from './syntax.js'
import { type Alternatives, ANYTHING, concat, hasUnknown, NOTHING, plain, readable, UNKNOWN, unique } from './text.js'
import { TreeBuilder } from './tree.js'
import { expandFields, expandQuoted, expandSingle, expandText, visitArithmetic } from './words.js'

/** What policy wants to see of every effective command and every effect. */
export interface Observer {
  command(argv: readonly string[], shell: ShellState, walker: Walker): void
  effect(effect: Effect, walker: Walker, argv: readonly string[]): void
  /** Code was run that nobody can see here: a downloaded script, an unknown variable as a command. */
  opaque(what: string, walker: Walker, words: readonly string[]): void
}

export interface Settings {
  readonly resolveSymlink?: ((path: string) => string | undefined) | undefined
  readonly own: { readonly pids: readonly number[]; readonly names: readonly string[] }
  readonly observer: Observer
}

interface Frame {
  /** The body that runs: a function defined anew under an old name is another one. */
  readonly body: unknown
  readonly conditions: number
  readonly processes: number
  mayStop: boolean
}

interface Namesake {
  readonly target: string
  readonly as: 'copy' | 'link' | 'mount'
}

/** Input of a command: what is known of its stdin, or null when it is the session's own. */
export type Input = Alternatives | null

export class Walker implements Runner {
  readonly findings: Finding[] = []
  readonly commands: (readonly string[])[] = []
  readonly tree = new TreeBuilder()
  /** Where writing to a path feeds a command: `>(cmd)`, a coprocess. */
  private readonly sinks = new Map<string, (text: Alternatives) => void>()
  private readonly frames: Frame[] = []
  private steps = 0
  private depth = 0
  private conditions = 0
  private processes = 0
  private unnamed = 0
  /** How many readers wait for what is printed: output is only put together when somebody looks at it. */
  private readers = 0
  private readonly names = new Map<string, Namesake>()
  private mounts: ReadonlyMap<string, string> | undefined
  /** What substitutions inside the current command read from. */
  private inherited: Input = null
  /** Source text that positions of the current script refer to. */
  private source = ''

  constructor(readonly settings: Settings) {}

  step(): void {
    if (++this.steps > GUARD_LIMITS.maxSteps) throw new GuardLimit('steps', 'the command has too many parts to check')
  }

  /** Refuses a long list before walking into it. */
  private affordable(parts: number): void {
    if (this.steps + parts > GUARD_LIMITS.maxSteps) throw new GuardLimit('steps', 'the command has too many parts to check')
  }

  /** Runs a shell's text in the given state; `parsed` saves parsing it once more. */
  script(text: string, shell: ShellState, stdin: Input = null, parsed?: ParsedScript): Alternatives {
    return this.deeper(() => {
      const before = this.source
      this.source = plain(text)
      try {
        return this.statements((parsed ?? parseScript(this.source)).commands, shell, stdin)
      } finally {
        this.source = before
      }
    })
  }

  /** Text that may or may not be shell code (a string in a program): judged when it parses, ignored when it does not. */
  tryScript(text: string, shell: ShellState): void {
    try {
      this.script(text, shell.fork(), null)
    } catch (error) {
      if (!(error instanceof GuardLimit) || error.limit === 'steps') throw error
    }
  }

  deeper<T>(work: () => T): T {
    if (++this.depth > GUARD_LIMITS.maxDepth) throw new GuardLimit('depth', 'shells, wrappers or functions are nested too deeply')
    try {
      return work()
    } finally {
      this.depth--
    }
  }

  /** Records that a command would do something to a path. */
  effect(kind: EffectKind, word: string, shell: ShellState, argv: readonly string[], mode?: string): void {
    this.step()
    for (const cwd of shell.cwd) {
      const path = this.onHost(resolvePath(word, cwd)) ?? ''
      if (path === '') continue
      const places = [path]
      const link = this.behind(word.endsWith('/') && path !== '/' ? `${path}/` : path)
      if (link !== undefined) places.push(link)
      const real = hasUnknown(path) ? undefined : this.settings.resolveSymlink?.(plain(path))
      if (real !== undefined && real !== path) places.push(real)
      for (const place of places) {
        const effect: Effect = { kind, path: place, word: readable(word), mode }
        const judged = judgeEffect(effect, unique([...shell.home, shell.around.home]))
        if (judged) this.report(judged.rule, [...argv.slice(0, 1).map(readable), readable(word)], judged.shown)
        this.settings.observer.effect(effect, this, argv)
      }
    }
  }

  report(rule: RuleName, words: readonly string[], shown?: string): void {
    const row = catastrophe(rule)
    const target = shown && !words.includes(shown) ? ` (${shown})` : ''
    this.add({ decision: 'deny', rule, reason: `\`${words.map(readable).join(' ')}\` ${row.why}${target}`, guidance: row.guidance, words: words.map(readable), dangerous: true })
  }

  add(finding: Finding): void {
    if (this.findings.length < 200) this.findings.push(finding)
    this.tree.mark(finding)
  }

  // --- lists, pipelines, control flow ---------------------------------------------------------------------------

  statements(list: readonly Statement[], shell: ShellState, stdin: Input): Alternatives {
    this.affordable(list.length)
    let out: Alternatives = NOTHING
    for (const statement of list) {
      const printed = statement.background ? this.inProcess(() => this.node(statement.command, shell.fork(), stdin)) : this.node(statement.command, shell, stdin)
      // What nobody knows ends in a newline, or the next line would seem to be part of it.
      if (this.readers > 0) out = concat(out, list.length > 1 ? printed.map((text) => (text === UNKNOWN ? `${UNKNOWN}\n` : text)) : printed)
    }
    return out
  }

  private list(list: CompoundList, shell: ShellState, stdin: Input): Alternatives {
    return this.statements(list.commands, shell, stdin)
  }

  private node(node: CommandNode | Pipeline | AndOr | CompoundList, shell: ShellState, stdin: Input): Alternatives {
    this.step()
    const before = this.inherited
    this.inherited = stdin
    try {
      return this.byType(node, shell, stdin)
    } finally {
      this.inherited = before
    }
  }

  private byType(node: CommandNode | Pipeline | AndOr | CompoundList, shell: ShellState, stdin: Input): Alternatives {
    switch (node.type) {
      case 'Command':
        return this.simple(node, shell, stdin)
      case 'Pipeline':
        return this.pipeline(node, shell, stdin)
      case 'AndOr':
        return this.andOr(node, shell, stdin)
      case 'CompoundList':
        return this.list(node, shell, stdin)
      case 'BraceGroup':
        return this.deeper(() => this.list(node.body, shell, stdin))
      case 'Subshell':
        return this.inProcess(() => this.deeper(() => this.list(node.body, shell.fork(), stdin)))
      case 'Redirected':
        return this.redirected(node, shell, stdin)
      case 'Function':
        this.define(node, shell)
        return NOTHING
      case 'Coproc':
        return this.coproc(node, shell, stdin)
      case 'If': {
        this.list(node.clause, shell, stdin)
        const sure = isConstantlyTrue(node.clause)
        const otherwise = shell.fork()
        let out = this.guarded(!sure, () => this.list(node.then, shell, stdin))
        for (const branch of node.elif) {
          this.list(branch.clause, otherwise, stdin)
          const way = otherwise.fork()
          out = unique([...out, ...this.guarded(true, () => this.list(branch.then, way, stdin))])
          shell.absorb(way)
        }
        if (node.else) out = unique([...out, ...this.guarded(true, () => this.list(node.else as CompoundList, otherwise, stdin))])
        shell.absorb(otherwise)
        return out
      }
      case 'While': {
        const endless = node.kind === 'while' ? isConstantlyTrue(node.clause) : isConstantlyFalse(node.clause)
        if (endless && isSpawnOnly(node.body)) this.report('fork-bomb', ['while', 'true', '&'])
        this.list(node.clause, shell, stdin)
        const body = shell.fork()
        const out = this.guarded(!endless, () => this.rounds(node.body, body, stdin))
        shell.absorb(body)
        return out
      }
      case 'For':
      case 'Select': {
        const words = node.wordlist
        const fields = words ? this.forWords(words, shell) : shell.positional
        shell.set(node.name.value, fields && fields.length > 0 ? unique(fields) : fields ? NOTHING : ANYTHING)
        const body = shell.fork()
        const out = this.rounds(node.body, body, stdin)
        shell.absorb(body)
        return fields && fields.length === 1 ? out : severalTimes(out)
      }
      case 'ArithmeticFor': {
        for (const part of [node.initialize, node.test, node.update]) visitArithmetic(part, shell, this)
        if (!node.test && isSpawnOnly(node.body)) this.report('fork-bomb', ['for', '((;;))', '&'])
        this.list(node.body, shell, stdin)
        return ANYTHING
      }
      case 'Case': {
        expandSingle(node.word, shell, this)
        let out: Alternatives = NOTHING
        const before = shell.fork()
        for (const item of node.items) {
          for (const pattern of item.pattern) expandSingle(pattern, shell, this)
          const way = before.fork()
          out = unique([...out, ...this.guarded(true, () => this.list(item.body, way, stdin))])
          shell.absorb(way)
        }
        return out
      }
      case 'TestCommand':
        this.test(node.expression, shell)
        return NOTHING
      case 'ArithmeticCommand':
        visitArithmetic(node.expression, shell, this)
        return NOTHING
      default:
        return node satisfies never
    }
  }

  /** A loop's body: once more when the first round changed what the words of the second mean. */
  private rounds(body: CompoundList, shell: ShellState, stdin: Input): Alternatives {
    const before = shell.changes
    const out = this.list(body, shell, stdin)
    return shell.changes === before ? out : unique([...out, ...this.list(body, shell, stdin)])
  }

  private forWords(words: readonly Word[], shell: ShellState): string[] {
    return words.flatMap((word) => expandFields(word, shell, this).flat())
  }

  private andOr(node: AndOr, shell: ShellState, stdin: Input): Alternatives {
    this.affordable(node.commands.length)
    let out: Alternatives = NOTHING
    for (const [i, command] of node.commands.entries()) {
      const operator = node.operators[i - 1]
      if (i === 0) out = this.node(command, shell, stdin)
      else {
        const sure = operator === '&&' && node.commands.slice(0, i).every(surelySucceeds)
        const way = operator === '||' ? shell.fork() : shell
        const printed = this.guarded(!sure, () => this.node(command, way, stdin))
        if (this.readers > 0) out = operator === '||' ? unique([...out, ...printed]) : concat(out, printed)
        if (way !== shell) shell.absorb(way)
      }
    }
    return out
  }

  private pipeline(node: Pipeline, shell: ShellState, stdin: Input): Alternatives {
    this.affordable(node.commands.length)
    const single = node.commands.length === 1
    let input = stdin
    if (single) return this.node(node.commands[0] as CommandNode, shell, input)
    for (const [i, command] of node.commands.entries()) {
      const stage = (): Alternatives => this.inProcess(() => this.node(command, shell.fork(), input))
      input = i < node.commands.length - 1 ? this.read(stage) : stage()
    }
    return input ?? ANYTHING
  }

  private coproc(node: Coproc, shell: ShellState, stdin: Input): Alternatives {
    const run = (input: Input): void => void this.inProcess(() => this.deeper(() => this.node(node.body, shell.fork(), input)))
    run(stdin)
    const [reads, writes] = [63 + this.unnamed++, 63 + this.unnamed++]
    shell.set(node.name?.value ?? 'COPROC', [String(reads)], [String(reads), String(writes)])
    this.sinks.set(`/dev/fd/${writes}`, run)
    return NOTHING
  }

  private read<T>(work: () => T): T {
    this.readers++
    try {
      return work()
    } finally {
      this.readers--
    }
  }

  private inProcess<T>(work: () => T): T {
    this.processes++
    try {
      return work()
    } finally {
      this.processes--
    }
  }

  private guarded<T>(conditional: boolean, work: () => T): T {
    if (conditional) this.conditions++
    try {
      return work()
    } finally {
      if (conditional) this.conditions--
    }
  }

  private test(expression: TestExpression, shell: ShellState): void {
    this.step()
    switch (expression.type) {
      case 'TestUnary':
        expandSingle(expression.operand, shell, this)
        return
      case 'TestBinary':
        expandSingle(expression.left, shell, this)
        expandSingle(expression.right, shell, this)
        return
      case 'TestLogical':
        for (const operand of expression.operands) this.test(operand, shell)
        return
      case 'TestNot':
        this.test(expression.operand, shell)
        return
      default:
        this.test(expression.expression, shell)
    }
  }

  // --- functions and scripts ------------------------------------------------------------------------------------

  private define(node: FunctionNode, shell: ShellState): void {
    shell.functions.set(node.name.value, { body: node.body, source: this.source.slice(node.pos, node.end) })
  }

  /** Calls a shell function; says so when it starts itself again without end. */
  call(name: string, args: readonly string[], shell: ShellState, stdin: Input): Alternatives {
    const definition = shell.functions.get(name)
    if (!definition) return ANYTHING
    return this.frame(`${name}()`, definition.body, () => {
      const before = { positional: shell.positional, source: this.source }
      shell.positional = args
      this.source = definition.source
      try {
        return this.deeper(() => this.node(definition.body, shell, stdin))
      } finally {
        shell.positional = before.positional
        this.source = before.source
      }
    })
  }

  /** Guards against endless recursion of functions and of scripts that start themselves. */
  frame(name: string, body: unknown, work: () => Alternatives): Alternatives {
    const running = this.frames.find((frame) => frame.body === body)
    if (running) {
      const conditional = this.conditions > running.conditions || running.mayStop
      if (this.processes > running.processes && !conditional) this.report('fork-bomb', [name])
      return ANYTHING
    }
    this.frames.push({ body, conditions: this.conditions, processes: this.processes, mayStop: false })
    try {
      return work()
    } finally {
      this.frames.pop()
    }
  }

  /** `return` or `exit` behind a condition: the recursion has an end. */
  mayStop(): void {
    const frame = this.frames[this.frames.length - 1]
    if (frame && this.conditions > frame.conditions) frame.mayStop = true
  }

  /** Two names for one file: copies of programs, links, bind mounts. */
  stands(path: string, target: string, as: Namesake['as']): void {
    if (path !== '' && path !== target && this.names.size < 1_000) this.names.set(path, { target, as })
  }

  /** The program that a copy or a link to it starts. */
  meaning(path: string): string | undefined {
    return this.names.get(path)?.target ?? this.behind(path)
  }

  /** Where a path below a link or a mount leads. The link itself can go without harm, what is mounted cannot. */
  private behind(path: string): string | undefined {
    for (const [name, { target, as }] of this.names) {
      if (as === 'copy') continue
      if (as === 'mount' && path === name) return target
      if (path.startsWith(`${name}/`)) return resolvePath(`${target}/${path.slice(name.length)}`, '/')
    }
    return undefined
  }

  /** Runs work whose paths are those of a container with the given mounts; undefined means paths mean what they say. */
  inside<T>(mounts: ReadonlyMap<string, string> | undefined, work: () => T): T {
    const before = this.mounts
    this.mounts = mounts
    try {
      return work()
    } finally {
      this.mounts = before
    }
  }

  /** The host path of a path inside the current container, if it is mounted. */
  private onHost(path: string): string | undefined {
    if (!this.mounts) return path
    let best: string | undefined
    let length = -1
    const bare = path.replace(/[\uFDD1-\uFDD5]+$/, '').replace(/(.)\/$/, '$1')
    for (const [inside, host] of this.mounts) {
      if (inside.length > length && (bare === inside || path.startsWith(inside === '/' ? '/' : `${inside}/`))) {
        best = resolvePath(`${host}/${path.slice(inside.length)}`, '/')
        length = inside.length
      }
      // Wiping the container's root takes the mounts with it.
      if (best === undefined && (bare === '/' || bare === '') && inside !== '/') best = path.length > 1 ? `${host}/${path.slice(1)}` : host
    }
    return best
  }

  /** A script file started as a program of its own. */
  child<T>(work: () => T): T {
    return this.inProcess(work)
  }

  // --- simple commands ------------------------------------------------------------------------------------------

  private simple(node: Command, shell: ShellState, stdin: Input): Alternatives {
    this.affordable(node.suffix.length + node.prefix.length)
    const words: string[][][] = []
    if (node.name) words.push(expandFields(node.name, shell, this))
    const declared = node.args.flatMap((argument) => (argument.type === 'Assignment' ? [argument] : []))
    for (const argument of node.args) words.push(argument.type === 'Word' ? expandFields(argument, shell, this) : this.assignmentWord(argument, shell))
    const assigned = node.prefix.flatMap((part) => (part.type === 'Assignment' ? [part] : []))
    const ways = combine(words)
    const target = words.length > 0 && ways.some((argv) => argv.length > 0) ? shell.fork() : shell
    for (const assignment of assigned) this.assign(assignment, target, shell)
    const names = assigned.map((assignment) => assignment.name)
    if (target === shell) for (const name of names) judgeVariable(name, shell.get(name).values, { walker: this, shell })
    const input = this.inputOf(node.redirects, shell, stdin)
    let out: Alternatives = NOTHING
    const redirected = node.redirects.length > 0
    for (const argv of ways) {
      if (redirected) this.readers++
      const printed = argv.length === 0 ? NOTHING : this.argv(argv, shell, input, { declared, prefix: names.length > 0 ? { names, shell: target } : undefined })
      if (redirected) this.readers--
      out = unique([...out.filter((text) => text !== ''), ...printed])
    }
    if (out.length === 0) out = NOTHING
    return this.sendOutput(node.redirects, out, shell, ways[0] ?? [])
  }

  private assignmentWord(argument: Assignment, shell: ShellState): string[][] {
    const operator = `${argument.name}${argument.append ? '+=' : '='}`
    if (argument.value.type === 'ArrayValue') return [[`${operator}(${argument.value.elements.map((word) => word.value).join(' ')})`]]
    return expandText(argument.value, shell, this).map((value) => [operator + value])
  }

  /** `name=value`, `name+=value`, `name=(...)`, `name[i]=value`; values are folded in `from` and set in `into`. */
  assign(assignment: Assignment, into: ShellState, from: ShellState): void {
    if (assignment.index) expandSingle(assignment.index, from, this)
    const { name, value } = assignment
    if (value.type === 'ArrayValue') {
      const items = value.elements.flatMap((word) => (expandFields(word, from, this, 'element')[0] ?? []).map((item) => plain(/^\[[^\]]*\]=/.test(item) ? item.replace(/^\[[^\]]*\]=/, '') : item)))
      const before = assignment.append ? (into.get(name).items ?? []) : []
      into.set(name, [[...before, ...items][0] ?? ''], [...before, ...items])
      return
    }
    const values = expandText(value, from, this)
    if (assignment.index) {
      into.setElement(name, assignment.index.value, values)
      return
    }
    into.set(name, assignment.append ? concat(into.get(name).values, values) : values)
  }

  /** Judges one effective argv: records it, lets policy see it, and asks the program tables what it does. */
  argv(argv: readonly string[], shell: ShellState, stdin: Input, extra: Partial<Pick<Call, 'declared' | 'prefix' | 'external'>> = {}): Alternatives {
    this.step()
    return this.deeper(() =>
      this.tree.within(argv, () => {
        if (this.commands.length < 2_000) this.commands.push(argv.map(readable))
        return dispatch({ argv, shell, stdin, walker: this, declared: extra.declared ?? [], prefix: extra.prefix, external: extra.external ?? false })
      }),
    )
  }

  /** A program started by another program: functions and aliases of this shell do not count. */
  external(argv: readonly string[], shell: ShellState, stdin: Input): Alternatives {
    return this.argv(argv, shell, stdin, { external: true })
  }

  // --- redirections ---------------------------------------------------------------------------------------------

  private redirected(node: Redirected, shell: ShellState, stdin: Input): Alternatives {
    const input = this.inputOf(node.redirects, shell, stdin)
    const out = this.read(() => this.node(node.command, shell, input))
    return this.sendOutput(node.redirects, out, shell, [])
  }

  private inputOf(redirects: readonly Redirection[], shell: ShellState, stdin: Input): Input {
    let input = stdin
    for (const redirect of redirects) {
      const descriptor = this.descriptorOf(redirect, 0, shell)
      // What another descriptor reads is found again under its path.
      const feed = (text: Alternatives): void => {
        if (descriptor === 0) input = text
        else shell.files.set(`/dev/fd/${descriptor}`, text)
      }
      if (redirect.type === 'HereString' && redirect.target) feed(expandText(redirect.target, shell, this).map((value) => `${value}\n`))
      else if (redirect.type === 'HereDoc') {
        const strip = (text: string): string => (redirect.operator === '<<-' ? text.replace(/^\t+/gm, '') : text)
        const quoted = redirect.delimiter?.quoted ?? false
        const text =
          quoted || !redirect.body.parts ? [quoted ? redirect.body.text : redirect.body.text.replace(/\\([$`\\])/g, '$1').replace(/\\\n/g, '')] : expandQuoted(redirect.body.parts, shell, this)
        feed(text.map(strip))
      } else if (redirect.type === 'Redirect' && redirect.operator === '<&' && redirect.target) {
        const known = expandSingle(redirect.target, shell, this).flatMap((number) => [...(shell.files.get(`/dev/fd/${number}`) ?? [])])
        if (known.length > 0) feed(unique(known))
      } else if (redirect.type === 'Redirect' && (redirect.operator === '<' || redirect.operator === '<>') && redirect.target) {
        const paths = expandSingle(redirect.target, shell, this)
        if (redirect.operator === '<>') for (const path of paths) this.effect('append', path, shell, ['<>'])
        feed(unique(paths.flatMap((path) => [...this.contents(path, shell)])))
      }
    }
    return input
  }

  /** The number in front of a redirection; `{name}>` makes a new one and keeps it in the variable. */
  private descriptorOf({ descriptor }: Redirection, usual: number, shell: ShellState): number {
    if (descriptor?.type !== 'FileDescriptorVariable') return descriptor?.value ?? usual
    const known = Number(shell.get(descriptor.name).values[0])
    if (known >= 63) return known
    const fresh = 63 + this.unnamed++
    shell.set(descriptor.name, [String(fresh)])
    return fresh
  }

  private sendOutput(redirects: readonly Redirection[], printed: Alternatives, shell: ShellState, argv: readonly string[]): Alternatives {
    let out = printed
    for (const redirect of redirects) {
      if (redirect.type !== 'Redirect' || !redirect.target) continue
      const { operator } = redirect
      if (operator === '<' || operator === '<&' || operator === '<>') continue
      const paths = expandSingle(redirect.target, shell, this)
      const descriptor = this.descriptorOf(redirect, 1, shell)
      if (operator === '>&' && paths.every((path) => /^\d*-?$/.test(path))) {
        for (const path of paths) if (descriptor === 1) this.sinks.get(`/dev/fd/${path}`)?.(out)
        continue
      }
      const append = operator === '>>' || operator === '&>>'
      for (const path of paths) {
        const sink = this.sinks.get(path)
        if (sink && descriptor !== 1) this.sinks.set(`/dev/fd/${descriptor}`, sink)
        this.effect(append ? 'append' : 'overwrite', path, shell, [...argv.slice(0, 1), operator])
        if (descriptor === 1) this.write(path, out, append, shell)
      }
      if (descriptor === 1) out = NOTHING
    }
    return out
  }

  /** Remembers what a file holds after this command, so that running it later can be judged. */
  write(path: string, text: Alternatives, append: boolean, shell: ShellState): void {
    const sink = this.sinks.get(path)
    if (sink) return sink(text)
    for (const cwd of shell.cwd) {
      const absolute = resolvePath(path, cwd)
      if (absolute === '' || hasUnknown(absolute) || /^\/dev\/(null|stdout|stderr|fd\/\d)/.test(absolute)) continue
      const before = append ? (shell.files.get(absolute) ?? NOTHING) : NOTHING
      shell.files.set(absolute, append ? concat(before, text) : text)
    }
  }

  /** What a file is known to hold. */
  contents(path: string, shell: ShellState): Alternatives {
    if (path === '/dev/null') return NOTHING
    if (/^\/dev\/(?:stdin|fd\/0)$/.test(path)) return this.inherited ?? ANYTHING
    const found = shell.cwd.flatMap((cwd) => [...(shell.files.get(resolvePath(path, cwd)) ?? [])])
    return found.length > 0 ? unique(found) : ANYTHING
  }

  // --- Runner ---------------------------------------------------------------------------------------------------

  output(script: ParsedScript | undefined, shell: ShellState): Alternatives {
    const whole = complete(script)
    // $(< file) prints the file.
    return this.inProcess(() =>
      this.deeper(() => {
        const only = whole.commands.length === 1 ? whole.commands[0]?.command : undefined
        if (only?.type === 'Command' && !only.name && only.redirects.length === 1) return this.inputOf(only.redirects, shell, null) ?? ANYTHING
        const before = this.source
        if (whole.source !== undefined) this.source = whole.source
        const out = this.read(() => this.statements(whole.commands, shell.fork(), this.inherited))
        this.source = before
        return out
      }),
    )
  }

  processPath(part: ProcessSubstitutionPart, shell: ShellState): string {
    const path = `/dev/fd/${63 + this.unnamed++}`
    const script = complete(part.script)
    const out = this.read(() => this.inProcess(() => this.deeper(() => this.statements(script.commands, shell.fork(), this.inherited))))
    if (part.operator === '<') shell.files.set(path, out)
    else this.sinks.set(path, (text) => void this.inProcess(() => this.deeper(() => this.statements(script.commands, shell.fork(), text))))
    return path
  }

  prompt(text: string, shell: ShellState): Alternatives {
    if (!/[$`]/.test(text)) return [text]
    return this.deeper(() => {
      const script = parseScript(`: "${text.replace(/["]/g, '\\"')}"`)
      this.statements(script.commands, shell.fork(), null)
      return ANYTHING
    })
  }
}

/** Several rounds of a loop print several times; two are enough to see what joins up. */
function severalTimes(out: Alternatives): Alternatives {
  return out.every((text) => text === '') ? NOTHING : out.length === 1 && !hasUnknown(out[0] ?? '') ? [`${out[0]}`, `${out[0]}${out[0]}`] : unique([...out, UNKNOWN])
}

/** Every combination of the words' alternatives while there are few; otherwise each alternative at least once. */
function combine(words: readonly (readonly string[][])[]): string[][] {
  if (words.every((ways) => ways.length === 1)) return [words.flatMap((ways) => ways[0] ?? [])]
  let count = 1
  for (const ways of words) count = Math.min(count * ways.length, 1_000)
  if (count <= GUARD_LIMITS.maxAlternatives) {
    let all: string[][] = [[]]
    for (const ways of words) all = all.flatMap((argv) => ways.map((fields) => (fields.length === 0 ? argv : [...argv, ...fields])))
    return all
  }
  const all: string[][] = [words.flatMap((ways) => ways[0] ?? []), words.flatMap((ways) => ways[ways.length - 1] ?? [])]
  let budget = GUARD_LIMITS.maxSteps - words.length
  for (const [i, ways] of words.entries()) {
    for (const fields of ways.slice(1)) {
      budget -= words.length
      if (budget < 0) return all
      all.push(words.flatMap((other, j) => (j === i ? fields : (other[0] ?? []))))
    }
  }
  return all
}

function surelySucceeds(node: CommandNode | Pipeline): boolean {
  return node.type === 'Command' && /^(true|:|sleep|echo|printf|cd|export)$/.test(node.name?.value ?? '')
}

function isConstantlyTrue(list: CompoundList): boolean {
  const last = list.commands[list.commands.length - 1]?.command
  if (last?.type === 'Command') {
    const words = [last.name, ...last.args].map((word) => (word && 'text' in word ? word.text : ''))
    return /^(true|:|\[ 1 \]|\[ true \]|test 1|\[ 1 -eq 1 \]|\[ 1 = 1 \]|\/bin\/true|sleep [\d.]+)$/.test(words.join(' '))
  }
  if (last?.type === 'ArithmeticCommand') return /^\s*[1-9]\d*\s*$/.test(last.body)
  return last?.type === 'TestCommand' && last.expression.type === 'TestUnary' && last.expression.operator === '-n' && last.expression.operand.parts === undefined
}

function isConstantlyFalse(list: CompoundList): boolean {
  const last = list.commands[list.commands.length - 1]?.command
  return last?.type === 'Command' && /^(false|\/bin\/false)$/.test(last.name?.text ?? '')
}

/** A loop body that only starts things in the background: nothing in it ever waits. */
function isSpawnOnly(list: CompoundList): boolean {
  return (
    list.commands.length > 0 &&
    list.commands.some((statement) => !isNoop(statement)) &&
    list.commands.every((statement) => {
      if (statement.background || isNoop(statement)) return true
      const { command } = statement
      return (command.type === 'Subshell' || command.type === 'BraceGroup') && isSpawnOnly(command.body)
    })
  )
}

function isNoop(statement: Statement): boolean {
  return statement.command.type === 'Command' && /^(:|true|disown)$/.test(statement.command.name?.value ?? '')
}
