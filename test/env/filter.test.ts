import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { buildEnvironment, judgeVariable } from '../../src/env/filter.js'

interface Row {
  readonly name: string
  readonly drop: boolean
  readonly strength: 'must' | 'should' | 'judgement'
  readonly class: string
  readonly why: string
}

const rows: Row[] = readFileSync(new URL('../corpus/env.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))
const names = (table: string): string[] => table.trim().split(/\s+/)
const scored = rows.filter((row) => row.strength !== 'judgement')

describe('ENV-02 ENV-03: the labelled names', () => {
  test.each(scored)('$name ($strength, drop: $drop): $why', ({ name, drop }) => {
    expect(judgeVariable(name, 'x', 'inherited').keep).toBe(!drop)
  })

  test('hooks are dropped as injection, secrets by name', () => {
    for (const { name, class: kind, drop } of scored) {
      const verdict = judgeVariable(name, 'x', 'inherited')
      if (drop) expect([name, verdict]).toMatchObject([name, { why: kind === 'secret' ? 'secret-name' : 'injection' }])
    }
  })
})

describe('names that are not in the corpus', () => {
  test.each(
    names(`
      LD_AUDIT LD_ORIGIN_PATH DYLD_FRAMEWORK_PATH _RLD_LIST BASH_FUNC_git%% SHELLOPTS BASHOPTS PS4 ENV CDPATH GLOBIGNORE ZDOTDIR
      NODE_OPTIONS NODE_PATH PERL5LIB PYTHONBREAKPOINT PYTHONINSPECT RUBYOPT JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS
      DOTNET_STARTUP_HOOKS COR_PROFILER COMPlus_PROFILER LUA_INIT_5_4 VIMINIT EXINIT PHPRC R_PROFILE_USER ERL_FLAGS ERL_AFLAGS
      GIT_SSH GIT_TEMPLATE_DIR GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0 GIT_CONFIG_PARAMETERS GIT_CONFIG_GLOBAL LESSCLOSE OPENSSL_CONF
      RUSTC_WORKSPACE_WRAPPER CARGO_BUILD_RUSTC_WRAPPER SVN_SSH HGRCPATH npm_config_script_shell NPM_CONFIG_NODE_OPTIONS
      GLIBC_TUNABLES
    `),
  )('%s is a hook', (name) => {
    expect(judgeVariable(name, 'x', 'inherited')).toMatchObject({ keep: false, why: 'injection' })
  })

  test.each(
    names(`
      AWS_SECRET_ACCESS_KEY AZURE_CLIENT_SECRET ARM_CLIENT_SECRET DIGITALOCEAN_ACCESS_TOKEN CLOUDFLARE_API_TOKEN
      CLOUDFLARE_API_KEY MISTRAL_API_KEY COHERE_API_KEY GH_TOKEN GITLAB_TOKEN CI_JOB_TOKEN NPM_TOKEN CARGO_REGISTRY_TOKEN
      CODECOV_TOKEN SONAR_TOKEN SENTRY_AUTH_TOKEN SLACK_BOT_TOKEN JWT_SECRET NEXTAUTH_SECRET DJANGO_SECRET_KEY SECRET_KEY_BASE
      RAILS_MASTER_KEY ENCRYPTION_KEY SIGNING_KEY SSH_PRIVATE_KEY DEPLOY_KEY MYSQL_PWD DB_PWD REDIS_PASSWORD POSTGRES_PASSWORD
      PASSWORD PASS SSHPASS BW_SESSION OP_SESSION_my AZURE_STORAGE_CONNECTION_STRING CUSTOMCONNSTR_x
      GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CREDENTIALS CERITH_PASSPHRASE DB_PASSWORD_OLD API_KEY_2 PASSWORD1 apiKey dbPassword
      accessToken npm_config_//registry.npmjs.org/:_password HTTP_AUTHORIZATION PROXY_AUTH SUPABASE_SERVICE_ROLE_KEY
      ALGOLIA_ADMIN_KEY NPM_AUTH OPENAI_ORG_ID PHOENIX_ANYTHING LANGO_HOME TF_VAR_db_password SECRET_TOKEN REFRESH_TOKEN
      BOT_TOKENS API_KEYS DBPASS USERPASS HASH_SALT KEY TF_TOKEN_app_terraform_io POETRY_PYPI_TOKEN_PYPI YARN_NPM_AUTH_IDENT
      GITHUB_PAT BW_CLIENTSECRET RCLONE_CONFIG_PASS COMPOSER_AUTH SYSTEM_ACCESSTOKEN AWS_CONTAINER_CREDENTIALS_FULL_URI
      AWS_CONTAINER_CREDENTIALS_RELATIVE_URI SLACK_WEBHOOK_URL
    `),
  )('%s is a secret', (name) => {
    expect(judgeVariable(name, 'x', 'inherited')).toMatchObject({ keep: false, why: 'secret-name' })
  })

  test.each(
    names(`
      PATH HOME USER LANG LC_ALL TERM COLORTERM TMPDIR HOSTNAME GOPATH GOCACHE NVM_DIR VIRTUAL_ENV CONDA_PREFIX PYENV_ROOT CC CXX
      CFLAGS LDFLAGS RUSTFLAGS LDAP_BASE LDD ENV_NAME ENVOY_PORT NODE_ENV NODE_EXTRA_CA_CERTS PYTHONUTF8 PYTHONIOENCODING
      PYTHONHASHSEED PERLBREW_HOME RUBY_VERSION JAVA_VERSION GIT_COMMITTER_NAME GIT_TRACE GIT_SSH_VARIANT TOKENIZERS_PARALLELISM
      KEYMAP KEYBOARD_LAYOUT XKB_DEFAULT_LAYOUT MAX_TOKENS CLAUDE_CODE_MAX_OUTPUT_TOKENS TOKEN_LIMIT TOKEN_TTL MONKEY
      KEYCHAIN_PATH TURKEY HOTKEY AUTHOR AUTHORS OAUTH_CALLBACK_PORT COMPASS PASSENGER_ROOT PASSIVE_MODE BYPASS TRESPASS
      SECRETARY_NAME PUBLIC_KEY STRIPE_PUBLISHABLE_KEY GPG_KEY SSH_KEY_PATH PGPASSFILE AWS_SHARED_CREDENTIALS_FILE AWS_REGION
      AWS_DEFAULT_REGION GOOGLE_CLOUD_PROJECT KUBECONFIG XDG_SESSION_ID DBUS_SESSION_BUS_ADDRESS DESKTOP_SESSION TERM_SESSION_ID
      XAUTHORITY CERITH_HOME npm_config_registry npm_config_cache npm_lifecycle_event CREDITS ACCREDITED PS_FORMAT GITHUB_ACTIONS
      GITHUB_REPOSITORY POSTGRES_PASSWORD_FILE PASSWORD_MIN_LENGTH SORT_KEY CACHE_KEY OLDPWD PWD HTTP_PROXY NO_PROXY SSL_CERT_FILE
      DOCKER_CONFIG COMPOSE_PROJECT_NAME TZ EDITOR PAGER BROWSER CREDENTIAL_HELPER PASSWORD_HASHER SECRET_MANAGER_PROJECT
      PASS_RATE MULTIPASS_INSTANCE KMS_KEY_ARN SIGNING_KEY_ID TOKEN_URL SECRETS_DIR VAULT_ADDR XDG_SESSION_COOKIE
      TOKENS_PER_MINUTE AUTH0_DOMAIN USE_AUTH ACCESS_TOKEN_URL OAUTHLIB_RELAX_TOKEN_SCOPE DATABASE_URL
    `),
  )('%s is neither', (name) => {
    expect(judgeVariable(name, '1', 'inherited')).toEqual({ keep: true })
  })
})

describe('ENV-03: values that look like a secret go whatever they are called', () => {
  const b64 = (text: string): string => Buffer.from(text).toString('base64')
  const jwt = `${b64('{"alg":"HS256"}').replaceAll('=', '')}.${b64('{"sub":"1234567890"}').replaceAll('=', '')}.c2lnbmF0dXJl`
  test.each([
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----'],
    ['-----BEGIN OPENSSH PRIVATE KEY-----\\nb3Bl'],
    ['-----BEGIN PGP PRIVATE KEY BLOCK-----'],
    [b64('-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA')],
    [b64('-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA')],
    [b64('-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk')],
    [`AKIA${'ABCDEFGH12345678'}`],
    [`ghp_${'a1B2'.repeat(9)}`],
    [`github_pat_${'a1B2'.repeat(10)}`],
    [`glpat-${'a1B2'.repeat(5)}`],
    [`sk-ant-api03-${'a1B2'.repeat(10)}`],
    [`sk-proj-${'a1B2'.repeat(10)}`],
    [`sk-${'a1B2'.repeat(12)}`],
    [`AIza${'a1B2_'.repeat(7)}`],
    [`xoxb-123456789012-${'a1B2'.repeat(6)}`],
    [`sk_live_${'a1B2'.repeat(6)}`],
    [`npm_${'a1B2'.repeat(9)}`],
    [`hf_${'a1B2'.repeat(8)}`],
    [jwt],
    [`Bearer ${'a1B2'.repeat(8)}`],
    ['postgres://app:hunter2@db.example/app'],
    ['redis://:hunter2@cache:6379/0'],
    ['mongodb+srv://u:p@cluster0.example.net/?retryWrites=true'],
    ['http://proxyuser:proxypass@proxy.example:3128'],
    ['https://x-access-token@github.com/o/r'],
    [`https://ghp_${'a1B2'.repeat(9)}@github.com/o/r`],
    ['Server=db;User Id=sa;Password=hunter22;'],
    ['DefaultEndpointsProtocol=https;AccountName=x;AccountKey=abcd1234=='],
    ['https://hooks.slack.com/services/T000/B000/XXXX'],
    ['{"type":"service_account","private_key":"-----BEGIN"}'],
    ['{"auths":{"r.example":{"auth":"dXNlcjpwYXNzd29yZA=="}}}'],
    [`--token=ghp_${'a1B2'.repeat(9)} --verbose`],
  ])('%s', (value) => {
    expect(judgeVariable('SOME_SETTING', value, 'inherited')).toMatchObject({ keep: false, why: 'secret-value' })
    expect(judgeVariable('SOME_SETTING', value, 'explicit')).toEqual({ keep: true })
  })

  test.each([
    ['/usr/local/bin:/usr/bin:/bin:/home/u/.local/share/pnpm'],
    ['http://localhost:4873/@scope/pkg'],
    ['http://proxy.example:3128'],
    ['https://user@example.com/repo.git'],
    ['git@github.com:owner/repo.git'],
    ['ssh://git@host:22/path@x'],
    ['-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----'],
    ['-----BEGIN PUBLIC KEY-----'],
    ['task-runner-with-a-very-long-name-that-goes-on'],
    ['desk-abcdefghijklmnopqrstuvwxyz'],
    ['/home/u/risk-AAAAAAAAAAAAAAAAAAAAAAAAAA'],
    ['e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['unix:path=/run/user/1000/bus,guid=1234567890abcdef'],
    ['rs=0:di=01;34:ln=01;36:*.tar=01;31'],
    ['basic authentication is enabled here'],
    ['-Xmx2g -Dfile.encoding=UTF-8'],
    ['password'],
    ['eyJhbGciOiJIUzI1NiJ9'],
  ])('%s stays', (value) => {
    expect(judgeVariable('SOME_SETTING', value, 'inherited')).toEqual({ keep: true })
  })

  test('a hostile value of 128 KiB is judged in no time', () => {
    const size = 131_000
    for (const piece of [
      'a',
      'a:',
      '://',
      '://a:',
      ':',
      '-',
      'eyJ',
      'eyJa.',
      'sk-',
      '"auth"',
      '"auth" ',
      ' ',
      '=',
      'basic ',
      'password ',
      '-----BEGIN ',
      '-----BEGIN A A A A ',
      'LS0tLS1CRUdJTi',
      'a.atlasv1.',
      'A',
    ]) {
      const value = piece.repeat(Math.ceil(size / piece.length)).slice(0, size)
      const started = performance.now()
      judgeVariable('X', value, 'inherited')
      expect(performance.now() - started, piece).toBeLessThan(1_000)
    }
  })
})

describe('ENV-02: a loader hook is not handed on even when it is given for one call', () => {
  test.each([
    'LD_PRELOAD',
    'BASH_ENV',
    'NODE_OPTIONS',
    'GIT_SSH_COMMAND',
    'BASH_FUNC_ls%%',
    'PROMPT_COMMAND',
    'SHELLOPTS',
    'DYLD_INSERT_LIBRARIES',
  ])('%s', (name) => {
    expect(judgeVariable(name, 'x', 'explicit')).toMatchObject({ keep: false, why: 'injection' })
    expect(judgeVariable(name, 'x', 'explicit', { allowDangerous: true })).toEqual({ keep: true })
  })

  test('an exported function in the value goes under any name', () => {
    expect(judgeVariable('HARMLESS', '() { :; }; echo owned', 'explicit')).toMatchObject({
      keep: false,
      why: 'injection',
    })
    expect(judgeVariable('HARMLESS', '() { :; }', 'inherited')).toMatchObject({ keep: false, why: 'injection' })
  })

  test('where a tool looks may be given, but is not inherited', () => {
    for (const name of ['PYTHONPATH', 'GIT_DIR', 'MAKEFLAGS', 'NODE_PATH']) {
      expect(judgeVariable(name, 'src', 'explicit')).toEqual({ keep: true })
      expect(judgeVariable(name, 'src', 'inherited').keep).toBe(false)
    }
  })
})

describe('the keep and drop lists', () => {
  test('keep wins over the rules, by name or prefix', () => {
    const options = { keep: ['GITHUB_TOKEN', 'NPM_*', 'LD_LIBRARY_PATH'] }
    for (const name of ['GITHUB_TOKEN', 'NPM_TOKEN', 'LD_LIBRARY_PATH'])
      expect(judgeVariable(name, 'x', 'inherited', options)).toEqual({ keep: true })
    expect(judgeVariable('NODE_AUTH_TOKEN', 'x', 'inherited', options).keep).toBe(false)
  })

  test('a pass phrase is never inherited, whatever the lists say', () => {
    for (const name of ['LANGO_PASSPHRASE', 'CERITH_PASSPHRASE', 'MY_PASSPHRASE', 'passphrase'])
      expect(judgeVariable(name, 'x', 'inherited', { keep: ['*'], allowDangerous: true })).toMatchObject({
        keep: false,
        why: 'secret-name',
      })
  })

  test('drop wins over everything', () => {
    expect(judgeVariable('HOME', '/home/u', 'inherited', { drop: ['HOME'], keep: ['HOME'] }).keep).toBe(false)
    expect(judgeVariable('AWS_PROFILE', 'x', 'explicit', { drop: ['AWS_*'] }).keep).toBe(false)
  })
})

describe('ENV-01: building', () => {
  const base = {
    PATH: '/usr/bin',
    HOME: '/home/u',
    GITHUB_TOKEN: 't',
    LD_PRELOAD: '/x.so',
    LANG: 'de_DE.UTF-8',
    GONE: undefined,
  }

  test('merges what is given over the filtered base, and names what was dropped', () => {
    const { env, dropped, problem } = buildEnvironment({
      base,
      given: { PATH: '/opt/bin', MODE: 'dev', MY_TOKEN: 'for this call' },
      defaults: false,
    })
    expect(env).toEqual({
      PATH: '/opt/bin',
      HOME: '/home/u',
      LANG: 'de_DE.UTF-8',
      MODE: 'dev',
      MY_TOKEN: 'for this call',
    })
    expect(dropped).toEqual([
      { name: 'GITHUB_TOKEN', why: 'secret-name' },
      { name: 'LD_PRELOAD', why: 'injection' },
    ])
    expect(problem).toBeNull()
  })

  test('replaces the base completely, without defaults unless asked', () => {
    expect(buildEnvironment({ base, given: { ONLY: '1', LD_PRELOAD: 'x' }, mode: 'replace' }).env).toEqual({
      ONLY: '1',
    })
    expect(buildEnvironment({ base, given: { ONLY: '1' }, mode: 'replace', defaults: true }).env).toMatchObject({
      ONLY: '1',
      PAGER: 'cat',
      LANG: 'C.UTF-8',
    })
  })

  test('gives a home where there is none', () => {
    expect(buildEnvironment({ base: {}, home: '/home/x', defaults: false }).env).toEqual({ HOME: '/home/x' })
    expect(buildEnvironment({ base, home: '/home/x' }).env['HOME']).toBe('/home/u')
    expect(buildEnvironment({ base, home: '/home/x', mode: 'replace' }).env).toEqual({})
  })

  test('names like those of an object are names like any other', () => {
    const given = JSON.parse('{"__proto__": "a", "constructor": "b", "toString": "c"}')
    expect(Object.entries(buildEnvironment({ base: {}, given, defaults: false }).env)).toEqual(Object.entries(given))
  })

  test('F37: a variable the kernel would not take is named', () => {
    expect(buildEnvironment({ base, given: { BIG: 'x'.repeat(140_000) } }).problem).toMatchObject({
      variable: 'BIG',
      message: expect.stringContaining('BIG'),
    })
    expect(buildEnvironment({ base: {}, given: { BIG: 'x'.repeat(131_072 - 'BIG='.length - 1) } }).problem).toBeNull()
    expect(buildEnvironment({ base: {}, given: { BIG: 'x'.repeat(131_072 - 'BIG='.length) } }).problem).toMatchObject({
      variable: 'BIG',
    })
    expect(buildEnvironment({ base: {}, given: { BIG: 'é'.repeat(66_000) } }).problem).toMatchObject({
      variable: 'BIG',
    })
  })

  test('F37: too much together is said with the largest name', () => {
    const given = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`V${i}`, 'x'.repeat(100_000 + i)]))
    expect(buildEnvironment({ base: {}, given }).problem).toMatchObject({
      variable: 'V19',
      message: expect.stringContaining('too large'),
    })
  })

  test('F37: a large environment of small variables is counted as the kernel counts it', () => {
    const given = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`V${i}`, 'x'.repeat(1_000)]))
    expect(buildEnvironment({ base: {}, given }).problem).toBeNull()
  })

  test('F38: what no process can have is the caller’s mistake', () => {
    expect(buildEnvironment({ base, given: { A: 'x\0y' } }).problem).toMatchObject({
      variable: 'A',
      message: expect.stringContaining('NUL'),
    })
    expect(buildEnvironment({ base, given: { 'A=B': 'x' } }).problem).toMatchObject({ variable: 'A=B' })
    expect(buildEnvironment({ base, given: { '': 'x' } }).problem).toMatchObject({ variable: '' })
    expect(buildEnvironment({ base, given: { N: 5 as unknown as string } }).problem).toMatchObject({
      variable: 'N',
      message: expect.stringContaining('number'),
    })
  })
})
