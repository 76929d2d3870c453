/** Names of credentials. In a room they are not there. */
import { nameList } from '../contract/quote.js'

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
