/** Names of array elements that builtins are given as text: bash runs the substitutions of their subscripts. */
import { mayHoldCode } from '../../words/folding.js'
import { plain } from '../../words/text.js'
import { options, type Program } from '../row/call.js'

/** The words of a builtin that it reads as names or expressions. */
function namesIn(argv: readonly string[], name: string): readonly (string | undefined)[] {
  if (name === 'let') return argv.slice(1)
  if (name === 'printf') return argv[1] === '-v' ? [argv[2]] : []
  if (name === 'unset' || name === 'read') return options(argv.slice(1), { short: 'adeinNptu' }).operands
  const at = argv.indexOf(name === 'wait' ? '-p' : '-v')
  return at > 0 ? [argv[at + 1]] : []
}

/** `let 'a[$(cmd)]=1'`, `test -v 'a[$(cmd)]'`, `unset 'a[$(cmd)]'`: judged, then the builtin itself. */
export const subscripted =
  (program: Program): Program =>
  (call, name) => {
    for (const word of namesIn(call.argv, name)) {
      const text = plain(word ?? '')
      if (mayHoldCode(text)) call.walker.calculated([text], call.shell)
      const index = /^\w+\[(\w+)\]$/.exec(text)?.[1]
      if (index !== undefined) call.walker.calculated([index], call.shell)
      if (name === 'let') call.walker.calculated([text.replace(/^\w+\s*[-+*/%&|^]?=/, '')], call.shell)
    }
    return program(call, name)
  }
