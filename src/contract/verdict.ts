/** What the guard says about a command, and why. */

export type Decision = 'allow' | 'ask' | 'deny'

/** A node of the readable tree that `cerith check` prints: what was seen, what it was unwrapped to. */
export interface Explained {
  readonly label: string
  readonly note?: string
  readonly decided?: boolean
  readonly children?: readonly Explained[]
}

/** What a shell holds besides strings, functions and aliases. */
export interface ShellHoldings {
  /** `$1`, `$2`, ... */
  readonly positional?: readonly string[]
  readonly arrays?: Readonly<Record<string, readonly string[]>>
  /** `declare -n`: the name that a name stands for. */
  readonly references?: Readonly<Record<string, string>>
  /** `declare -i`: what is assigned to these is an expression. */
  readonly integers?: readonly string[]
  /** Directories that `popd` goes back to, the next one first. */
  readonly directories?: readonly string[]
  /** `$_`: the last word of the command before. */
  readonly lastWord?: string
  /** `hash -p`: the program that a name starts, where it is another one. */
  readonly hashed?: Readonly<Record<string, string>>
  /** Files that commands of this shell have written, with text that matters if it is run. */
  readonly files?: Readonly<Record<string, string>>
}

/** What a command would leave behind in a session, as far as the guard can tell; fed to the next call's guard. */
export interface ShellMutations {
  readonly variables: Readonly<Record<string, string | null>>
  readonly aliases: Readonly<Record<string, string | null>>
  readonly functions: Readonly<Record<string, string | null>>
  /** Only what it changes. */
  readonly held?: ShellHoldings
}

/** A program of a pipeline or a list, with literal words. */
export interface ProgramStep {
  /** What joins it to the one before it; `;` also for the first. */
  readonly joint: ';' | '&&' | '||' | '|'
  readonly program: string
  /** The program and its arguments as they stand in the command. */
  readonly words: string
  /** `2>&1` joins it to stdout, `2>/dev/null` drops it. */
  readonly stderr: 'kept' | 'joined' | 'dropped'
}

/** What a command can do to the shell that carries it out, whatever that shell is like; read from its syntax. */
export interface ShellFacts {
  /** The first words of the commands that the shell itself carries out, as far as they are constant. */
  readonly words: readonly string[]
  /** It leaves the shell as it was, as long as `words` mean what they say (no function or alias of that name). */
  readonly harmless: boolean
  /** It may change the shell, but no word means something else after it. */
  readonly clear: boolean
  /** It runs text that is not in it: `eval`, `source`, a name that only an expansion knows. */
  readonly dynamic: boolean
  /** It starts no process, and waits for none. */
  readonly builtinsOnly: boolean
  /** Bash may have a child when it is done. */
  readonly leavesChildren: boolean
  /** It is nothing but programs and words that are what they look like; null where it is more. */
  readonly programs: readonly ProgramStep[] | null
  /** Every here-document has its end. */
  readonly whole: boolean
  /** There is no command in it: nothing, or comments. */
  readonly empty: boolean
  readonly setsTraps: boolean
  readonly listsTraps: boolean
  readonly mentionsErr: boolean
  /** It may shadow or disable the builtins that the session's own lines are made of. */
  readonly hidesBuiltins: boolean
  /** It may point a descriptor of the shell somewhere else for good, or close it. */
  readonly movesStreams: boolean
  readonly movesStdin: boolean
  /** It looks at `$_`, `$?`, `PIPESTATUS`, which the command before it has left. */
  readonly looksAtLast: boolean
  readonly looksAtStatus: boolean
  readonly looksAtStages: boolean
  /** The shell may end because of it, though not at once. */
  readonly mayEndShell: boolean
  /** It may make bash show what it reads (`set -v`). */
  readonly turnsVerbose: boolean
}

/** Something that a verdict found on the disk: the real path, or null where nothing was. */
export interface DiskLook {
  readonly path: string
  readonly real: string | null
}

export interface Verdict {
  readonly decision: Decision
  readonly rule: string | null
  readonly reason: string | null
  readonly guidance: string | null
  /** The words that decided. */
  readonly words: readonly string[]
  /** Every effective argv that was seen after unwrapping. */
  readonly commands: readonly (readonly string[])[]
  /** Something would have been asked about, had the sandbox not made it harmless. */
  readonly heldBy?: 'sandbox'
  /** True for the catastrophic rules (their texts say "dangerous"). */
  readonly dangerous: boolean
  readonly tree: Explained
  /** What the verdict rests on besides the words: it holds as long as the disk says the same. */
  readonly looked: readonly DiskLook[]
  /** Tokens (`{{secret:NAME}}`) whose value would be read as code: by eval, another shell, an interpreter, a prompt. */
  readonly secretsAsCode: readonly string[]
  readonly mutations: ShellMutations
  readonly shell: ShellFacts
  readonly facts: {
    /** False when the text could not be parsed completely. */
    readonly parsedOk: boolean
    /** Stages of the last pipeline of the last line (1 = no pipe). */
    readonly lastPipelineStages: number
    /** Name of the last simple command ("grep" in `a | grep b`), when it is constant. */
    readonly finalCommand: string | null
    readonly endsInBackground: boolean
  }
}
