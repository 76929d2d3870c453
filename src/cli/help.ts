/** The texts of `--help`: the list of verbs, and what follows the options of one. */
import type { Verb, VerbRow } from './verb/verb.js'
import { ownVersion } from '../os/package/file.js'

export function mainHelp(verbs: readonly VerbRow[]): string {
  const width = Math.max(...verbs.map(({ name }) => name.length)) + 2
  return [
    `cerith ${ownVersion()} - the shell your agent runs in`,
    '',
    'Usage: cerith VERB [options]',
    '',
    ...verbs.map(({ name, about }) => `  ${name.padEnd(width)}${about}`),
    '',
    'Examples:',
    "  cerith run 'npm test'                     a command, its output, its exit code",
    '  cerith run --session work -- cd /srv/app  a shell that remembers',
    "  cerith run --background 'npm run dev'     a job that outlives this terminal",
    "  cerith check 'sudo rm -rf $HOME/'         what the guard would say",
    '  cerith mcp                                the tools, for any MCP client',
    '',
    "Exit codes of run: the command's own; 124 timeout, 125 error of cerith,",
    '126 refused, 128+n signal n. More: cerith VERB --help',
    '',
  ].join('\n')
}

const WIDTH = 80
const COLUMN = 42

export function detailsOf(verb: Verb): string {
  const lines = verb.details ? ['', ...wrap(verb.details)] : []
  lines.push('', 'Examples:')
  for (const [command, about] of verb.examples) {
    const shown = `  ${command}`
    if (shown.length < COLUMN && COLUMN + 1 + about.length <= WIDTH) lines.push(`${shown.padEnd(COLUMN)} ${about}`)
    else lines.push(shown, `      ${about}`)
  }
  return lines.join('\n')
}

function wrap(text: string): string[] {
  const lines = ['']
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1) as string
    if (line !== '' && line.length + 1 + word.length > WIDTH) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines
}
