/** Names of credentials. In a room they are not there. */
import { nameList } from '../contract/quote.js'
import { join } from './paths.js'

/** Relative to a home directory. */
export const HOME_CREDENTIALS: readonly string[] = nameList(`
  .ssh .aws .azure .gnupg .kube .docker .netrc .npmrc .yarnrc.yml .pypirc .git-credentials .password-store .mozilla
  .Xauthority .cargo/credentials .cargo/credentials.toml .gem .m2/settings.xml .gradle/gradle.properties .pgpass
  .my.cnf .vault-token .terraform.d .config/gh .config/gcloud .config/git/credentials .config/cerith .config/op
  .config/rclone .config/containers .config/github-copilot .config/google-chrome .config/chromium
  .config/BraveSoftware .config/microsoft-edge .config/Signal .config/Slack .thunderbird .claude .claude.json .codex
  .gemini .cache/huggingface/token .huggingface .local/share/keyrings .local/share/kwalletd .local/share/opencode
  .local/share/atuin .config/glab-cli .config/hub .config/doctl .config/argocd .config/sops .config/composer/auth.json
  .config/1Password .config/Bitwarden .config/keepassxc .config/Code .config/Cursor .config/opencode .config/openai
  .anthropic .openai .ollama/id_ed25519 .kaggle .oci .aliyun .ibmcloud .fly .boto .s3cfg .composer/auth.json
  .subversion/auth .viminfo .electrum .bitcoin .bash_history .zsh_history .python_history .node_repl_history
  .psql_history .mysql_history .sqlite_history .rediscli_history
`)

/** Further ones, hidden where they are there when a room is built: each name that is waited for costs time. */
export const HOME_SELDOM: readonly string[] = nameList(`
  .zhistory .histfile .lesshst .dbshell .local/share/fish/fish_history .local/share/zsh .config/nushell/history.txt
  .ipython/profile_default/history.sqlite .config/vivaldi .config/opera .config/discord .config/Element
  .local/share/TelegramDesktop .librewolf .var/app snap/firefox snap/chromium snap/thunderbird .terraformrc
  .pulumi/credentials.json .databrickscfg .snowflake .snowsql .dbt .config/hcloud .config/linode-cli .config/scw
  .config/heroku .config/netlify .config/stripe .config/ngrok .ngrok2 .config/configstore .wrangler .config/.wrangler
  .vercel .local/share/com.vercel.cli .railway .supabase .sentryclirc .ivy2/.credentials .sbt/.credentials
  .nuget/NuGet .bundle/config .config/pypoetry/auth.toml .local/share/uv/credentials .jupyter .config/rbw .lpass
  .local/share/gopass .age .config/age .config/filezilla .config/remmina .local/share/remmina .vnc .putty .mcp-auth
  .config/io.datasette.llm .config/goose .local/share/goose .local/share/crush .local/share/amp .qwen .copilot .cursor
  .grok .aider .continue .config/amp .config/crush
`)

/** Variables whose value is a file or directory of credentials, or several with colons between them. */
const CREDENTIAL_VARIABLES: readonly string[] = nameList(`
  AWS_SHARED_CREDENTIALS_FILE AWS_CONFIG_FILE AZURE_CONFIG_DIR BOTO_CONFIG CLAUDE_CONFIG_DIR CLOUDSDK_CONFIG CODEX_HOME
  DOCKER_CONFIG GH_CONFIG_DIR GNUPGHOME GOOGLE_APPLICATION_CREDENTIALS HISTFILE KUBECONFIG NETRC NPM_CONFIG_USERCONFIG
  npm_config_userconfig PASSWORD_STORE_DIR PGPASSFILE TF_CLI_CONFIG_FILE XAUTHORITY
`)

/** Directories of a home that a variable may put elsewhere. */
const MOVED: readonly (readonly [variable: string, usual: string])[] = [
  ['XDG_CONFIG_HOME', '.config/'],
  ['XDG_DATA_HOME', '.local/share/'],
  ['XDG_CACHE_HOME', '.cache/'],
  ['CARGO_HOME', '.cargo/'],
  ['GRADLE_USER_HOME', '.gradle/'],
]

/** Credentials that lie where the person's variables say. */
export function namedByVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  const pathsOf = (variable: string): string[] =>
    (env[variable] ?? '').split(':').filter((path) => path.startsWith('/'))
  const named = CREDENTIAL_VARIABLES.flatMap(pathsOf).map((path) => join('/', path))
  const moved = MOVED.flatMap(([variable, usual]) =>
    pathsOf(variable).flatMap((directory) =>
      [...HOME_CREDENTIALS, ...HOME_SELDOM]
        .filter((name) => name.startsWith(usual))
        .map((name) => join('/', `${directory}/${name.slice(usual.length)}`)),
    ),
  )
  return [...named, ...moved]
}

/** Any other name in a home directory that looks like these. */
export const HOME_CREDENTIAL_PATTERN = /_history$|^\.env(\..+)?$|^\.credentials/

/** Environment files of other projects, directly in a directory of the home. */
export const PROJECT_SECRETS: readonly string[] = ['.env', '.env.local', '.env.production', '.env.development']

/** Hidden from commands of every user: sockets of services, the kernel's inside. */
export const SYSTEM_HIDDEN: readonly string[] = nameList(`
  /run /var/run /sys/firmware /sys/kernel/debug /sys/kernel/tracing /sys/kernel/security /sys/fs/bpf /sys/fs/pstore
  /sys/fs/selinux
`)

/** What only root can read; hidden when root's commands are confined. Names with `*` are matched in their directory. */
export const ROOT_HIDDEN: readonly string[] = nameList(`
  /etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d /etc/ssh/*_key /etc/ssl/private
  /etc/krb5.keytab /etc/wireguard /etc/openvpn /etc/letsencrypt /etc/kubernetes /etc/rancher
  /etc/NetworkManager/system-connections /etc/ppp/chap-secrets /etc/ppp/pap-secrets /boot /var/lib/sudo
  /var/lib/docker /var/lib/containerd /var/lib/kubelet /var/lib/rancher /var/lib/cloud /var/spool/cron
  /sys/kernel/slab
`)

/** What exists in `strict` besides the roots, where it is there. */
export const SYSTEM_SHOWN: readonly string[] = nameList(`
  /usr /bin /sbin /lib /lib32 /lib64 /libx32 /etc /opt /sys/devices/system /nix/store
`)
