/** Programs that drop the firewall or take the machine off the network. */
import { nameList } from '../../../contract/quote.js'
import { hasUnknown, plain, readable } from '../../words/text.js'
import { type Call, fieldsOf, longOption, options, type Program, table } from '../row/call.js'

/** Options of iptables by their letters; `--dport` has none. */
const RULE_OPTIONS: Readonly<Record<string, string>> = {
  t: '--table',
  P: '--policy',
  F: '--flush',
  I: '--insert',
  j: '--jump',
  dport: '--dport',
}

/** The long name of an option, and a value that was joined to it as a word of its own. */
function writtenOut(word: string): string[] {
  const [, letter = '', rest] = /^-([tPFIj])(.*)$/s.exec(word) ?? []
  const [option = '', value] = word.split(/=(.*)/s)
  const name = RULE_OPTIONS[letter] ?? longOption(option, Object.values(RULE_OPTIONS))
  return name === undefined ? [word] : [name, rest ?? value ?? ''].filter((part) => part !== '')
}

const iptables: Program = (call) => {
  const words = call.args.flatMap((word) => writtenOut(plain(word)))
  const at = words.indexOf('--table')
  const table = at >= 0 ? words[at + 1] : undefined
  if (table !== undefined && table !== 'filter') return
  const policy = words.indexOf('--policy')
  if (
    words.includes('--flush') &&
    !isOwnChain(call.argv.at(-1) ?? '', call) &&
    !words.some((word) => /^[A-Za-z][^\s=]*$/.test(word) && !/^(INPUT|OUTPUT|FORWARD|filter)$/.test(word))
  )
    call.report('flush-firewall')
  else if (
    (policy >= 0 && /^(?:INPUT|OUTPUT) (?:DROP|REJECT)$/.test(words.slice(policy + 1, policy + 3).join(' '))) ||
    /^--insert (?:INPUT|OUTPUT)(?: 1)? --jump (?:DROP|REJECT)$/.test(words.join(' ')) ||
    // The rule drops every new ssh connection: an administrator who works over the network is locked out.
    /^--insert INPUT(?: 1)? (?:-p tcp |-m tcp )*--dport (?:22|ssh) --jump (?:DROP|REJECT)$/.test(words.join(' '))
  )
    call.report('cut-network')
}

/** A chain with a name that is not known here, which this command made. */
function isOwnChain(chain: string, { walker }: Call): boolean {
  return (
    hasUnknown(chain) &&
    walker.commands.some((argv) => /^(?:-N|--new-chain)$/.test(argv.at(-2) ?? '') && argv.at(-1) === readable(chain))
  )
}

/** All rules of nftables, or the table that holds those of the machine. */
const DROPS_TABLES = /\bflush\s+ruleset\b|\b(?:flush|delete|destroy)\s+table\s+(?:\w+\s+)?(?:filter|firewalld)\b/

const firewall: Program = (call, name) => {
  const text = call.args.map(plain).join(' ')
  const flushes: Readonly<Record<string, RegExp>> = {
    nft: DROPS_TABLES,
    ipfw: /\bflush\b/,
    pfctl: /(^|\s)-F\s*(all|rules)|(^|\s)-d(\s|$)/,
    ufw: /(^|\s)(reset|disable)\b/,
    'firewall-cmd': /--(reset-to-defaults|panic-on)/,
    ebtables: /(^|\s)(-F|--flush)(\s|$)/,
    ipset: /^(destroy|flush)$/,
  }
  if (name === 'iptables-restore' || name === 'nft') {
    const fed =
      (call.stdin ?? []).some((input) =>
        name === 'nft' ? DROPS_TABLES.test(input) : input.trim() === '' || /^(?!.*ACCEPT).*:INPUT DROP/s.test(input),
      ) || /(^|\s)\/dev\/null(\s|$)/.test(text)
    if (fed) call.report('flush-firewall', [name])
  }
  if (/(^|\s)--dry-run\b/.test(text)) return
  if (flushes[name]?.test(text)) call.report('flush-firewall', [name, ...fieldsOf(text)])
}

const PHYSICAL = /^(eth\d+|en\d+|en[opsx]\w+|wl\w+|bond\d+|ib\d+|em\d+|venet\d+|ens\d+|enp\w+|wwan\d+|lo)$/

const ip: Program = (call) => {
  const words = options(call.args, { short: 'n', long: ['netns'] }).operands.map(plain)
  const text = words.join(' ')
  if (call.argv.some((arg) => arg === '-n' || arg === 'netns')) return
  const physical = words.some((word) => PHYSICAL.test(word))
  const few = / (?:cache|table (?!main|all|default|254)\w+|proto \w+|dev (?!eth|en|wl))/.test(text)
  const cuts =
    (physical && /^(l|link) (s|set)\b.* down\b|^(l|link) (d|del|delete)\b|^(a|addr|address) (f|flush)\b/.test(text)) ||
    (!few && /^(r|route) (f|flush)\b/.test(text)) ||
    /^(r|route) (d|del|delete) default\b/.test(text) ||
    /^(r|route) (a|add) (?:blackhole|unreachable|prohibit) (?:default|0\.0\.0\.0\/0)\b/.test(text) ||
    /^(a|addr|address) (f|flush) scope global$/.test(text)
  if (cuts) call.report('cut-network', ['ip', ...words])
}

const network: Program = (call, name) => {
  const words = call.args.map(plain)
  const text = words.join(' ')
  const down =
    (name === 'ifconfig' && words.includes('down') && words.some((word) => PHYSICAL.test(word))) ||
    (name === 'ifdown' && words.some((word) => PHYSICAL.test(word) || word === '-a' || word === '--all')) ||
    (name === 'nmcli' &&
      (/\b(n|net|networking)\b.*\boff\b/.test(text) ||
        /\br(adio)?\b.*\boff\b/.test(text) ||
        /\bd(ev(ice)?)?\b.*\b(disconnect|delete|down)\b/.test(text))) ||
    (name === 'rfkill' && /\bblock all\b/.test(text)) ||
    (name === 'route' && /\b(del|delete)\b.*\bdefault\b|\bflush\b(?! cache)/.test(text)) ||
    (name === 'networkctl' && /\bdown\b/.test(text) && words.some((word) => PHYSICAL.test(word)))
  if (down) call.report('cut-network', [name, ...words])
}

export const NETWORK_PROGRAMS: Readonly<Record<string, Program>> = {
  ...table(nameList('iptables ip6tables iptables-legacy iptables-nft'), iptables),
  ...table(nameList('nft ipfw pfctl ufw firewall-cmd ebtables ipset iptables-restore'), firewall),
  ip,
  ...table(nameList('ifconfig ifdown nmcli rfkill route networkctl'), network),
}
