/**
 * Says whether a variable's name says that it holds a secret. Looks at words, not at letters:
 * KEYMAP, COMPASS_HOME and TOKENIZERS_PARALLELISM are no secrets.
 */
import { nameSet } from '../contract/quote.js'

/** True when the name alone is reason enough. `value` only ever acquits (a number, a path, a yes or no). */
export function isSecretName(name: string, value = ''): boolean {
  if (ALWAYS.test(name)) return true
  if (!HINTS.test(name) || NEVER.has(name) || name.startsWith('XDG_')) return false
  const words = wordsOf(name)
  if (words.some((word) => word.endsWith('PASSPHRASE'))) return true
  const last = words.at(-1) ?? ''
  if (words.length > 1 && PLACE.has(last)) return false
  if (isSetting(words, value)) return false
  // GOOGLE_APPLICATION_CREDENTIALS=/home/u/key.json names a file.
  if (/^CREDENTIALS?$/.test(last) && isPath(value)) return false
  return ANYWHERE.test(`_${words.join('_')}_`) || endsAsSecret(words, value)
}

/**
 * Upper-case words of a name in any spelling: `npm_config__authToken` is NPM CONFIG AUTH TOKEN.
 * Trailing numbers (`API_KEY_2`, `PASSWORD1`) do not count.
 */
function wordsOf(name: string): string[] {
  const words = name
    .slice(-MAX_NAME)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .map((word) => word.replace(/(?<=[A-Z]{3})\d+$/, ''))
    .filter((word) => word !== '')
  while (
    words.length > 1 &&
    /^(?:\d+|OLD|NEW|NEXT|PREV|PREVIOUS|CURRENT|BACKUP|B64|BASE64|ENC|ENCODED|PROD|PRODUCTION|STAGING|DEV|TEST|LIVE|VALUE|RAW)$/.test(
      words.at(-1)!,
    )
  )
    words.pop()
  return words
}

/** A longer name is not looked at: a hostile one must not cost time. */
const MAX_NAME = 256

/** The last word decides for the short and common words. */
function endsAsSecret(words: readonly string[], value: string): boolean {
  const last = words.at(-1) ?? ''
  const before = words.at(-2) ?? ''
  if (/^(?:TOKEN|APITOKEN|AUTHTOKEN|ACCESSTOKEN|BEARER|JWT|OTP|MNEMONIC|SALT|PEPPER|PAT)$/.test(last))
    return !(last === 'PAT' && words.length === 1)
  if (/[A-Z]TOKEN$/.test(last)) return true
  if (last === 'TOKENS') return !/^\d*$/.test(value) && !words.some((word) => COUNTING.has(word))
  if (last === 'PASS' || JOINED_PASS.test(last)) return !isFlag(value)
  if (last === 'PW' || /^(?:DB|DATABASE|USER|ROOT|ADMIN|PG|MYSQL|SMTP|LDAP|SUDO)PW$/.test(last)) return !isFlag(value)
  if (/^(?:SESSIONID|SESSID|PHPSESSID|JSESSIONID)$/.test(last)) return true
  if (/^COOKIES?$/.test(last)) return !isFlag(value) && !isPath(value)
  if (last === 'SEED') return SEEDED.has(before)
  if (last === 'SK') return words.length > 1 && !isFlag(value)
  if (last === 'PWD') return words.length > 1 && !value.startsWith('/')
  if (last === 'KEY') return !PUBLIC_KEYS.has(before)
  if (last === 'KEYS') return SECRET_KEYS.has(before)
  if (last === 'AUTH') return !isFlag(value) && !SWITCHES.has(words[0]!)
  return false
}

/** `TOKEN_TTL=60`, `PASSWORD_MIN_LENGTH=8`, `SECRET_ROTATION_ENABLED=true`: settings about secrets. */
function isSetting(words: readonly string[], value: string): boolean {
  const last = words.at(-1) ?? ''
  // An address that hands out credentials to every caller is as secret as they are.
  const address = last === 'URL' || last === 'URI'
  if (words.length > 1 && (address ? !words.some((word) => word.startsWith('CREDENTIAL')) : SETTING.has(last)))
    return true
  return words.length > 1 && SWITCHES.has(words[0]!) && isFlag(value)
}

/** A file's name: the program reads the secret there, the variable does not hold it. */
function isPath(value: string): boolean {
  return /^(?:~|\.{1,2})?\/[^\s:;,=]*\.[A-Za-z]\w{0,9}$/.test(value)
}

function isFlag(value: string): boolean {
  return /^(?:true|false|yes|no|on|off|[01])$/i.test(value)
}

/** What every name holds that the words below could convict. */
const HINTS =
  /SECRET|PASS|PWD|TOKEN|KEY|AUTH|CRED|CONN|BEARER|JWT|OTP|MNEMONIC|SALT|PEPPER|PAT|SEED|COOKIE|PRIV|PW|SESSIONID|SESSID|_SK(?:_|$)/i

/** The model providers' and the agents' own settings go as a whole: an agent's shell has no business with them. */
const ALWAYS =
  /^(?:ANTHROPIC|OPENAI|GEMINI|LANGO|PHOENIX)_|^(?:SSHPASS|REDISCLI_AUTH|BW_SESSION|MYSQL_PWD|LPASS_AGENT_TOKEN)$|^OP_SESSION_|^FASTLANE_SESSION$|^TF_TOKEN_|^POETRY_(?:PYPI_TOKEN|HTTP_BASIC)_|_AUTH_IDENT$|^OTEL_EXPORTER_OTLP_(?:\w+_)?HEADERS$|^(?:SLACK|DISCORD|TEAMS|MATTERMOST)_WEBHOOK(?:_URL)?$/i

/** Handles that give access without holding a secret, and names that only look like one. */
const NEVER = nameSet(`
  PWD OLDPWD SSH_AUTH_SOCK SSH_AGENT_PID GPG_TTY GPG_AGENT_INFO XAUTHORITY PASSWORD_STORE_DIR GIT_TERMINAL_PROMPT
`)

/** Words that are a secret wherever they stand. */
const ANYWHERE = new RegExp(
  [
    '_SECRETS?_',
    '[A-Z]SECRET_',
    '_SECRET(?:KEY|TOKEN|ID)S?_',
    '_[A-Z]*PASSWO?R?DS?_', // PASSWORD, PASSWD, PGPASSWORD
    '_[A-Z]*PASSPHRASES?_',
    '_CREDENTIALS?_',
    '_CREDS?_',
    '_[A-Z]*API_?KEYS?_',
    '_ACCESS_?KEYS?_',
    '_PRIVATE_?KEYS?_',
    '_PRIV_?KEYS?_',
    '_AUTH_?(?:TOKEN|KEY|CONFIG|HEADER|COOKIE)S?_',
    '_AUTHORIZATION_',
    '_ACCESS_?TOKENS?_',
    '_REFRESH_?TOKENS?_',
    '_BEARER_TOKENS?_',
    '_SEED_?PHRASES?_',
    '_CONNECTION_?STRINGS?_',
    '_[A-Z]*CONN_?STRS?_',
    '_SAS_TOKENS?_',
    '_SESSION_?(?:KEY|TOKEN|COOKIE)S?_',
  ].join('|'),
)

/** DBPASS is one, COMPASS and BYPASS are not: only what a password is commonly joined to. */
const JOINED_PASS =
  /^(?:DB|DATABASE|USER|ROOT|ADMIN|SSH|PG|MYSQL|POSTGRES|SMTP|FTP|MAIL|EMAIL|SUDO|LDAP|PROXY|APP|HTTP|REDIS|MONGO|KEY|STORE|KEYSTORE)PASS$/

/** A name that ends like this holds the place of a thing, not the thing. */
const PLACE = new Set(['FILE', 'FILENAME', 'PATH', 'DIR', 'DIRECTORY', 'FOLDER', 'SOCK', 'SOCKET', 'STORE'])

const SETTING = nameSet(`
  TTL EXPIRY EXPIRATION EXPIRES EXPIRE LENGTH SIZE LIMIT COUNT MAX MIN TYPE KIND MODE METHOD ALGORITHM ALG POLICY
  ROTATION ENABLED DISABLED REQUIRED TIMEOUT NAME NAMESPACE PREFIX SUFFIX VERSION FORMAT REGION HEADERNAME ISSUER
  AUDIENCE ENDPOINT MANAGER PROVIDER BACKEND PROMPT STRENGTH FIELD PARAM PLACEHOLDER FINGERPRINT LAYOUT MAP HELPER
  HASHER PROJECT HOST PORT ARN
`)

const COUNTING = nameSet('MAX MIN NUM COUNT LIMIT BUDGET OUTPUT INPUT CONTEXT TOTAL THINKING PROMPT COMPLETION')
const SWITCHES = nameSet('USE ENABLE DISABLE REQUIRE SKIP NO ALLOW HAS IS WITH WITHOUT SHOW HIDE')
/** What a seed makes: one-time codes and wallets, not random numbers of a test. */
const SEEDED = nameSet('OTP TOTP HOTP MFA WALLET MASTER HD RECOVERY')
const SECRET_KEYS = nameSet('API ACCESS SECRET PRIVATE SSH SIGNING ENCRYPTION AUTH MASTER DEPLOY HOST AUTHORIZED')
/** Keys that open nothing: published ones, and keys of tables, caches and keyboards. */
const PUBLIC_KEYS = nameSet(`
  PUBLIC PUB PUBLISHABLE SITE GPG PGP SORT PRIMARY FOREIGN UNIQUE PARTITION SHARD ROUTING CACHE INDEX GROUP ROW COLUMN
  OBJECT MAP LOOKUP HOT META COMPOSE MODIFIER LEADER SHORTCUT PREFIX ESCAPE ANY TRANSLATION LABEL FEATURE IDEMPOTENCY
  DEDUPE HKEY REGISTRY
`)
