/** `cerith config`: every setting, its value, and the layer it comes from. */
import { hintForKey, loadConfig } from '../../../config/load.js'
import { configJsonSchema } from '../../../config/json-schema.js'
import { SETTINGS } from '../../../config/schema.js'
import { EXIT, UsageError } from '../../io/io.js'
import { CWD_OPTION, JSON_OPTION, SET_OPTION } from '../../verb/option-rows.js'
import { painter } from '../../io/paint.js'
import { defineVerb } from '../../verb/verb.js'
import { resolve } from 'node:path'
import { loginOf, loginText, loginToJson } from './login-shell.js'

export const verb = defineVerb({
  usage: '[KEY]',
  words: [0, 1],
  options: [
    JSON_OPTION,
    CWD_OPTION,
    { flags: '--refresh', about: 'with env.loginShell: ask the login shell again' },
    { flags: '--schema', about: 'the JSON Schema of cerith.config.json, for editors' },
    SET_OPTION,
  ],
  examples: [
    ['cerith config', 'everything, with its origin'],
    ['cerith config limits.timeoutMs', 'one value'],
  ],
  details: `Layers, the later wins: defaults, the user's file, the project's cerith.config.json
(here or above), CERITH_* variables, --set. A project can only tighten what you set.`,
  async run({ words, options }, io) {
    const { json, cwd = '.', schema, set, refresh = false } = options
    if (schema) {
      io.out.write(`${JSON.stringify(configJsonSchema(), null, 2)}\n`)
      return EXIT.ok
    }
    const loaded = loadConfig({ cwd: resolve(io.cwd, cwd), env: io.env, flags: set })
    const { values, origins, files } = loaded
    const key = words[0]
    const shown = SETTINGS.filter(
      (setting) => key === undefined || setting.key === key || setting.key.startsWith(`${key}.`),
    )
    if (shown.length === 0)
      throw new UsageError(`there is no setting ${JSON.stringify(key)}`, hintForKey(key as string))
    const login = values['env.loginShell'] && (refresh || key === undefined) ? await loginOf(loaded, io, refresh) : null
    if (json) {
      io.out.write(
        `${JSON.stringify({ ...(login ? { login_shell: loginToJson(login) } : {}), files: { user: files.user, project: files.project }, settings: Object.fromEntries(shown.map(({ key: each }) => [each, { value: values[each], origin: origins[each] }])) }, null, 2)}\n`,
      )
      return EXIT.ok
    }
    if (shown.length === 1 && key === shown[0]?.key && !login) {
      io.out.write(`${plain(values[key as string])}\n`)
      return EXIT.ok
    }
    const paint = painter(io.out, io.env)
    io.out.write(`user     ${files.user}\nproject  ${files.project ?? 'none'}\n\n`)
    const width = Math.max(...shown.map((setting) => setting.key.length))
    for (const setting of shown) {
      const from = origins[setting.key] ?? []
      const line = `${setting.key.padEnd(width)}  ${plain(values[setting.key])}`
      io.out.write(
        from[0] === 'default' && from.length === 1
          ? `${line}\n`
          : `${paint('bold', line)}  ${paint('cyan', `(${from.join(' + ')})`)}\n`,
      )
    }
    if (login) io.out.write(`\n${loginText(login)}`)
    return EXIT.ok
  },
})

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
