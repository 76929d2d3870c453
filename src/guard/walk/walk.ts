/**
 * Walks a command the way bash would run it, without running anything: follows variables, directories, pipes and
 * files just written, unwraps wrappers and inner shells, and collects what each effective command would do.
 */
import type { CompoundList, ParsedScript, ProcessSubstitutionPart, Redirected, Statement } from 'unbash'
import { Budget } from './budget.js'
import { Calls } from './calls.js'
import { Disk } from './disk.js'
import { catastrophe, type RuleName } from '../rules/catastrophe.js'
import { walkArithmeticFor, walkCase, walkFor, walkIf, walkTest, walkWhile } from './control-flow.js'
import { type Observer, walkEffect, walkRead } from './effects.js'
import { judgeExpressions } from '../words/arithmetic.js'
import { type EffectKind, type Finding, objection } from '../rules/findings.js'
import type { Runner } from '../words/folding.js'
import { GuardLimit } from '../words/limits.js'
import { walkAndOr, walkCoproc, walkPipeline } from './lists.js'
import { Namesakes } from '../rules/namesakes.js'
import { Call, type CallDetails } from '../programs/row/call.js'
import { dispatch } from '../programs/dispatch.js'
import { Recursion } from '../rules/recursion.js'
import { walkSimple } from './simple-command.js'
import { leaves } from './suppose.js'
import type { FunctionBody, ShellState } from '../words/state.js'
import { Streams } from './streams.js'
import { complete, type Node, parseLoosely } from '../words/syntax.js'
import { type Alternatives, ANYTHING, concat, NOTHING, plain, readable, UNKNOWN } from '../words/text.js'
import { TreeBuilder } from './tree.js'
import { visitArithmetic } from '../words/fold.js'

export interface Settings {
  readonly resolveSymlink?: ((path: string) => string | undefined) | undefined
  readonly own: { readonly pids: readonly number[]; readonly names: readonly string[] }
  readonly observer: Observer
  /** When the walk is given up, by the clock. */
  readonly deadline?: number | undefined
}

/** Input of a command: what is known of its stdin, or null when it is the session's own. */
export type Input = Alternatives | null

export class Walker implements Runner {
  readonly findings: Finding[] = []
  readonly commands: (readonly string[])[] = []
  readonly tree = new TreeBuilder()
  readonly budget: Budget
  readonly recursion = new Recursion()
  readonly namesakes = new Namesakes()
  readonly streams = new Streams(this)
  private readonly calls = new Calls()
  /** Loops around the current command: the outermost goes around twice. */
  loops = 0
  /** Functions around the current command. */
  private functions = 0
  private readonly leaving = new Map<FunctionBody, boolean>()
  /** The current argv supposes that a variable is empty. */
  guesses = false
  /** How many readers wait for what is printed: output is only put together when one does. */
  private readers = 0
  /** The text is the command's own, not made by it: what cannot be read in it is refused. */
  private isStrict = true
  /** The text may or may not be code. */
  private isTrying = false
  /** What substitutions inside the current command read from. */
  inherited: Input = null
  /** Source text that positions of the current script refer to. */
  private source = ''

  readonly disk: Disk

  constructor(readonly settings: Settings) {
    this.budget = new Budget(settings.deadline)
    this.disk = new Disk(settings.resolveSymlink)
  }

  step(): void {
    this.budget.step()
  }

  /** Runs a shell's text in the given state; `parsed` saves parsing it once more. */
  script(text: string, shell: ShellState, stdin: Input = null, parsed?: ParsedScript): Alternatives {
    return this.budget.deeper(() => {
      const before = this.source
      const strict = this.isStrict
      this.isStrict = parsed !== undefined
      this.source = plain(text)
      if (!parsed) this.code(this.source, !this.isTrying)
      try {
        return this.statements((parsed ?? parseLoosely(this.source)).commands, shell, stdin)
      } finally {
        this.source = before
        this.isStrict = strict
      }
    })
  }

  /**
   * Text that may or may not be shell code (a string in a program): judged when it parses, ignored when it does not.
   */
  tryScript(text: string, shell: ShellState): void {
    const before = this.isTrying
    this.isTrying = true
    try {
      this.script(text, shell.fork(), null)
    } catch (error) {
      if (!(error instanceof GuardLimit) || error.limit === 'steps') throw error
    } finally {
      this.isTrying = before
    }
  }

  /** Text that the command made becomes code. */
  code(text: string, certain = true): void {
    this.settings.observer.code(text, certain)
  }

  /** Records that a command would do something to a path. */
  effect(kind: EffectKind, word: string, shell: ShellState, argv: readonly string[], mode?: string): void {
    this.step()
    walkEffect(kind, word, shell, argv, mode, this)
  }

  /** A command is given the name of a file, or reads it. */
  reads(word: string, shell: ShellState, argv: readonly string[]): void {
    walkRead(word, shell, argv, this)
  }

  report(rule: RuleName, words: readonly string[], shown?: string): void {
    const { why, guidance } = catastrophe(rule)
    const target = shown && !words.includes(shown) ? ` (${shown})` : ''
    this.add({
      ...objection('deny', rule, words.map(readable), { why: ` ${why}${target}`, guidance }),
      dangerous: true,
    })
  }

  add(finding: Finding): void {
    if (this.findings.length < 200) this.findings.push(finding)
    this.tree.mark(finding)
  }

  statements(list: readonly Statement[], shell: ShellState, stdin: Input): Alternatives {
    this.budget.affordable(list.length)
    let out: Alternatives = NOTHING
    for (const statement of list) {
      const printed = statement.background
        ? this.recursion.inProcess(() => this.node(statement.command, shell.fork(), stdin))
        : this.node(statement.command, shell, stdin)
      // Unknown output is taken to end in a newline, or the next line would seem to be part of it.
      if (this.isRead)
        out = concat(out, list.length > 1 ? printed.map((text) => (text === UNKNOWN ? `${UNKNOWN}\n` : text)) : printed)
    }
    return out
  }

  list(list: CompoundList, shell: ShellState, stdin: Input): Alternatives {
    return this.statements(list.commands, shell, stdin)
  }

  node(node: Node, shell: ShellState, given: Input): Alternatives {
    this.step()
    const stdin = shell.moved?.from === given ? shell.moved.to : given
    const before = this.inherited
    this.inherited = stdin
    try {
      return this.byType(node, shell, stdin)
    } finally {
      this.inherited = before
    }
  }

  private byType(node: Node, shell: ShellState, stdin: Input): Alternatives {
    switch (node.type) {
      case 'Command':
        return walkSimple(node, shell, stdin, this)
      case 'Pipeline':
        return walkPipeline(node, shell, stdin, this)
      case 'AndOr':
        return walkAndOr(node, shell, stdin, this)
      case 'CompoundList':
        return this.list(node, shell, stdin)
      case 'BraceGroup':
        return this.budget.deeper(() => this.list(node.body, shell, stdin))
      case 'Subshell':
        return this.apart(node.body, shell, stdin)
      case 'Redirected':
        return this.redirected(node, shell, stdin)
      case 'Function':
        shell.functions.set(node.name.value, {
          body: node.body,
          source: this.source.slice(node.pos, node.end),
          within: this.source,
        })
        return NOTHING
      case 'Coproc':
        return walkCoproc(node, shell, stdin, this)
      case 'If':
        return walkIf(node, shell, stdin, this)
      case 'While':
        return walkWhile(node, shell, stdin, this)
      case 'For':
      case 'Select':
        return walkFor(node, shell, stdin, this)
      case 'ArithmeticFor':
        return walkArithmeticFor(node, shell, stdin, this)
      case 'Case':
        return walkCase(node, shell, stdin, this)
      case 'TestCommand':
        walkTest(node.expression, shell, this)
        return NOTHING
      case 'ArithmeticCommand':
        visitArithmetic(node.expression, shell, this)
        return NOTHING
      default:
        return node satisfies never
    }
  }

  /** In a process of its own: what it changes is gone with it. */
  private apart(list: Pick<CompoundList, 'commands'>, shell: ShellState, stdin: Input): Alternatives {
    return this.recursion.inProcess(() => this.budget.deeper(() => this.statements(list.commands, shell.fork(), stdin)))
  }

  /** Whether what is printed now is read. */
  get isRead(): boolean {
    return this.readers > 0
  }

  /** Does the work while what it prints is read. */
  read<T>(work: () => T): T {
    this.readers++
    try {
      return work()
    } finally {
      this.readers--
    }
  }

  /** Whether nothing that stands behind the node runs any more. */
  leaves(node: Node, shell: ShellState): boolean {
    return leaves(node, shell, { loop: this.loops > 0, function: this.functions > 0, known: this.leaving })
  }

  /** Calls a shell function; says so when it starts itself again without end. */
  call(name: string, ways: readonly (readonly string[])[], shell: ShellState, stdin: Input): Alternatives {
    const definition = shell.functions.get(name)
    if (!definition) return ANYTHING
    return this.frame(`${name}()`, definition.body, () => {
      const about = `${ways.map((way) => way.join('\u0002')).join('\0')}\0${stdin === null ? '' : stdin.join('\0')}`
      return this.calls.once(definition, about, shell, this.isRead, this.budget.often, () =>
        this.walkCall(definition, ways, shell, stdin),
      )
    })
  }

  private walkCall(
    definition: FunctionBody,
    ways: readonly (readonly string[])[],
    shell: ShellState,
    stdin: Input,
  ): Alternatives {
    const before = { ways: shell.positionalWays, source: this.source }
    shell.positionalWays = ways
    this.source = definition.within ?? definition.source
    this.functions++
    try {
      return this.node(definition.body, shell, stdin)
    } finally {
      this.functions--
      shell.positionalWays = before.ways
      this.source = before.source
    }
  }

  /** Guards against endless recursion of functions and of scripts that start themselves. */
  frame(name: string, body: unknown, work: () => Alternatives): Alternatives {
    return this.recursion.frame(body, () => this.report('fork-bomb', [name]), work)
  }

  /** Judges one effective argv: records it, lets policy see it, and asks the program tables what it does. */
  argv(argv: readonly string[], shell: ShellState, stdin: Input, details: CallDetails = {}): Alternatives {
    this.step()
    return this.budget.deeper(() =>
      this.tree.within(argv, () => {
        if (this.commands.length < 2_000) this.commands.push(argv.map(readable))
        return dispatch(new Call(argv, shell, stdin, this, details))
      }),
    )
  }

  /** A program started by another program: functions and aliases of this shell do not count. */
  external(argv: readonly string[], shell: ShellState, stdin: Input): Alternatives {
    return this.argv(argv, shell, stdin, { external: true })
  }

  private redirected(node: Redirected, shell: ShellState, stdin: Input): Alternatives {
    const input = this.streams.inputOf(node.redirects, shell, stdin)
    const out = this.read(() => this.node(node.command, shell, input))
    return this.streams.sendOutput(node.redirects, out, shell, [])
  }

  output(script: ParsedScript | undefined, shell: ShellState, inBackquotes = false): Alternatives {
    // Bash reads what is between backquotes only when it comes to run it.
    const whole = inBackquotes ? script : this.whole(script)
    if (!whole) return ANYTHING
    // $(< file) prints the file.
    return this.recursion.inProcess(() =>
      this.budget.deeper(() => {
        const only = whole.commands.length === 1 ? whole.commands[0]?.command : undefined
        if (only?.type === 'Command' && !only.name && only.redirects.length === 1)
          return this.streams.inputOf(only.redirects, shell, null) ?? ANYTHING
        const before = this.source
        if (whole.source !== undefined) this.source = whole.source
        const out = this.read(() => this.statements(whole.commands, shell.fork(), this.inherited))
        this.source = before
        return out
      }),
    )
  }

  /** The script of a substitution, unless text that was made at run time ends in the middle of it. */
  private whole(script: ParsedScript | undefined): ParsedScript | undefined {
    return this.isStrict ? complete(script) : script
  }

  processPath(part: ProcessSubstitutionPart, shell: ShellState): string {
    const path = `/dev/fd/${this.streams.fresh()}`
    const script = this.whole(part.script)
    if (!script) return path
    const out = this.read(() => this.apart(script, shell, this.inherited))
    if (part.operator === '<') shell.files.set(path, out)
    else this.streams.feeds(path, (text) => void this.apart(script, shell, text))
    return path
  }

  calculated(values: Alternatives, shell: ShellState): void {
    judgeExpressions(values, shell, this)
  }

  prompt(text: string, shell: ShellState): Alternatives {
    this.code(text)
    if (!/[$`]/.test(text)) return [text]
    // A here-document reads quotes as a prompt does: inside a substitution they count, around it they are text.
    const end = '_'.repeat(text.length + 1)
    const expanded = this.read(() => this.script(`/bin/cat <<${end}\n${text}\n${end}\n`, shell.fork()))
    return expanded.map((one) => one.replace(/\n$/, ''))
  }
}
