/** Archivers: the commands in their options, and the files that they write or remove. */
import { nameList } from '../../../contract/quote.js'
import { type Alternatives, plain } from '../../words/text.js'
import { type Call, known, options, type Program } from '../row/call.js'
import { PACKED } from '../row/decoding.js'

/** Options with a value. */
const TAR_VALUES = nameList(`
  file directory files-from exclude-from exclude use-compress-program checkpoint-action to-command rsh-command
  info-script new-volume-script transform owner group mode
`)

/** Options whose value is a command line. */
const TAR_STARTS = nameList('to-command use-compress-program I rsh-command info-script new-volume-script F')

export const tar: Program = (call) => {
  const words = call.args
  // `tar czf x y`: the first word may be a bundle of options without a dash.
  const bundled =
    words[0] !== undefined && !words[0].startsWith('-') && /^[A-Za-z]+$/.test(words[0])
      ? [`-${words[0]}`, ...words.slice(1)]
      : words
  const given = options(bundled, { short: 'fFCTXIbgHKLNV', long: TAR_VALUES })
  for (const action of given.all('checkpoint-action')) {
    const command = /^exec=(.*)$/s.exec(plain(action))?.[1]
    if (command !== undefined) call.script(command)
  }
  for (const line of given.all(...TAR_STARTS)) call.tryScript(plain(line))
  const archive = given.get('f', 'file') ?? '-'
  const made = given.has('c', 'create', 'r', 'append') ? packs(call, archive, given.operands) : undefined
  if (given.has('c', 'create'))
    for (const file of given.all('f', 'file')) if (file !== '-') call.effect('overwrite', file)
  const extracts = given.has('x', 'extract', 'get')
  const named = given.all('C', 'directory')
  const directories = named.length > 0 ? named : ['.']
  if (extracts) for (const directory of directories) call.effect('create', `${directory}/…`)
  const listed = call
    .texts(given.all('T', 'files-from'))
    .flatMap((text) => text.split(/[\n\0]/).filter((line) => line !== ''))
  if (given.has('remove-files'))
    for (const word of [...given.operands, ...listed])
      for (const from of directories) call.effect('delete-tree', word.startsWith('/') ? word : `${from}/${word}`)
  if (given.has('recursive-unlink')) call.effects('delete-tree', named)
  if (!extracts) return made
  return unpacked(call, archive, given.get('C', 'directory') ?? '.', given.has('O', 'to-stdout'))
}

/** An archive holds what the files hold that go into it: their names and texts, one behind the other. */
function packs(call: Call, archive: string | undefined, files: readonly string[]): Alternatives | undefined {
  if (archive === undefined || call.shell.files.size === 0) return undefined
  const members = files.flatMap((file) =>
    call.contents(file).flatMap((text) => (known(text) ? [`${plain(file)}\0${text}`] : [])),
  )
  if (members.length === 0) return undefined
  const text = PACKED + members.join('\0')
  if (archive === '-') return [text]
  call.write(archive, [text])
  return undefined
}

/** What comes out of an archive that this command, or its session, has made. */
function unpacked(call: Call, archive: string, directory: string, prints: boolean): Alternatives | undefined {
  const texts = archive === '-' ? (call.stdin ?? []) : call.contents(archive)
  const members = texts
    .filter((text) => text.startsWith(PACKED))
    .flatMap((text) => [...text.replaceAll(PACKED, '').matchAll(/([^\0]*)\0([^\0]*)\0?/g)])
  if (prints) return members.length > 0 ? [members.map(([, , text = '']) => text).join('')] : undefined
  for (const [, name = '', text = ''] of members) call.write(`${directory}/${name.replace(/^\/+/, '')}`, [text])
  return undefined
}

/** `unzip x.zip -d DIRECTORY`, `cpio -i -D DIRECTORY`: what is unpacked comes there. */
export const unpacks =
  (short: string, long: string[], reads: readonly string[]): Program =>
  (call) => {
    const given = options(call.args, { short, long })
    if (reads.length > 0 && !given.has(...reads)) return undefined
    const directory = given.get('d', 'D', 'directory') ?? '.'
    call.effect('create', `${directory}/…`)
    return unpacked(call, given.operands[0] ?? '-', directory, given.has('p', 'c', 'to-stdout'))
  }

/** `rar m ARCHIVE FILES`: into the archive, and from the disk. */
export const rar: Program = (call) => {
  const [verb = '', , ...words] = options(call.args).operands
  if (/^mf?$/.test(verb) || call.argv.some((word) => /^-(?:df|dw)$/.test(word))) call.effects('delete-tree', words)
}

export const zip: Program = (call) => {
  const given = options(call.args, { short: 'xibtnP', long: ['unzip-command', 'exclude', 'include'] })
  const at = call.argv.findIndex((arg) => arg === '-TT' || arg === '--unzip-command')
  if (at >= 0) call.tryScript(plain(call.argv[at + 1] ?? ''))
  for (const line of given.all('unzip-command')) call.tryScript(plain(line))
  packs(call, given.operands[0], given.operands.slice(1))
  if (given.has('m', 'move')) call.effects('delete-tree', given.operands.slice(1))
}
