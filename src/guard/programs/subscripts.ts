/** Names of array elements that builtins are given as text: bash runs the substitutions of their subscripts. */
import { plain } from '../words/text.js'
import type { Program } from './call.js'

/** `let 'a[$(cmd)]=1'`, `test -v 'a[$(cmd)]'`, `unset 'a[$(cmd)]'`: judged, then the builtin itself. */
export const subscripted =
  (program: Program): Program =>
  (call, name) => {
    for (const word of call.argv.slice(1)) {
      if (!word.includes('[')) continue
      const text = plain(word)
      if (/\[.*(?:\$\(|`)/s.test(text) && (!/^(?:test|\[)$/.test(name) || call.argv.includes('-v')))
        call.walker.prompt(text, call.shell)
    }
    return program(call, name)
  }
