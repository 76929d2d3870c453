/** Applies a policy to every effective command and effect: rules first, then what the preset thinks. */
import { carefulAbout } from './careful.js'
import { type Effect, objection } from '../rules/findings.js'
import type { GuardContext } from './context.js'
import { isInside } from '../../contract/names/inside.js'
import { resolvePath } from '../words/paths.js'
import { matchesPattern } from './pattern.js'
import type { CompiledRule, Policy } from './policy.js'
import { basename } from '../programs/row/call.js'
import { isPoisoned, onlyReads } from './readonly.js'
import type { ShellState } from '../words/state.js'
import { plain, readable, TREE, UNKNOWN } from '../words/text.js'
import type { Observer } from '../walk/effects.js'
import type { Walker } from '../walk/walk.js'

const HARMLESS_TARGET = /^\/dev\/(?:null|stdin|stdout|stderr|tty|full|zero|fd\/\d+)$/

export function watchPolicy(policy: Policy, context: GuardContext): Partial<Observer> {
  const project = context.roots?.[0] ?? context.cwd
  const place = (path: string): string =>
    resolvePath(path.startsWith('~') ? context.home + path.slice(1) : path, project)
  const roots = (context.roots ?? policy.roots ?? [context.cwd]).map(place)
  if (policy.preset === 'open' && policy.rules.length === 0 && policy.protectedPaths.length === 0) return {}

  return {
    command: (argv, shell, walker) => {
      const rules = policy.rules.filter(
        (rule) =>
          rule.directories === null ||
          shell.cwd.every((cwd) => rule.directories?.some((directory) => isInside(cwd, place(directory)))),
      )
      const denied = rules.find((rule) => rule.decision === 'deny' && applies(rule, argv))
      const asked = denied ?? rules.find((rule) => rule.decision === 'ask' && applies(rule, argv))
      if (asked) return byRule(asked, argv, walker)
      if (!isPoisoned(shell) && rules.some((rule) => rule.decision === 'allow' && applies(rule, argv))) return
      byPreset(policy, argv, shell, walker)
    },
    effect: (effect, walker, argv) => {
      const shown = plain(effect.path).replaceAll(TREE, '')
      if (HARMLESS_TARGET.test(shown)) return
      const guarded = policy.protectedPaths.find((path) => reaches(effect, path, shown, place))
      const words = [readable(argv[0] ?? ''), effect.word]
      if (guarded !== undefined)
        walker.add(
          objection(policy.protectedDecision, 'protected-path', words, {
            why: ` changes ${guarded}, which the policy protects`,
            guidance: 'Leave this path alone unless the person asked for exactly this change.',
          }),
        )
      if (policy.preset === 'readonly')
        walker.add(
          objection('deny', 'read-only', words, {
            why: ' changes a file, and this policy only lets commands read',
            guidance: 'Look at files only; ask the person to change the policy if something must be written.',
          }),
        )
      else if (
        policy.preset === 'careful' &&
        !roots.some((root) => isInside(shown, root)) &&
        !isInside(shown, context.tmp ?? '/tmp') &&
        !/^\/(tmp|var\/tmp|dev\/shm)\//.test(shown)
      ) {
        const where = effect.path.startsWith(UNKNOWN) ? 'a place that is not known here' : shown
        walker.add(
          objection('ask', 'write-outside', words, {
            why: ` changes ${where}, outside of ${roots.join(', ')}`,
            guidance: 'Work inside the project directory.',
          }),
        )
      }
    },
    opaque: (what, walker, words) => {
      const file = /script/.test(what)
      if (policy.preset === 'open' || (policy.preset === 'careful' && file)) return
      walker.add(
        objection(policy.preset === 'readonly' ? 'deny' : 'ask', 'unknown-code', words.map(readable), {
          why: `: ${what}`,
          guidance: 'Save the code to a file, read it, then run that file.',
        }),
      )
    },
  }
}

function applies(rule: CompiledRule, argv: readonly string[]): boolean {
  return rule.patterns.some((pattern) => matchesPattern(pattern, argv, rule.decision === 'allow'))
}

function byRule(rule: CompiledRule, argv: readonly string[], walker: Walker): void {
  const denies = rule.decision === 'deny'
  const usual = objection(rule.decision, `policy:${rule.name}`, argv.map(readable), {
    why: ` is ${denies ? 'forbidden' : 'to be asked about'} by the policy of this project`,
    guidance: denies
      ? 'Find a way without this command, or ask the person to run it.'
      : 'Wait for the person to agree, or find a way without this command.',
  })
  walker.add({ ...usual, reason: rule.reason ?? usual.reason, guidance: rule.guidance ?? usual.guidance })
}

function byPreset(policy: Policy, argv: readonly string[], shell: ShellState, walker: Walker): void {
  const name = basename(plain(argv[0] ?? ''))
  const doubt = policy.preset === 'careful' ? carefulAbout(name, argv, shell) : undefined
  if (doubt) walker.add(objection('ask', doubt.rule, argv.map(readable), doubt))
  if (policy.preset === 'readonly' && !onlyReads(name, argv, shell))
    walker.add(
      objection('deny', 'read-only', argv.map(readable), {
        why: ' is not known to only read, and this policy only lets commands read',
        guidance: 'Use commands that only look: ls, cat, grep, find, git log, git diff.',
      }),
    )
}

/** Whether an effect lands in a protected path: below it, at it, or by taking away a directory around it. */
function reaches(effect: Effect, path: string, shown: string, place: (path: string) => string): boolean {
  if (!/^[~/]/.test(path)) return `${shown}/`.includes(`/${path.replace(/^\.\//, '').replace(/\/$/, '')}/`)
  const absolute = place(path)
  return isInside(shown, absolute) || (/tree|move/.test(effect.kind) && isInside(absolute, shown))
}
