/**
 * The engine's guard: what it is told about this machine, which verdicts are kept, and where long commands are judged.
 */
import type { AutomationRule } from '../../contract/request.js'
import type { Verdict } from '../../contract/verdict.js'
import { OWN_AUTOMATION } from '../../guard/policy/automation.js'
import type { GuardContext } from '../../guard/policy/context.js'
import { realPath, stillHolds } from './judge/disk-looks.js'
import { type Guard, GuardThread } from './judge/thread.js'
import type { SecretStore } from './secret-store.js'
import type { Services } from './services.js'

export interface Judge {
  readonly judge: Services['judge']
  end(): Promise<void>
}

const KEPT_VERDICTS = 500
const NONE = {}

/** `about` is the same for every command. */
export function createJudge(
  guard: Promise<Guard>,
  about: Omit<GuardContext, 'cwd'>,
  automation: readonly AutomationRule[],
  secrets: Pick<SecretStore, 'delivered'>,
): Judge {
  const thread = new GuardThread()
  const verdicts = new Map<string, Verdict>()
  let loaded: Guard | null = null
  const always = [...automation, OWN_AUTOMATION]
  void guard.then(
    (guard) => (loaded = guard),
    () => {},
  )
  return {
    judge(command, context, more = []) {
      // A fresh shell knows nothing that could change: the same command in the same directory gets the same verdict.
      const key =
        more.length === 0 &&
        !context.variables &&
        !context.functions &&
        !context.aliases &&
        !context.held &&
        context.home === undefined &&
        command.length < 4_096
          ? `${context.cwd}\0${command}`
          : null
      const before = key === null ? undefined : verdicts.get(key)
      if (before && stillHolds(before)) return before
      // Written out: to copy objects of this size into one costs as much as to look at a short command.
      const whole: GuardContext = {
        cwd: context.cwd,
        home: context.home ?? about.home,
        tmp: about.tmp,
        policy: about.policy,
        roots: about.roots,
        own: about.own,
        sandbox: about.sandbox,
        protectedPaths: about.protectedPaths,
        unreadablePaths: about.unreadablePaths,
        functions: context.functions,
        aliases: context.aliases,
        held: context.held,
        variables: about.variables ? { ...about.variables, ...context.variables } : (context.variables ?? NONE),
        secrets: context.variables && secrets.delivered.size > 0 ? [...secrets.delivered] : [],
        automation: more.length > 0 ? [...more, ...always] : always,
        // A home that the caller names may be on another machine: this disk says nothing about it.
        resolveSymlink: context.home === undefined ? realPath : undefined,
      }
      const ask = (guard: Guard): Verdict | Promise<Verdict> => thread.judge(guard, command, whole)
      const keep = (verdict: Verdict): Verdict => {
        if (key === null) return verdict
        if (verdicts.size >= KEPT_VERDICTS) verdicts.clear()
        verdicts.set(key, verdict)
        return verdict
      }
      const asked = loaded ? ask(loaded) : guard.then(ask)
      return asked instanceof Promise ? asked.then(keep) : keep(asked)
    },
    end: () => thread.end(),
  }
}
