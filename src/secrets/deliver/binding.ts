/**
 * Carries values into bash as data: read from a private descriptor into unexported variables,
 * never parsed, never in argv or environ.
 */

/** A variable of the shell and the bytes that it shall hold while one command runs. */
export interface Binding {
  readonly variable: string
  readonly value: Uint8Array
}

const PREFIX = '__cerith_'

/**
 * Whether the engine made a variable for the time of one command: such names must not get into a session's saved state.
 */
export function isBindingVariable(name: string): boolean {
  return name.startsWith(PREFIX)
}

/** Whether a text, such as a function's, was given a secret by such a variable. */
export function mentionsBinding(text: string): boolean {
  return text.includes(PREFIX)
}

/** A name that says which secret it holds, for bash's own error messages, and that no command can guess. */
export function bindingVariable(secretName: string, index: number, nonce: string): string {
  return `${PREFIX}${secretName.replace(/[^A-Za-z0-9]/g, '_').slice(0, 40)}_${nonce.replace(/[^A-Za-z0-9]/g, '')}_${index}`
}

/** The bytes to write into the descriptor: every value followed by a NUL. */
export function bindingPayload(bindings: readonly Binding[]): Uint8Array {
  const payload = new Uint8Array(bindings.reduce((sum, { value }) => sum + value.length + 1, 0))
  let at = 0
  for (const { value } of bindings) {
    payload.set(value, at)
    at += value.length + 1
  }
  return payload
}

/**
 * Bash code that fills the variables without a fork. `from` is a descriptor number (closed
 * afterwards) or a shell word naming a FIFO. It leaves status 0, or 1 with a message when the
 * descriptor ended early. It contains no value, only their lengths.
 */
export function bindingPrelude(bindings: readonly Binding[], from: string): string {
  if (bindings.length === 0) return ':'
  const isNumber = /^[0-9]+$/.test(from)
  const names = bindings.map(({ variable }) => variable).join(' ')
  // `read -N` is the only reader that takes a pipe in blocks instead of a byte per system call,
  // but it counts bytes only in the C locale.
  // `read` skips the NULs. Where LC_ALL is read-only, mapfile does the same work slowly: it stops
  // at the NUL and knows no characters, only bytes.
  const fast = bindings.map(({ variable, value }) =>
    value.length > 0 ? `LC_ALL=C \\builtin read -r -N ${value.length} ${variable}` : `${variable}=`,
  )
  const slow = bindings.map(({ variable }) => `\\builtin mapfile -d '' -t -n 1 ${variable}`)
  // stderr is closed to this group so that `set -x` shows nothing of it. allexport would export
  // the variables: export -n takes that back.
  const reads = `if [[ \${LC_ALL+set} && \${LC_ALL@a} == *r* ]]; then ${slow.join(' && ')}; else ${fast.join(' && ')}; fi`
  const source = isNumber ? `<&${from}` : `<${from}`
  const close = isNumber ? ` && \\exec ${from}<&-` : ''
  return (
    `{ ${reads} && \\builtin export -n ${names}; } ${source} 2>/dev/null${close} || { \\builtin printf '%s\\n' ` +
    `'cerith: the secret values did not arrive' >&2; \\builtin false; }`
  )
}

/** Bash code that takes the variables away again, and says nothing whatever the shell's options are. */
export function bindingEpilogue(bindings: readonly Binding[]): string {
  if (bindings.length === 0) return ':'
  return `{ \\builtin unset -v ${bindings.map(({ variable }) => variable).join(' ')}; } 2>/dev/null`
}
