/** What the preset `careful` asks about: network, package installs, privileges, unknown programs. */
import { nameList, nameSet } from '../../contract/quote.js'
import { interpreterName } from '../programs/code/interpreters.js'
import { table } from '../programs/row/call.js'
import { SHELLS } from '../programs/shell/inner.js'
import { isReader } from './readonly.js'
import type { ShellState } from '../words/state.js'
import { plain } from '../words/text.js'

export interface Doubt {
  readonly rule: keyof typeof DOUBTS
  readonly why: string
  readonly guidance: string
}

const NETWORK = nameSet(
  'curl wget aria2c http https xh ssh mosh scp sftp ftp lftp telnet nc ncat netcat socat nmap ping traceroute ' +
    'dig nslookup host whois rclone aws gcloud az gh glab heroku vercel netlify fly flyctl kubectl helm ' +
    'terraform ansible vagrant doctl s3cmd gsutil mail sendmail mutt tailscale ngrok cloudflared',
)
const PRIVILEGE = nameSet('sudo doas su pkexec runuser run0 chroot unshare nsenter setpriv capsh systemd-run')
const MACHINE = nameSet(
  'systemctl service mount umount modprobe insmod rmmod sysctl useradd usermod userdel groupadd passwd chsh ' +
    'crontab at batch iptables nft ufw ip ifconfig nmcli swapon swapoff losetup hostnamectl timedatectl loginctl ' +
    'update-alternatives kill killall pkill',
)
const DOWNLOADS = nameSet('npx bunx pnpx uvx pipx')
const PACKAGE_MANAGERS = nameSet(
  'apt apt-get aptitude dpkg dnf yum microdnf zypper pacman apk emerge snap flatpak nix-env nix brew port ' +
    'choco winget opkg',
)

/** The first word of a package manager that changes nothing. */
const ONLY_ASKS = /^(list|show|search|info|policy|-l|-L|-s|-S|-q\w*|query|outdated|--installed|history|why)$/

/** Verbs that fetch and install code, by tool. */
const INSTALLS = new Map<string, RegExp>(
  Object.entries({
    npm: /^(i|install|ci|add|update|up|upgrade|link|exec|x|init|create|publish|install-test|rebuild)$/,
    pnpm: /^(i|install|add|update|up|dlx|create|publish|import)$/,
    yarn: /^(install|add|upgrade|up|dlx|create|publish|global)?$/,
    bun: /^(i|install|add|update|x|create|publish)$/,
    ...table(['pip', 'pip3'], /^(install|download|wheel)$/),
    uv: /^(add|sync|pip|tool|lock)$/,
    poetry: /^(install|add|update|publish|self)$/,
    pipenv: /^(install|update|sync)$/,
    conda: /^(install|create|update|env)$/,
    gem: /^(install|update|push)$/,
    bundle: /^(install|update|add)$/,
    cargo: /^(install|add|update|publish|fetch)$/,
    go: /^(get|install|mod)$/,
    composer: /^(install|require|update)$/,
    deno: /^(install|add|publish|upgrade)$/,
  }),
)

/** Words after which data is gone that no checkout brings back: databases, clusters, clouds, branches of others. */
const LOSES = new Map<string, RegExp>(
  Object.entries({
    ...table(
      nameList('psql mysql mariadb sqlite3 mongo mongosh clickhouse-client cqlsh sqlcmd'),
      /\b(?:drop\s+(?:database|schema|table|keyspace|owned|user|role)|truncate|delete\s+from\s+[\w."`]+\s*(?:;|$))|drop(?:Database)?\(/i,
    ),
    ...table(['dropdb', 'dropuser'], /./),
    mysqladmin: /\bdrop\b/,
    'redis-cli': /\bflush(?:all|db)\b/i,
    ...table(
      ['docker', 'podman', 'nerdctl'],
      /^(?:system|volume) prune\b|^volume (?:rm|remove)\b|\bdown\b.* (?:-v|--volumes)\b/,
    ),
    'docker-compose': /\bdown\b.* (?:-v|--volumes)\b/,
    git: /(?:^| )push\b.* (?:-f|--force\S*|--mirror|--delete|-d|--prune|\+\S+|:\S+)(?: |$)/,
    gh: /^(?:repo|release|secret|codespace|variable) delete\b/,
    ...table(['kubectl', 'oc'], /^(?:\S+ )*?(?:delete|drain)\b/),
    helm: /^(?:\S+ )*?(?:uninstall|delete)\b/,
    ...table(['terraform', 'tofu'], /(?:^| )(?:apply )?-?destroy\b|state rm\b/),
    pulumi: /^(?:destroy|stack rm)\b/,
    cdk: /^destroy\b/,
    aws: /\b(?:s3 (?:rb|rm)|delete-[\w-]+|terminate-instances|deregister-[\w-]+)\b/,
    gcloud: /\bdelete\b/,
    gsutil: /\brm\b/,
    az: /\b(?:delete|purge)\b/,
    doctl: /\bdelete\b/,
    heroku: /\b(?:destroy|pg:reset)\b/,
    fly: /\bdestroy\b/,
    rclone: /^(?:purge|delete|sync)\b/,
  }),
)

/** Programs of everyday work inside a project. */
const PROJECT_TOOLS = nameSet(
  'git npm yarn pnpm bun node deno python python3 pip pip3 pytest tox nox ruff black mypy pyright flake8 isort ' +
    'poetry uv pipenv conda ruby bundle rake rspec perl php composer phpunit lua go gofmt golangci-lint cargo ' +
    'rustc rustfmt java javac mvn gradle gradlew kotlinc scala sbt dotnet swift make gmake cmake ctest ninja ' +
    'meson bazel gcc g++ cc c++ clang clang++ clang-format ld ar nm objdump strip tsc tsx ts-node eslint oxlint ' +
    'prettier biome jest vitest mocha ava playwright cypress vite webpack rollup esbuild next nuxt turbo nx ' +
    'lerna rimraf docker podman docker-compose sqlite3 psql mysql redis-cli just task mise asdf direnv ' +
    'pre-commit shellcheck shfmt hadolint protoc buf jq yq terraform-docs mkdir rmdir rm cp mv ln touch truncate ' +
    'chmod chown chgrp tee install dd split patch tar zip unzip gzip gunzip bzip2 xz zstd rsync sponge ed vim vi ' +
    'nano emacs code rg fd parallel openssl gpg ssh-keygen mktemp mkfifo trash shred',
)
const TRANSPARENT = nameSet(
  'env timeout nice ionice nohup stdbuf setsid time command builtin exec xargs flock watch script chrt taskset ' +
    'strace ltrace gdb valgrind hyperfine entr parallel unbuffer busybox toybox fakeroot faketime bwrap tini ' +
    'dumb-init tmux screen retry chronic',
)
const BUILTINS = nameSet(
  'cd pushd popd export declare typeset local readonly unset read mapfile readarray set shift alias unalias ' +
    'trap eval . source return exit break continue printf hash history complete compgen bind : true false test [ ' +
    'shopt let wait disown umask ulimit getopts jobs fg bg times type dirs logout caller enable help echo pwd',
)

const DOUBTS = {
  privilege: {
    why: ' runs with other rights than yours',
    guidance: 'Do it without other rights, inside the project.',
  },
  'package-install': {
    why: ' installs or runs packages from elsewhere',
    guidance: 'Use what is installed, or wait for the person to agree.',
  },
  'data-loss': {
    why: ' deletes data that cannot be brought back',
    guidance: 'Name what would be lost, and wait for the person to agree.',
  },
  network: {
    why: ' talks to the network',
    guidance: 'Work with what is on this machine, or wait for the person to agree.',
  },
  'machine-change': {
    why: ' changes the machine, not the project',
    guidance: 'Leave the machine as it is, or wait for the person to agree.',
  },
  'unknown-program': {
    why: ' starts a program that is not known here',
    guidance: 'Use a well-known tool, or wait for the person to agree.',
  },
} as const

export function carefulAbout(name: string, argv: readonly string[], shell: ShellState): Doubt | undefined {
  const rule = doubtAbout(name, argv, shell)
  return rule && { rule, ...DOUBTS[rule] }
}

function doubtAbout(name: string, argv: readonly string[], shell: ShellState): Doubt['rule'] | undefined {
  const args = argv.slice(1).map(plain)
  const verb = args.find((word) => !word.startsWith('-')) ?? ''
  if (BUILTINS.has(name) || shell.functions.has(name) || shell.aliases.has(name)) return undefined
  if (args.length === 1 && /^(--version|--help|-V|-h|version|help)$/.test(args[0] ?? '')) return undefined
  if (PRIVILEGE.has(name)) return 'privilege'
  if (DOWNLOADS.has(name) || INSTALLS.get(name)?.test(verb)) return 'package-install'
  if (PACKAGE_MANAGERS.has(name) && !ONLY_ASKS.test(args[0] ?? '')) return 'package-install'
  if (LOSES.get(name)?.test(args.join(' '))) return 'data-loss'
  if (NETWORK.has(name) || talksToNetwork(name, verb, args)) return 'network'
  if (/^(kill|pkill|killall)$/.test(name) || isReader(name, argv)) return undefined
  if (MACHINE.has(name)) return 'machine-change'
  if (PROJECT_TOOLS.has(name) || TRANSPARENT.has(name)) return undefined
  if (SHELLS.includes(name) || interpreterName(name) !== undefined) return undefined
  return /^[^/]+\//.test(plain(argv[0] ?? '')) ? undefined : 'unknown-program'
}

function talksToNetwork(name: string, verb: string, args: readonly string[]): boolean {
  if (name === 'git')
    return (
      /^(push|pull|fetch|clone|ls-remote|remote-.*|send-email|submodule|lfs|svn)$/.test(verb) &&
      !(verb === 'submodule' && /^(status|summary|foreach)$/.test(args[args.indexOf('submodule') + 1] ?? ''))
    )
  if (name === 'docker' || name === 'podman') return /^(pull|push|login|run|build|search|buildx)$/.test(verb)
  if (name === 'rsync') return args.some((word) => /^[\w.@-]+::?[^/]|^[\w.@-]+:\/|^rsync:/.test(word))
  return false
}
