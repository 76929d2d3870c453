/** Applies a policy to every effective command and effect: rules first, then what the preset thinks. */
import { carefulAbout } from './careful.js'
import type { Effect } from '../rules/findings.js'
import type { GuardContext } from './context.js'
import { isWithin, resolvePath } from '../words/paths.js'
import { matchesPattern } from './pattern.js'
import type { CompiledRule, Policy } from './policy.js'
import { basename } from '../programs/row/call.js'
import { isPoisoned, onlyReads } from './readonly.js'
import type { ShellState } from '../words/state.js'
import { plain, readable, TREE, UNKNOWN } from '../words/text.js'
import type { Observer } from '../walk/effects.js'
import type { Walker } from '../walk/walk.js'

const HARMLESS_TARGET = /^\/dev\/(?:null|stdin|stdout|stderr|tty|full|zero|fd\/\d+)$/

export function watchPolicy(policy: Policy, context: GuardContext): Observer {
  const project = context.roots?.[0] ?? context.cwd
  const place = (path: string): string =>
    resolvePath(path.startsWith('~') ? context.home + path.slice(1) : path, project)
  const roots = (context.roots ?? policy.roots ?? [context.cwd]).map(place)
  if (policy.preset === 'open' && policy.rules.length === 0 && policy.protectedPaths.length === 0)
    return { command: () => {}, effect: () => {}, opaque: () => {} }

  return {
    command: (argv, shell, walker) => {
      const rules = policy.rules.filter(
        (rule) =>
          rule.directories === null ||
          shell.cwd.every((cwd) => rule.directories?.some((directory) => isWithin(cwd, place(directory)))),
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
      if (guarded !== undefined) {
        walker.add({
          decision: policy.protectedDecision,
          rule: 'protected-path',
          reason: `\`${argv[0] ?? ''} ${effect.word}\` changes ${guarded}, which the policy protects`,
          guidance: 'Leave this path alone unless the person asked for exactly this change.',
          words: [argv[0] ?? '', effect.word],
          dangerous: false,
        })
      }
      if (policy.preset === 'readonly') {
        walker.add({
          decision: 'deny',
          rule: 'read-only',
          reason: `\`${argv.slice(0, 1).map(readable).join('')} ${effect.word}\` changes a file, and this policy only lets commands read`,
          guidance: 'Look at files only; ask the person to change the policy if something must be written.',
          words: [readable(argv[0] ?? ''), effect.word],
          dangerous: false,
        })
      } else if (
        policy.preset === 'careful' &&
        !roots.some((root) => isWithin(shown, root)) &&
        !isWithin(shown, context.tmp ?? '/tmp') &&
        !/^\/(tmp|var\/tmp|dev\/shm)\//.test(shown)
      ) {
        const where = effect.path.startsWith(UNKNOWN) ? 'a place that is not known here' : shown
        walker.add({
          decision: 'ask',
          rule: 'write-outside',
          reason: `\`${argv.slice(0, 1).map(readable).join('')} ${effect.word}\` changes ${where}, outside of ${roots.join(', ')}`,
          guidance: 'Work inside the project directory.',
          words: [readable(argv[0] ?? ''), effect.word],
          dangerous: false,
        })
      }
    },
    opaque: (what, walker, words) => {
      const file = /script/.test(what)
      if (policy.preset === 'open' || (policy.preset === 'careful' && file)) return
      walker.add({
        decision: policy.preset === 'readonly' ? 'deny' : 'ask',
        rule: 'unknown-code',
        reason: `\`${words.map(readable).join(' ')}\`: ${what}`,
        guidance: 'Save the code to a file, read it, then run that file.',
        words: words.map(readable),
        dangerous: false,
      })
    },
  }
}

function applies(rule: CompiledRule, argv: readonly string[]): boolean {
  return rule.patterns.some((pattern) => matchesPattern(pattern, argv, rule.decision === 'allow'))
}

function byRule(rule: CompiledRule, argv: readonly string[], walker: Walker): void {
  walker.add({
    decision: rule.decision,
    rule: `policy:${rule.name}`,
    reason:
      rule.reason ??
      `\`${argv.map(readable).join(' ')}\` is ${rule.decision === 'deny' ? 'forbidden' : 'to be asked about'} by the policy of this project`,
    guidance:
      rule.guidance ??
      (rule.decision === 'deny'
        ? 'Find a way without this command, or ask the person to run it.'
        : 'Wait for the person to agree, or find a way without this command.'),
    words: argv.map(readable),
    dangerous: false,
  })
}

function byPreset(policy: Policy, argv: readonly string[], shell: ShellState, walker: Walker): void {
  const name = basename(plain(argv[0] ?? ''))
  if (policy.preset === 'careful') {
    const doubt = carefulAbout(name, argv, shell)
    if (doubt)
      walker.add({
        decision: 'ask',
        rule: doubt.rule,
        reason: `\`${argv.map(readable).join(' ')}\` ${doubt.why}`,
        guidance: doubt.guidance,
        words: argv.map(readable),
        dangerous: false,
      })
  } else if (policy.preset === 'readonly' && !onlyReads(name, argv, shell)) {
    walker.add({
      decision: 'deny',
      rule: 'read-only',
      reason: `\`${argv.map(readable).join(' ')}\` is not known to only read, and this policy only lets commands read`,
      guidance: 'Use commands that only look: ls, cat, grep, find, git log, git diff.',
      words: argv.map(readable),
      dangerous: false,
    })
  }
}

/** Whether an effect lands in a protected path: below it, at it, or by taking away a directory around it. */
function reaches(effect: Effect, path: string, shown: string, place: (path: string) => string): boolean {
  if (!/^[~/]/.test(path)) return `${shown}/`.includes(`/${path.replace(/^\.\//, '').replace(/\/$/, '')}/`)
  const absolute = place(path)
  return isWithin(shown, absolute) || (/tree|move/.test(effect.kind) && isWithin(absolute, shown))
}
