/** The one place that calls the parser: checks size first, and turns every syntax error into a refusal. */
import { type AndOr, type CommandNode, type CompoundList, type ParsedScript, parse, type Pipeline } from 'unbash'
import { GUARD_LIMITS, GuardLimit } from './limits.js'

/** What can stand where a command stands. */
export type Node = CommandNode | Pipeline | AndOr | CompoundList

/** Parses a script or throws a GuardLimit; never returns a tree with holes. */
export function parseScript(text: string): ParsedScript {
  if (text.includes('\0')) throw new GuardLimit('syntax', 'the command contains a NUL byte')
  return complete(parseLoosely(text))
}

/**
 * Parses text that a command makes at run time (`eval`, `bash -c`, `ssh`). What is wrong in it is an
 * error when that runs, and bash has then run the lines in front: the tree holds what could be read.
 */
export function parseLoosely(text: string): ParsedScript {
  if (text.length > GUARD_LIMITS.maxChars)
    throw new GuardLimit('size', `the command is longer than ${GUARD_LIMITS.maxChars} characters`)
  refuseBraceStorm(text)
  let script: ParsedScript
  try {
    // The parser does not know a process substitution behind `&>`; behind `>` it does, and means the same here.
    script = parse(text.replace(/&(>>?)(?=[ \t]+>\()/g, ' $1'))
  } catch {
    // The parser recovers from everything it knows; what it throws is a stack that ran out.
    throw new GuardLimit('depth', 'the command is nested too deeply')
  }
  return script
}

/** Nested scripts are parsed when they are first read and carry errors of their own. */
export function complete(script: ParsedScript | undefined): ParsedScript {
  if (!script) throw new GuardLimit('syntax', 'a command substitution could not be read')
  const error = script.errors?.[0]
  if (error) throw new GuardLimit(/depth|nest/i.test(error.message) ? 'depth' : 'syntax', error.message)
  return script
}

/** Long runs of `{` in one word take the parser quadratic time. */
function refuseBraceStorm(text: string): void {
  if (text.length < GUARD_LIMITS.maxBracesPerWord) return
  let open = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 123) {
      if (++open > GUARD_LIMITS.maxBracesPerWord) throw new GuardLimit('size', 'one word holds too many braces')
    } else if (code === 32 || code === 10 || code === 9 || code === 59) open = 0
  }
}
