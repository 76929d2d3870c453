/** Keeps an agent from starting its own host's command line where a built-in tool does the same work. */
import { nameList } from '../../contract/quote.js'
import type { AutomationRule } from '../../contract/request.js'
import type { Finding } from '../rules/findings.js'
import { basename } from '../programs/row/call.js'
import { plain } from '../words/text.js'
import type { Observer } from '../walk/effects.js'

/** Guards cerith's own command line: an agent must not approve its own requests or read the vault through it. */
export const OWN_AUTOMATION: AutomationRule = {
  program: 'cerith',
  subcommands: nameList('accept approve attach clean discard hook kill mcp run secret send serve top ui'),
  tools: 'the shell tools you already have',
  feature: 'cerith',
  enabled: true,
}

export function watchAutomation(rules: readonly AutomationRule[]): Partial<Observer> {
  return {
    command: (argv, _shell, walker) => {
      const [program, ...words] = called(argv.map(plain))
      for (const rule of rules) {
        if (rule.program.toLowerCase() !== program.toLowerCase()) continue
        const subcommand = words.find((word) => !word.startsWith('-'))
        const hit =
          rule.subcommands.length === 0
            ? ''
            : rule.subcommands.find((name) => name.toLowerCase() === subcommand?.toLowerCase())
        if (hit !== undefined) walker.add(finding(rule, [program, hit].filter((word) => word !== '').join(' ')))
      }
    },
  }
}

const RUNTIMES = /^(?:node|bun|deno)$/
/** The script that a package is started by, as it is installed: `node_modules/NAME/dist/cli.js`. */
const ENTRY = /(?:^|\/)([^/]+)\/(?:dist|bin|lib)\/(?:cli|main|index)\.[cm]?js$/

/** The program by its name, and its words; a script of an installed package is the program of that name. */
function called(argv: readonly string[]): [string, ...string[]] {
  const [first = ''] = argv
  const at = RUNTIMES.test(basename(first)) ? argv.findIndex((word, i) => i > 0 && ENTRY.test(word)) : 0
  const script = ENTRY.exec(argv[Math.max(0, at)] ?? '')
  return script ? [script[1] as string, ...argv.slice(Math.max(0, at) + 1)] : [basename(first), ...argv.slice(1)]
}

function finding(rule: AutomationRule, invocation: string): Finding {
  const reason = rule.enabled
    ? `Do not run '${invocation}' in a shell: use the built-in tools instead (${rule.tools}). A second ` +
      `${rule.program} process has no way to sign in here and would fail.`
    : `'${invocation}' cannot run in a shell, and its built-in tools (${rule.tools}) are switched off. Enable ` +
      `the ${rule.feature} feature in Settings to use them.`
  return {
    decision: 'deny',
    rule: 'own-automation',
    reason,
    guidance: rule.enabled
      ? `Call one of these built-in tools: ${rule.tools}.`
      : `Ask the person to enable ${rule.feature} in Settings, then use ${rule.tools}.`,
    words: invocation.split(' '),
    dangerous: false,
  }
}
