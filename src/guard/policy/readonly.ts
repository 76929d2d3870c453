/**
 * What the preset `readonly` lets through: commands known to only read, with the options that would make them write.
 */
import { nameList, nameSet } from '../../contract/quote.js'
import { interpreterName } from '../programs/code/interpreters.js'
import { table } from '../programs/row/call.js'
import { SHELLS } from '../programs/shell/inner.js'
import type { ShellState } from '../words/state.js'
import { hasUnknown, plain } from '../words/text.js'

type Check = (args: readonly string[]) => boolean

const always: Check = () => true
const without =
  (...patterns: readonly RegExp[]): Check =>
  (args) =>
    !args.some((word) => patterns.some((pattern) => pattern.test(word)))
const verbs =
  (pattern: RegExp, ...forbidden: readonly RegExp[]): Check =>
  (args) => {
    const at = args.findIndex((word) => !word.startsWith('-'))
    return at >= 0 && pattern.test(args.slice(at).join(' ')) && without(...forbidden)(args)
  }
const only =
  (pattern: RegExp): Check =>
  (args) =>
    args.some((word) => pattern.test(word))

/** git runs helpers named by options and by configuration given on the command line. */
const git: Check = (args) => {
  let i = 0
  while (i < args.length && (args[i] ?? '').startsWith('-')) {
    if (!/^(-C|--no-pager|-P|--no-optional-locks|--version|--help)$/.test(args[i] ?? '')) return false
    i += args[i] === '-C' ? 2 : 1
  }
  const [verb = '', ...rest] = args.slice(i)
  if (rest.some((word) => GIT_RISKS.test(word) && !(word === '-O' && verb === 'diff'))) return false
  if (GIT_READERS.has(verb)) return true
  const operands = rest.filter((word) => !word.startsWith('-'))
  if (verb === 'branch')
    return (
      operands.length === 0 ||
      (only(/^(-l|--list|--contains|--merged|--no-merged|--points-at|-a|-r|-v+)$/)(rest) &&
        without(/^-[dDmMcCu]|^--(delete|move|copy|set-upstream|edit-description|unset|force)/)(rest))
    )
  if (verb === 'tag') return operands.length === 0 || only(/^(-l|--list|--contains|--points-at)$/)(rest)
  if (verb === 'config' && only(/^(--get|--get-all|--get-regexp|-l|--list|--get-urlmatch)$/)(rest)) return true
  const looks = GIT_LOOKS.get(verb)
  return looks ? looks.test(operands[0] ?? '') : verb === '' && args.length > 0
}

/** Options with which a verb of git writes a file or starts a program. */
const GIT_RISKS =
  /^(--output|--ext-diff|--textconv|--open-files-in-pager|--exec|--upload-pack|--receive-pack|--paginate)(=|$)|^-O[^\d]*$/

/** Verbs of git that only look. */
const GIT_READERS = nameSet(`
  status log diff show rev-parse ls-files blame annotate describe shortlog cat-file rev-list ls-tree grep for-each-ref
  name-rev merge-base show-ref var count-objects whatchanged cherry diff-tree diff-index diff-files show-branch
  range-diff check-ignore check-attr version help verify-commit verify-tag fsck
`)

/** Verbs of git that only look with these first operands; an empty one stands for none. */
const GIT_LOOKS = new Map(
  Object.entries({
    config: /^(get|list)$/,
    remote: /^(show|get-url)?$/,
    stash: /^(list|show)$/,
    worktree: /^list$/,
    submodule: /^(status|summary)?$/,
    reflog: /^(show)?$/,
    notes: /^(list|show)?$/,
  }),
)

const find = without(/^-(delete|ok|okdir|fprint|fprint0|fprintf|fls)$/)
const sed: Check = (args) =>
  !args.some((word) => /^-[a-zA-Z]*i|^--in-place|^-f$|^--file|^-[a-zA-Z]*s?f$/.test(word)) &&
  !args.some((word) => /(^|[;}\s\d$/])[wWe](\s|$)|\/[gpiIM\d]*[we][gpiIM\d]*(\s|$)/.test(word))
const awk: Check = (args) =>
  !args.some((word) => /\bsystem\b|\bgetline\b|[|>]|^-f$|^--file|^-i$|^--include|@(load|include)|^-l$/.test(word))
/** A second operand is written. */
const oneFile: Check = (args) => args.filter((word) => !word.startsWith('-')).length < 2

const READERS: Readonly<Record<string, Check>> = {
  ...table(
    nameList(
      'ls dir vdir cat tac head tail wc grep egrep fgrep zgrep cut tr paste join column comm cmp diff ' +
        'colordiff sdiff nl fold fmt expand unexpand rev stat file du df tree pwd echo printf true false test [ ' +
        ': cd pushd popd dirs which type whereis whoami id groups uname arch nproc uptime free vmstat iostat ' +
        'lscpu lsblk lsusb lspci lsmod lsof ps pstree pgrep pidof printenv locale locate basename dirname ' +
        'realpath readlink seq sleep md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum od ' +
        'hexdump strings look tsort numfmt factor expr bc cal jobs wait history help man apropos whatis info ss ' +
        'netstat getent getconf last lastlog who w users finger tput stty tty zcat bzcat xzcat zstdcat zless ' +
        'zipinfo exiftool identify jq gron cloc tokei scc nvidia-smi bat less more return exit break continue ' +
        'shift read mapfile readarray set unset export declare typeset local readonly shopt getopts umask ulimit ' +
        'let eval trap . source alias unalias hash times logname blkid findmnt tldr ldd nm objdump readelf size ' +
        'pyflakes base32 base64 iconv',
    ),
    always,
  ),
  git,
  find,
  ...table(['fd', 'fdfind'], without(/^(-x|-X|--exec|--exec-batch)$/)),
  rg: without(/^--(pre|hostname-bin)(=|$)|^--search-zip$|^-\w*z/),
  ag: without(/^--pager/),
  ack: without(/^--(pager|output)/),
  sed,
  ...table(['awk', 'gawk', 'mawk'], awk),
  sort: without(/^-\w*o|^--output|^--compress-program|^-T|^--temporary-directory|^--files0-from/),
  ...table(['uniq', 'xxd'], oneFile),
  yq: without(/^-\w*i|^--inplace/),
  date: without(/^(-s|--set)|^\d{8,}/),
  hostname: (args) => args.every((word) => word.startsWith('-')) && without(/^(-b|-F|--file|--boot)/)(args),
  dmesg: without(/^-\w*[cCDEn]|^--(clear|read-clear|console)/),
  tar: (args) =>
    /^-?[a-zA-Z]*t/.test(args[0] ?? '') ||
    (args.includes('--list') && without(/^--(to-command|checkpoint-action|use-compress-program)|^-I/)(args)),
  unzip: only(/^-\w*[lvZ]/),
  gzip: only(/^-\w*l/),
  xz: only(/^-\w*l|^--list/),
  top: only(/^-\w*b/),
  ip: (args) =>
    !args.some((word) => /^(add|del|delete|set|flush|replace|change|append|exec)$/.test(word)) &&
    !args.includes('-b') &&
    !args.includes('-batch'),
  systemctl: verbs(/^(status|list-|is-|show|cat|help|get-default)/),
  journalctl: without(/^--(vacuum|rotate|flush|sync|relinquish|setup-keys|update-catalog)/),
  crontab: (args) => args.includes('-l'),
  iptables: only(/^-\w*[LS]|^--list/),
  nft: verbs(/^list/),
  sysctl: without(/^-\w*[wpf]|=/),
  mount: (args) => args.length === 0 || args[0] === '-l',
  kill: only(/^(-l|-L|-0)$/),
  docker: verbs(
    /^(ps|images|logs|inspect|version|info|stats --no-stream|top|port|diff|history|container ls|image ls|volume ls|network ls|compose (ps|logs|config|ls))\b/,
  ),
  podman: verbs(/^(ps|images|logs|inspect|version|info)\b/),
  kubectl: verbs(/^(get|describe|logs|version|explain|api-resources|config view|top)\b/),
  npm: verbs(
    /^(ls|list|view|outdated|config get|config list|root|prefix|bin|why|explain|pkg get|audit$|help|search|fund)\b/,
  ),
  pnpm: verbs(/^(ls|list|outdated|why|root|bin)\b/),
  yarn: verbs(/^(list|info|why|outdated)\b/),
  ...table(['pip', 'pip3'], verbs(/^(list|show|freeze|check|index)\b/)),
  cargo: verbs(/^(tree|metadata|search|locate-project|pkgid|version)\b/),
  go: verbs(/^(list|version|env|doc)\b/, /^-w$|^-u$|^-toolexec|^-exec/),
  apt: verbs(/^(list|show|search|policy|depends)\b/),
  'apt-cache': always,
  dpkg: only(/^(-l|-L|-s|-S|--list|--status|--search|--listfiles|--print-architecture)$/),
  rpm: only(/^-q/),
  brew: verbs(/^(list|info|search|outdated|deps)\b/),
  openssl: verbs(/^(version|x509|s_client|dgst|asn1parse)\b/, /^-out$|^-engine$|^-provider/),
  sqlite3: only(/^-readonly$/),
}

const TRANSPARENT = nameSet('env timeout nice ionice stdbuf time command builtin xargs nohup setsid busybox toybox')
/** Variables that decide which code a harmless command runs. */
const LOADING =
  /^(PATH|LD_.*|DYLD_.*|GIT_.*|PAGER|EDITOR|VISUAL|BASH_ENV|ENV|IFS|LESSOPEN|LESSCLOSE|NODE_OPTIONS|PYTHON.*|PERL5.*|RUBY.*|MANPAGER|BROWSER|SHELLOPTS|PS4|PROMPT_COMMAND|RIPGREP_CONFIG_PATH|TAR_OPTIONS|GREP_OPTIONS)$/

/** A command that is known to only read when started with these arguments. */
export function isReader(name: string, argv: readonly string[]): boolean {
  const check = Object.hasOwn(READERS, name) ? READERS[name] : undefined
  const program = plain(argv[0] ?? '')
  if (!check || (program.includes('/') && !/^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$/.test(program))) return false
  // What such a word says is not known: it may be any option.
  const mayBeOption = (word: string): boolean => hasUnknown(word) && /^[-\uFDD0]/.test(word)
  if (argv.slice(1).some(mayBeOption) && !/^(?:echo|printf|test|\[)$/.test(name)) return check === always
  return check(argv.slice(1).map(plain))
}

/** This command has changed a variable that decides which code other commands run. */
export function isPoisoned(shell: ShellState): boolean {
  return [...shell.variables.keys()].some((name) => LOADING.test(name))
}

/** The question of the preset `readonly`; wrappers and inner shells are answered by what they start. */
export function onlyReads(name: string, argv: readonly string[], shell: ShellState): boolean {
  const args = argv.slice(1).map(plain)
  if (isPoisoned(shell)) return false
  if (args.length === 1 && /^(--version|--help|-V)$/.test(args[0] ?? '') && !plain(argv[0] ?? '').includes('/'))
    return true
  if (TRANSPARENT.has(name)) return !args.some((word) => LOADING.test(word.split('=')[0] ?? '') && word.includes('='))
  if (shell.functions.has(name) || shell.aliases.has(name)) return true
  if (SHELLS.includes(name)) return args.some((word) => /^-\w*c$/.test(word)) || args.length === 0 || args[0] === '-s'
  if (interpreterName(name) !== undefined) return false
  return isReader(name, argv)
}
