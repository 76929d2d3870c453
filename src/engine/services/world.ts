/** The user's own world, where it was asked for: what the login shell sets up, and the variables of directories. */
import type { Note } from '../../contract/note.js'
import { isSecretName } from '../../contract/secret.js'
import { badConfig } from '../../contract/errors.js'
import { parseDotenv } from '../../env/dotenv.js'
import { judgeVariable, type JudgeOptions } from '../../env/filter.js'
import { isSecretName as isNamedLikeSecret } from '../../env/secret-names.js'
import { secretLook } from '../../env/secret-values.js'
import { directoryEnv, directoryMark, type DirectoryEnv } from '../../os/user/directory-env.js'
import { loginShell, type Keep, type LoginShell } from '../../os/user/login-shell.js'
import type { EngineOptions } from './options.js'
import type { SecretStore } from './secret-store.js'
import { quoteWord } from '../../contract/quote.js'

/** Nothing that looks like a secret is kept, neither in a file nor for commands. */
export function keepOf({ allowDangerous, keep = [], drop = [] }: JudgeOptions): Keep {
  return {
    variable: (name, value) =>
      judgeVariable(name, value, 'inherited', { ...(allowDangerous ? { allowDangerous } : {}), keep, drop }).keep,
    code: (text) =>
      secretLook(text) === null &&
      ![...text.matchAll(/\b([A-Za-z_]\w*)=(['"]?)([^\s'"$`;()]{8,})\2/g)].some(([, name = '', , value = '']) =>
        isNamedLikeSecret(name, value),
      ),
  }
}

/** Asked for once, or read from where it is kept. */
export function openLoginShell(
  options: EngineOptions,
  stateDir: string,
  env: EngineOptions['env'],
): Promise<LoginShell> {
  const { allowDangerousEnv: allowDangerous = false, keepEnv: keep = [], dropEnv: drop = [] } = options
  return loginShell(stateDir, env ?? process.env, keepOf({ allowDangerous, keep, drop }))
}

/** Bash code (latin1) that gives a new shell the functions and aliases; null where there are none. */
export function setUpCode({ functions, aliases }: LoginShell): string | null {
  const lines = [
    ...Object.values(functions).map((text) => `\\builtin eval ${quoteWord(text)}`),
    ...Object.entries(aliases).map(([name, value]) => `\\builtin alias -- ${quoteWord(`${name}=${value}`)}`),
  ]
  return lines.length === 0 ? null : `${lines.join('\n')}\n`
}

/** Null where no directory has variables of its own. */
export type Directories = {
  /** Changes when what a directory means may have changed. */
  mark(cwd: string): string
  /** `confined`: for a call that has a sandbox where its engine has none. */
  of(cwd: string, env: Readonly<Record<string, string>>, confined?: boolean): Promise<DirectoryEnv>
}

export function directoriesOf(
  { directoryEnv: wanted, env, sandbox, allowDangerousEnv = false }: EngineOptions,
  secrets: SecretStore,
): Directories | null {
  if (!wanted || !(wanted.direnv || wanted.mise || wanted.dotenv?.length)) return null
  const isConfined = sandbox !== undefined && sandbox.profile !== 'off'
  // What direnv and mise run may be changed by commands, and would run outside their sandbox.
  const check = (confined: boolean): void => {
    if (confined && (wanted.direnv || wanted.mise))
      throw badConfig(
        'direnv and mise run code outside the sandbox',
        'Switch env.direnv and env.mise off, or the sandbox; env.dotenv goes with both.',
      )
  }
  check(isConfined)
  const known = new Map<string, Promise<DirectoryEnv>>()
  const mark = (cwd: string): string => directoryMark(cwd, wanted, env ?? process.env)
  return {
    mark,
    of(cwd, env, confined = isConfined) {
      check(confined)
      const key = `${confined}\n${mark(cwd)}\n${JSON.stringify(env)}`
      const before = known.get(key)
      if (before) return before
      if (known.size > 50) known.clear()
      const asked = directoryEnv(cwd, env, wanted, parseDotenv, confined).then((found) =>
        allowed(found, allowDangerousEnv, secrets),
      )
      known.set(key, asked)
      return asked
    },
  }
}

/** As if given for the call: no loader hooks. What is named or looks like a secret is used and never shown. */
function allowed({ set, unset, notes }: DirectoryEnv, allowDangerous: boolean, secrets: SecretStore): DirectoryEnv {
  const kept = Object.entries(set).filter(
    ([name, value]) => judgeVariable(name, value, 'explicit', { allowDangerous }).keep,
  )
  for (const [name, value] of kept)
    if (value.length >= 8 && isSecretName(name) && (isNamedLikeSecret(name, value) || secretLook(value) !== null))
      secrets.set({ kind: 'secret', name }, new TextEncoder().encode(value))
  const left = Object.keys(set).filter((name) => !kept.some(([one]) => one === name))
  const told: Note[] =
    left.length === 0
      ? []
      : [{ code: 'environment', text: `Not set: ${left.join(', ')} (loader and start-up hooks stay out).` }]
  return { set: Object.fromEntries(kept), unset, notes: [...notes, ...told] }
}
