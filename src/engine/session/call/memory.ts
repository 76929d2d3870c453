/**
 * What the engine knows about a session between two calls: where it is, what it holds, and what
 * its shell needs special care for.
 */
import type { ShellFacts, Verdict } from '../../../contract/verdict.js'
import { GUARD_LIMITS } from '../../../guard/words/limits.js'
import { isNotOnDisk, shortText } from '../../services/judge/disk-looks.js'
import { mentionsBinding } from '../../../secrets/deliver/binding.js'
import { hasTraps, knowledge, mentionsTraps, trapsOf, utf8, type Knowledge, type ShellState } from '../shell/state.js'
import { Holdings } from './holdings.js'
import type { CallNeeds, UserTraps } from '../lines/call-text.js'
import type { NotedTraps } from '../shell/files.js'
import type { ShellReport } from '../shell/report.js'
import type { SessionShell } from '../shell/shell.js'
import { AFTER, LEAVING } from '../lines/dump-text.js'
import { LOADED } from '../lines/marks.js'

/** What the next command may ask about the last one: `$?`, `$_`, `PIPESTATUS`. */
export interface LastCommand {
  readonly status: number
  readonly argument: string
  /** `PIPESTATUS` */
  readonly stages: readonly number[]
}

const NO_COMMAND: LastCommand = { status: 0, argument: '', stages: [0] }
const NO_TRAPS: UserTraps = { exit: null, debug: null, return: null }
const OWN_WORDS = [LOADED]
const SILENT = new Set([':', 'false', 'true'])

export class SessionMemory {
  cwd: string
  state: ShellState | null
  known: Knowledge
  /** Grows whenever `known` changes: a verdict on the same command is the same as long as it does not. */
  version = 0
  /** The shell may have changed since its state was written down. */
  dirty = false
  /** The shell was dirty already when the running command, or the last one, began. */
  behind = false
  /** The shell has sent its state, and it has not been read yet. */
  unread = false
  last: LastCommand = NO_COMMAND
  traps: UserTraps = NO_TRAPS
  /** A RETURN trap was found in the shell itself, where our own lines would set it off. */
  strayReturn = false
  /** The shell's stdin is what an earlier `exec <file` made it. */
  ownStdin = false
  /** The last command may have pointed stdout or stderr elsewhere, or closed them. */
  movedStreams = false
  /**
   * A command of this shell may have pointed them at a pipe with another reader: what prints there may have to wait.
   */
  printsElsewhere = false
  readonly holdings = new Holdings()
  /** How many dumps of the shell have been noted. */
  #dumps = 0
  /** The agent has, or may have, traps: until the shell says that it has none. */
  #hasTraps = false
  /** A function or an alias may set traps; or a command has set some before. */
  #mayTrap = false
  errTrap = false
  repair = false
  #prompts = false
  #xtrace = false
  #verbose = false
  /** A command that the engine could not read may have made functions or aliases that are not in `known` yet. */
  #blind = false
  /** Whether the word `trap` was found in what the shell knows, and in which version of that. */
  #hidesTrap = false
  #searched = -1

  constructor(cwd: string, state: ShellState | null) {
    this.cwd = state ? utf8(state.cwd) : cwd
    this.state = state
    this.known = state ? knowledge(state) : { variables: {}, functions: {}, aliases: {} }
  }

  /** A new shell: what was peculiar to the old one is over. */
  forNewShell(): void {
    this.#dumps = 0
    this.dirty = this.behind = this.unread = false
    // EXIT has run. The others stand in the way of restoring, so the next command gets them.
    this.traps = { ...this.traps, exit: null }
    this.strayReturn =
      this.ownStdin =
      this.printsElsewhere =
      this.repair =
      this.#prompts =
      this.#xtrace =
      this.#verbose =
        false
    this.errTrap = this.state !== null && hasTraps(this.state)
    this.#hasTraps = this.errTrap || this.traps.debug !== null || this.traps.return !== null
    this.#mayTrap = this.state !== null && mentionsTraps(this.state)
    this.#blind = false
  }

  forget(cwd: string): void {
    this.state = null
    this.cwd = cwd
    this.last = NO_COMMAND
    this.traps = NO_TRAPS
    this.#know({ variables: {}, functions: {}, aliases: {} })
    this.forNewShell()
  }

  prepare(verdict: Pick<Verdict, 'shell' | 'commands'>): CallNeeds {
    const { shell: facts } = verdict
    // Also where a function does it. (Which commands there are is asked only where one could be hidden.)
    const listsTraps =
      facts.listsTraps ||
      (!(facts.clear && !this.#mayHideTrap) &&
        verdict.commands.some(([name, how = '-p']) => name === 'trap' && how.startsWith('-p')))
    this.#hasTraps ||= facts.setsTraps || facts.mentionsErr || listsTraps
    this.#mayTrap ||= facts.setsTraps
    this.errTrap ||= facts.mentionsErr
    this.repair ||= facts.hidesBuiltins
    this.movedStreams = facts.movesStreams || this.#callsWhatMoves(facts)
    this.printsElsewhere ||= this.movedStreams
    const inert = !this.#hasTraps && !this.#blind && facts.harmless && this.#meansItself(facts.words)
    const silent = inert && facts.builtinsOnly && facts.words.every((word) => SILENT.has(word))
    const wasBlind = this.#blind
    this.#blind ||= !inert && !(facts.clear && this.#meansItself(facts.words))
    // A DEBUG trap would hear of it.
    const exitStays =
      !listsTraps && this.traps.debug === null && !(facts.setsTraps || facts.dynamic || this.#mayHideTrap)
    const watchTraps = !this.#hasTraps && !inert && (facts.dynamic || this.#mayTrap || wasBlind)
    return {
      traps: this.#hasTraps ? { ...this.traps, listed: listsTraps, exitStays } : null,
      watchTraps,
      // Functions and scripts may look at it unseen.
      looksAtStatus: !inert || facts.looksAtStatus,
      lastArgument: facts.looksAtLast ? this.last.argument : null,
      stages: facts.looksAtStages ? this.last.stages : null,
      inert,
      childless: inert && facts.builtinsOnly,
      waits: inert && !facts.leavesChildren,
      programs: inert && this.#meansItself(OWN_WORDS) ? this.#started(facts.programs) : null,
      native:
        !watchTraps && !facts.movesStdin && !facts.mayEndShell && !facts.hidesBuiltins && this.#meansItself(OWN_WORDS),
      silent,
      risky: facts.mayEndShell,
      keepStdin: facts.movesStdin,
      prompts: this.#prompts,
      xtrace: this.#xtrace,
      verbose: this.#verbose ? 'yes' : facts.turnsVerbose ? 'begins' : 'no',
    }
  }

  /** What a command needs that changes nothing but variables and the directory; null: it may do more. */
  prepareUsual(verdict: Pick<Verdict, 'shell' | 'commands'>): CallNeeds | null {
    const { shell: facts } = verdict
    const isUsual =
      this.isPlain &&
      facts.clear &&
      facts.whole &&
      !(facts.dynamic || facts.listsTraps || facts.mentionsErr || facts.setsTraps) &&
      !(facts.mayEndShell || facts.turnsVerbose || facts.looksAtLast || facts.looksAtStages) &&
      !this.#mayTrap &&
      !this.#mayHideTrap &&
      this.#meansItself(facts.words)
    return isUsual ? this.prepare(verdict) : null
  }

  /** Nothing about the shell needs care, so that of a command is what its text says. */
  get isPlain(): boolean {
    return !(
      this.#hasTraps ||
      this.#blind ||
      this.errTrap ||
      this.repair ||
      this.ownStdin ||
      this.movedStreams ||
      this.#prompts ||
      this.#xtrace ||
      this.#verbose
    )
  }

  /** For a command that asks for `$_`. A last word that holds a secret is known by the name of that. */
  get knownWithLast(): Knowledge {
    const lastWord = this.known.variables['_'] ?? this.last.argument
    return lastWord === '' ? this.known : { ...this.known, held: { ...this.known.held, lastWord } }
  }

  get traceFd(): string | null {
    const fd = this.known.variables['BASH_XTRACEFD']
    return fd !== undefined && /^\d+$/.test(fd) ? fd : null
  }

  /** Whether a word that the command file is made of is one of the agent's aliases. */
  get aliasesReserved(): boolean {
    return ['{', '}', '[[', '!'].some((word) => this.known.aliases[word] !== undefined)
  }

  #meansItself(words: readonly string[]): boolean {
    return words.every((word) => this.known.functions[word] === undefined && this.known.aliases[word] === undefined)
  }

  /** Also a stage of a pipeline may be a function. */
  #started(programs: ShellFacts['programs']): ShellFacts['programs'] {
    return programs && this.#meansItself(programs.map(({ program }) => program)) ? programs : null
  }

  /** A function or an alias has the word `trap` in it. */
  get #mayHideTrap(): boolean {
    if (this.#blind) return true
    if (this.#searched !== this.version) {
      const { functions, aliases } = this.known
      this.#hidesTrap = [functions, aliases].some((all) => Object.values(all).some((text) => text.includes('trap')))
      this.#searched = this.version
    }
    return this.#hidesTrap
  }

  /** Functions and aliases may point streams elsewhere without a word of it in the command. */
  #callsWhatMoves({ words }: ShellFacts): boolean {
    if (this.#meansItself(words)) return false
    const { functions, aliases } = this.known
    return [...Object.values(functions), ...Object.values(aliases)].some((text) => /\bexec\b/.test(text))
  }

  /** The report of a command's end. */
  hear({ options, prompts, ownStdin }: ShellReport): void {
    this.#xtrace = options.includes('x')
    this.#verbose = options.includes('v')
    this.#prompts = prompts
    this.ownStdin = ownStdin
  }

  /** A command that was stopped before it had been given a trap has not taken it away. */
  hearTraps({ text, given }: NotedTraps): void {
    const { errTrap, others, ...traps } = trapsOf(text, this.traps.exit)
    if (!given.includes('DEBUG')) traps.debug ??= this.traps.debug
    if (!given.includes('RETURN')) traps.return ??= this.traps.return
    this.traps = traps
    this.errTrap = errTrap
    this.#hasTraps = errTrap || others || traps.exit !== null || traps.debug !== null || traps.return !== null
  }

  /** A command is given to the shell. */
  beginCommand(inert: boolean): void {
    this.behind = this.dirty
    this.dirty ||= !inert
  }

  /** The shell was dead before it read the command, which has changed nothing. */
  neverBegan(): void {
    this.dirty = this.behind
  }

  /** The last command ran elsewhere, or was not readable, and left nothing but its status. */
  noteStatus(status: number): void {
    this.last = { status, argument: '', stages: [status] }
  }

  /** What the shell has written down since the last look; `inert`: the command before it cannot have changed it. */
  noteDump({ alive, dumps }: SessionShell, inert = false): void {
    // A single one from behind the command is all that it wrote; in any other case there may be more in the pipe.
    const isAll = alive && dumps.count === this.#dumps + 1 && dumps.last?.mark === AFTER
    if (!isAll) dumps.readNow()
    const { count, last } = dumps
    if (count === this.#dumps) return
    this.#dumps = count
    this.unread = true
    this.behind = false
    // The state from before a command says nothing of what that one did.
    if (inert || last?.mark === AFTER || last?.mark === LEAVING) this.dirty = false
  }

  learn(state: ShellState | null): void {
    if (!state) return
    this.state = state
    this.unread = this.#blind = false
    this.#know(knowledge(state))
    this.#noticeTraps(state)
  }

  /**
   * A file that was sourced, or a function, sets traps without a word of it in the command. (One
   * for DEBUG is not in the state: bash puts it aside while it sources what writes the state down.)
   */
  #noticeTraps(state: ShellState): void {
    const { return: back, errTrap, others } = trapsOf(utf8(state.traps.map(({ text }) => text).join('\n')))
    this.errTrap ||= errTrap
    this.strayReturn = back !== null
    if (back !== null) this.traps = { ...this.traps, return: back }
    this.#hasTraps ||= this.errTrap || this.strayReturn || others
    this.#mayTrap ||= mentionsTraps(state)
  }

  /** What the guard saw the command do; the next dump says what it really did. */
  expect(mutations: Verdict['mutations']): void {
    for (const kind of ['variables', 'functions', 'aliases'] as const) {
      for (const name in mutations[kind]) {
        const value = mutations[kind][name] ?? null
        if ((this.known[kind][name] ?? null) === value) continue
        this.version += 1
        if (value === null) delete this.known[kind][name]
        else this.known[kind][name] = value
      }
    }
    const { held } = mutations
    if (!held) return
    const before = this.known.held
    const files = Object.entries({ ...before?.files, ...held.files }).slice(-GUARD_LIMITS.keptFiles)
    const after = {
      ...before,
      ...held,
      arrays: { ...before?.arrays, ...held.arrays },
      ...(before?.files || held.files ? { files: Object.fromEntries(files) } : {}),
    }
    if (JSON.stringify(before) !== JSON.stringify(after)) this.version += 1
    this.known.held = after
  }

  /**
   * Files that commands of this session wrote may have been changed by another program since. True: one was.
   */
  readFilesAgain(): boolean {
    const before = this.known.held?.files
    if (!before) return false
    const files = Object.fromEntries(
      Object.entries(before).flatMap(([path, old]) => {
        const text = isNotOnDisk(path, old) ? old : shortText(path, old)
        return text === null ? [] : [[path, text]]
      }),
    )
    if (JSON.stringify(files) === JSON.stringify(before)) return false
    this.known.held = { ...this.known.held, files }
    this.version += 1
    return true
  }

  #know(told: Knowledge): void {
    // A function that got a secret is known by the secret's name, which the shell does not know.
    for (const [name, text] of Object.entries(told.functions)) {
      const before = this.known.functions[name]
      if (before?.includes('{{') && mentionsBinding(text)) told.functions[name] = before
    }
    // The shell knows nothing of the files that its commands wrote, and tells nothing of what `=~` matched.
    const { files, arrays: { BASH_REMATCH } = {} } = this.known.held ?? {}
    const held = { ...told.held, ...(files && { files }) }
    if (BASH_REMATCH) held.arrays = { ...held.arrays, BASH_REMATCH }
    const known = files || BASH_REMATCH ? { ...told, held } : told
    if (JSON.stringify(known) === JSON.stringify(this.known)) return
    this.known = known
    this.version += 1
  }
}
