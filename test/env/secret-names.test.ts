/** Names that hold secrets, and names that only look like it. */
import { expect, test } from 'vitest'
import { isSecretName } from '../../src/env/secret-names.js'

test.each([
  ['DB_PW', 'hunter2!'],
  ['ROOT_PW', 'x'],
  ['DBPW', 'x'],
  ['COOKIE', 'sid=abc'],
  ['SESSION_COOKIE', 'abc'],
  ['SESSIONID', 'abc123'],
  ['PHPSESSID', 'abc123'],
  ['OTP_SEED', 'JBSWY3DP'],
  ['STRIPE_SK', 'sk_live_x'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization=Bearer x'],
  ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'api-key=x'],
  ['GOOGLE_APPLICATION_CREDENTIALS', '{"type":"service_account"}'],
  ['GOOGLE_APPLICATION_CREDENTIALS', ''],
  ['DB_CREDENTIALS', 'user:pass'],
])('%s=%s holds a secret', (name, value) => expect(isSecretName(name, value)).toBe(true))

test.each([
  ['GOOGLE_APPLICATION_CREDENTIALS', '/home/u/key.json'],
  ['GOOGLE_APPLICATION_CREDENTIALS', '~/.config/gcloud/key.json'],
  ['COOKIES_ENABLED', 'true'],
  ['COOKIE', 'true'],
  ['PYTHONHASHSEED', '0'],
  ['RANDOM_SEED', '42'],
  ['SEED', '1'],
  ['XDG_SESSION_ID', '2'],
  ['ITERM_SESSION_ID', 'w0t0p0'],
  ['DISK', 'sda'],
  ['TASK', 'build'],
  ['ASK', 'yes'],
  ['POWER', 'on'],
  ['DESKTOP_PW_ENABLED', 'true'],
  ['SOURCE_DATE_EPOCH', '1'],
])('%s=%s does not', (name, value) => expect(isSecretName(name, value)).toBe(false))
