/**
 * `cerith secret`: values that commands may use by name. They come from stdin or a hidden
 * prompt, never from argv, and are never shown.
 */
import { existsSync } from 'node:fs'
import { loadConfig } from '../../../config/load.js'
import { ensurePrivateDirectory, stateDirectory } from '../../../os/files/state-dir.js'
import type { Vault } from '../../../vault/vault.js'
import { EXIT, UsageError, type Io } from '../../io/io.js'
import { JSON_OPTION } from '../../verb/option-rows.js'
import { table } from '../../io/table.js'
import { defineVerb } from '../../verb/verb.js'

/** Shorter values would be masked all over innocent output, so they are not masked at all. */
const LEAST_MASKED_BYTES = 6
/** A value that ordinary output holds by chance: each such place will read as the secret's name. */
const PLAIN_WORD = /^(?:[A-Za-z]{1,11}|\d{1,11})$/

export const verb = defineVerb({
  usage: 'set NAME | list | remove NAME | key',
  words: [1, Infinity],
  options: [JSON_OPTION],
  examples: [
    ['cerith secret set API_KEY < key.txt', 'or without <, at a hidden prompt'],
    [
      'cerith run \'curl -H "Authorization: {{secret:API_KEY}}" $URL\'',
      'the value goes in, [secret:API_KEY] comes out',
    ],
  ],
  details: `The vault is one encrypted file in the state directory. It is opened with
CERITH_PASSPHRASE, with a key file (\`cerith secret key\` makes one), or by asking you.
One final newline of stdin is not part of the value.`,
  run: ({ words, options }, io) => {
    checkWords(words)
    return secret(words[0] as string, words[1], options.json === true, io)
  },
})

/** What the value of a secret could be is not repeated, not even in a message about it. */
function checkWords([action, ...rest]: readonly string[]): void {
  const takesName = action === 'set' || action === 'remove'
  if (!takesName && action !== 'list' && action !== 'key')
    throw new UsageError(`secret does not know ${JSON.stringify(action)}`, 'Use: set NAME, list, remove NAME, key.')
  if (takesName && rest.length === 0)
    throw new UsageError(`secret ${action} needs NAME`, `For example: cerith secret ${action} API_KEY`)
  if (action === 'set' && rest.length > 1)
    throw new UsageError(
      'a value on the command line can be seen by everybody on this machine',
      'Give it on standard input (cerith secret set NAME < file), or at the prompt.',
    )
  if (rest.length > (takesName ? 1 : 0))
    throw new UsageError(
      `secret ${action} takes ${takesName ? 'one NAME' : 'no NAME'}`,
      'Use: set NAME, list, remove NAME, key.',
    )
}

async function secret(action: string, name: string | undefined, json: boolean, io: Io): Promise<number> {
  const { openVaultWith, defaultKeyFile, vaultFile } = await import('../../../vault/open.js')
  const stateDir = ensurePrivateDirectory(stateDirectory(io.env))
  const say = (value: Record<string, unknown>, text: string): number => {
    io.out.write(json ? `${JSON.stringify(value)}\n` : `${text}\n`)
    return EXIT.ok
  }
  if (action === 'key') {
    const file = defaultKeyFile(stateDir)
    if (existsSync(file)) return say({ key_file: file, created: false }, `There is a key file already: ${file}`)
    if (existsSync(vaultFile(stateDir)))
      throw new UsageError(
        'the vault is locked with something else already',
        'Move its secrets to a new vault, or go on with its pass phrase.',
      )
    const { createKeyFile } = await import('../../../vault/vault.js')
    await createKeyFile(file)
    return say({ key_file: file, created: true }, `Made ${file}. Keep a copy: without it the vault cannot be opened.`)
  }
  const { person } = io
  const isNew = !existsSync(vaultFile(stateDir))
  if (isNew && action === 'list') return say({ secrets: [] }, 'No secrets.')
  const vault: Vault = await openVaultWith({
    stateDir,
    env: io.env,
    keyFile: loadConfig({ cwd: io.cwd, env: io.env }).values['secrets.keyFile'] as string | null,
    // On stdin comes the value; a pass phrase can only be asked for at a terminal.
    askPassphrase: person ? () => askPassphrase(person, isNew) : undefined,
  })
  if (action === 'list') {
    const entries = await vault.list()
    return say(
      { secrets: entries },
      entries.length === 0
        ? 'No secrets.'
        : table(
            ['NAME', 'CREATED', 'UPDATED'],
            entries.map(({ name: each, created, updated }) => [each, created.slice(0, 16), updated.slice(0, 16)]),
            io.out.columns,
          ).join('\n'),
    )
  }
  const wanted = name as string
  if (action === 'remove') {
    const removed = await vault.remove(wanted)
    say({ name: wanted, removed }, removed ? `Removed ${wanted}.` : `There is no secret ${wanted}.`)
    return removed ? EXIT.ok : 1
  }
  const value = await readSecret(wanted, io)
  if (value.length === 0) throw new UsageError('the value is empty', 'Pipe it in, or type it at the prompt.')
  await vault.set(wanted, value)
  // As the masker counts: runs of white space are one byte, and none at the ends.
  const text = Buffer.from(value)
    .toString('latin1')
    .replace(/[\t-\r ]+/g, ' ')
    .replace(/^ | $/g, '')
  const masked = text.length >= LEAST_MASKED_BYTES
  if (!masked) io.err.write(`cerith: a value of ${value.length} bytes is too short to be masked in output\n`)
  else if (PLAIN_WORD.test(text))
    io.err.write(
      'cerith: the value is a plain word or number; output that holds it by chance will read ' +
        `[secret:${wanted}] there\n`,
    )
  return say({ name: wanted, set: true, masked }, `Set ${wanted}; use it as {{secret:${wanted}}}.`)
}

async function askPassphrase(person: NonNullable<Io['person']>, isNew: boolean): Promise<string | null> {
  const typed = await person.ask(isNew ? 'Choose a pass phrase for the new vault: ' : 'Pass phrase of the vault: ', {
    hidden: true,
  })
  if (!isNew || !typed) return typed
  if ((await person.ask('Once more: ', { hidden: true })) !== typed) throw new UsageError('the two pass phrases differ')
  return typed
}

async function readSecret(name: string, io: Io): Promise<Uint8Array> {
  if (io.person) return new TextEncoder().encode((await io.person.ask(`Value of ${name}: `, { hidden: true })) ?? '')
  const bytes = await io.readStdin()
  if (bytes.at(-1) !== 0x0a) return bytes
  return bytes.subarray(0, bytes.at(-2) === 0x0d ? -2 : -1)
}
