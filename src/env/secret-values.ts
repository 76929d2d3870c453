/**
 * Says whether a value looks like a secret, whatever its variable is called. Every pattern is
 * linear and begins with something rare.
 */

/** What the value looks like, for the report, or null. */
export function secretLook(value: string): string | null {
  if (value.length < 8 || !HINTS.test(value)) return null
  for (const { look, pattern } of LOOKS) if (pattern.test(value)) return look
  return null
}

/** Tokens count only as a word of their own: not inside of a path, a longer word or a file name. */
const token = (body: string): RegExp => new RegExp(`(?:^|[\\s"'=:,;({\\[/@])(?:${body})(?![A-Za-z0-9_-])`)

/** `hint` is something every such value contains; one look for all hints spares ordinary values the patterns. */
const LOOKS: readonly { look: string; hint: string; pattern: RegExp }[] = [
  { look: 'a private key', hint: 'PRIVATE KEY', pattern: /-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----/ },
  {
    look: 'a private key in base64',
    hint: 'LS0tLS1CRUdJTi',
    pattern: /LS0tLS1CRUdJTi[A-Za-z0-9+/]{0,40}(?:UFJJVkFURSBLRV|BSSVZBVEUgS0VZ|QUklWQVRFIEtFW)/,
  },
  { look: 'an age secret key', hint: 'AGE-SECRET-KEY', pattern: /AGE-SECRET-KEY-1[0-9A-Z]{20}/ },
  { look: 'a PuTTY private key', hint: 'PuTTY-User-Key', pattern: /PuTTY-User-Key-File-\d/ },
  // The password part may not begin a path or a query, so `http://host:8080/@scope` is no credential.
  {
    look: 'a URL with a password',
    hint: '://[^\\s/]{0,2048}@',
    pattern: /:\/\/[^\s/?#:@]{0,256}:[^\s/?#@]{1,1024}@[^\s/?#]/,
  },
  {
    look: 'a URL with a token',
    hint: '://[^\\s/]{0,2048}@',
    pattern: /:\/\/(?:gh[pousr]_|github_pat_|glpat-|x-access-token|oauth2accesstoken)[^\s/?#@]{0,512}@/,
  },
  { look: 'an AWS key', hint: 'AKIA|ASIA|ABIA|ACCA', pattern: token('(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}') },
  {
    look: 'a GitHub token',
    hint: 'gh[pousr]_|github_pat_',
    pattern: token('gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255}'),
  },
  {
    look: 'a GitLab token',
    hint: 'gl[a-z]{2,8}-',
    pattern: token('gl(?:pat|rt|dt|cbt|ptt|soat|ft|agent|imt)-[A-Za-z0-9_.-]{16,255}'),
  },
  {
    look: 'a model provider key',
    hint: 'sk-|gsk_|xai-|hf_|r8_|nvapi-|pplx-',
    pattern: token(
      'sk-(?:ant|proj|svcacct|admin|or|lf)-[A-Za-z0-9_-]{10,255}|sk-[A-Za-z0-9]{20,128}|gsk_[A-Za-z0-9]{20,128}|xai-[A-Za-z0-9]{20,128}|hf_[A-Za-z0-9]{20,64}|r8_[A-Za-z0-9]{20,64}|nvapi-[A-Za-z0-9_-]{20,128}|pplx-[A-Za-z0-9]{20,128}',
    ),
  },
  {
    look: 'a Google key',
    hint: 'AIza|ya29\\.|GOCSPX-',
    pattern: token('AIza[0-9A-Za-z_-]{30,64}|ya29\\.[0-9A-Za-z_-]{20,1024}|GOCSPX-[A-Za-z0-9_-]{20,64}'),
  },
  {
    look: 'a Slack token',
    hint: 'xox[a-z]-|xapp-',
    pattern: token('xox[abeoprs]-[A-Za-z0-9-]{10,255}|xapp-\\d-[A-Za-z0-9-]{10,255}'),
  },
  {
    look: 'a webhook with its secret',
    hint: 'hooks\\.slack|/webhooks/',
    pattern:
      /hooks\.slack\.com\/(?:services|workflows)\/[A-Za-z0-9]|discord(?:app)?\.com\/api\/webhooks\/\d+\/[A-Za-z0-9]/,
  },
  {
    look: 'a Stripe key',
    hint: '[sr]k_live|[sr]k_test|whsec_',
    pattern: token('(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,255}|whsec_[A-Za-z0-9+/=]{20,255}'),
  },
  {
    look: 'a registry token',
    hint: 'npm_|pypi-|dckr_|rubygems_|cio',
    pattern: token(
      'npm_[A-Za-z0-9]{30,64}|pypi-[A-Za-z0-9_-]{30,512}|dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,64}|rubygems_[a-f0-9]{40,64}|cio[A-Za-z0-9]{32}',
    ),
  },
  {
    look: 'a service token',
    hint: 'SG\\.|_v1_|shp[a-z]{2}_|hv[sbr]\\.|glsa_|lin_api_|figd_|tskey-|sntry|ops_eyJ|EAACEdEose|key-|PMAK-|dapi|ATATT3|atlasv1',
    pattern: token(
      'SG\\.[A-Za-z0-9_-]{16,64}\\.[A-Za-z0-9_-]{16,64}|do[opr]_v1_[a-f0-9]{40,128}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{30,64}|hv[sbr]\\.[A-Za-z0-9_-]{20,255}|glsa_[A-Za-z0-9_]{20,64}|lin_api_[A-Za-z0-9]{20,64}|figd_[A-Za-z0-9_-]{20,64}|tskey-[a-z]{1,16}-[A-Za-z0-9-]{10,128}|sntry[su]_[A-Za-z0-9_=+/-]{20,512}|ops_eyJ[A-Za-z0-9_=-]{20,1024}|EAACEdEose0cBA[0-9A-Za-z]{1,255}|key-[a-f0-9]{32}|PMAK-[a-f0-9-]{40,80}|dapi[a-f0-9]{32}|ATATT3[A-Za-z0-9_=-]{20,255}|atlasv1\\.[A-Za-z0-9_-]{20,128}|[A-Za-z0-9]{10,20}\\.atlasv1\\.[A-Za-z0-9_=-]{20,128}',
    ),
  },
  {
    look: 'a signed token (JWT)',
    hint: 'eyJ',
    pattern: token('eyJ[A-Za-z0-9_-]{6,4096}\\.eyJ[A-Za-z0-9_-]{6,8192}\\.[A-Za-z0-9_-]{0,2048}'),
  },
  { look: 'an authorization header', hint: 'bearer |basic ', pattern: /\b(?:bearer|basic) +[A-Za-z0-9+/_.~-]{16}/i },
  {
    look: 'a connection string with a password',
    hint: 'password|pwd|accountkey|sharedaccess',
    pattern:
      /(?:^|[;\s"'])(?:password|pwd|accountkey|sharedaccesskey|sharedaccesssignature)\s{0,4}=\s{0,4}[^;\s"']{4}/i,
  },
  {
    look: 'stored credentials',
    hint: '"\\s{0,8}:',
    pattern:
      /"(?:private_key|client_secret|refresh_token|access_token|password|secret_access_key|auth)"\s{0,8}:\s{0,8}"[^"]{8}/i,
  },
]

/** Hints are looked for in any case, because two of the patterns are. */
const HINTS = new RegExp(LOOKS.map(({ hint }) => hint).join('|'), 'i')
