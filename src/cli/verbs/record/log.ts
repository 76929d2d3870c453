/** `cerith log`: what was done in a session, command by command, with what came of each. */
import { join } from 'node:path'
import { blocksOf, textOf, whatCame, type Block } from '../../../audit/blocks.js'
import { readAudit, type AuditLine } from '../../../audit/chain.js'
import { badRequest, type ShellError } from '../../../contract/errors.js'
import { stateDirectory } from '../../../os/files/state-dir.js'
import { findJobDirectory } from '../../../os/job/directory.js'
import { EXIT, type Io } from '../../io/io.js'
import { JSON_OPTION, readDuration, readWhole } from '../../verb/option-rows.js'
import { painter } from '../../io/paint.js'
import { age, localTime, oneLine, size } from '../../io/table.js'
import { defineVerb } from '../../verb/verb.js'
import { visible } from '../../../output/terminal/visible.js'

export const verb = defineVerb({
  usage: '[SESSION]',
  words: [0, 1],
  options: [
    { flags: '--since <TIME>', about: 'only commands of the last 1h, 7d, ...', read: readDuration },
    { flags: '-n, --last <N>', about: 'only the last N commands', read: readWhole },
    { flags: '--engine <ID>', about: 'only of this engine, where several had a session of that name' },
    JSON_OPTION,
  ],
  examples: [
    ['cerith log', 'which sessions there were'],
    ['cerith log main', 'everything that was done in it'],
  ],
  details: 'Comes from the audit log, which keeps commands and not their output; `cerith read ID` shows that of a job.',
  async run({ words: [name], options: { since, last, engine, json = false } }, io) {
    const from = since === undefined ? 0 : Date.now() - since
    const lines: AuditLine[] = []
    for await (const entry of readAudit(join(stateDirectory(io.env), 'audit.jsonl'))) {
      if (typeof entry['session'] !== 'string' || (entry.at ?? 0) < from) continue
      if (engine === undefined || entry['engine'] === engine) lines.push(entry)
    }
    if (name === undefined) return sessions(lines, json, io)
    const blocks = blocksOf(lines.filter((entry) => entry['session'] === name))
    if (blocks.length === 0) throw notThere(name, lines, io)
    const shown = last === undefined ? blocks : blocks.slice(Math.max(0, blocks.length - last))
    if (json) for (const { entry } of shown) io.out.write(`${JSON.stringify(entry)}\n`)
    else io.out.write(shown.map((block) => blockText(block, io)).join('\n'))
    return EXIT.ok
  },
})

function blockText({ entry, isOpen, deeds }: Block, io: Io): string {
  const paint = painter(io.out, io.env)
  const came = isOpen ? 'running, or its end is not known' : whatCame(entry)
  const sign = isOpen ? '…' : came === 'exit 0' ? '✓' : entry['status'] === 'running' ? '▸' : '✗'
  const style = isOpen ? 'yellow' : sign === '✓' ? 'green' : sign === '▸' ? 'cyan' : 'red'
  const bytes = Number(entry['bytes'] ?? 0)
  const facts = [
    came,
    // A job goes on after the line that tells of its start.
    ...(isOpen || entry['status'] === 'running' ? [] : [age(Number(entry['durationMs'] ?? 0))]),
    ...(bytes > 0 ? [`${size(bytes)} of output`] : []),
    ...(entry['job'] ? [`job ${textOf(entry, 'job')}`] : []),
    ...(entry['client'] ? [oneLine(textOf(entry, 'client'))] : []),
  ]
  const time = localTime(entry.at ?? 0)
  const command = visible(textOf(entry, 'command')).replaceAll('\n', '\n    ')
  const lines = [
    `${paint('dim', time)}  ${oneLine(textOf(entry, 'cwd'))}`,
    `  ${paint('bold', `$ ${command}`)}`,
    `  ${paint(style, `${sign} ${facts.join(' · ')}`)}`,
    ...deeds.map((deed) => {
      const waited = deed['waitedMs'] === undefined ? '' : ` after ${age(Number(deed['waitedMs']))}`
      return `  ${paint('cyan', `→ ${whatCame(deed)}${waited} by ${oneLine(textOf(deed, 'by') || 'the agent')}`)}`
    }),
  ]
  return `${lines.join('\n')}\n`
}

function sessions(lines: readonly AuditLine[], json: boolean, io: Io): number {
  const found = new Map<string, { commands: number; last: number }>()
  for (const entry of lines) {
    if (entry['kind'] === 'start') continue
    const name = textOf(entry, 'session')
    const known = found.get(name) ?? { commands: 0, last: 0 }
    found.set(name, { commands: known.commands + 1, last: Math.max(known.last, entry.at ?? 0) })
  }
  if (json) {
    const all = [...found].map(([name, { commands, last }]) => ({
      name,
      commands,
      last_at: new Date(last).toISOString(),
    }))
    io.out.write(`${JSON.stringify({ sessions: all })}\n`)
  } else if (found.size === 0) io.out.write('No session has run a command yet.\n')
  else
    for (const [name, { commands, last }] of found)
      io.out.write(
        `${oneLine(name)}  ${commands} ${commands === 1 ? 'command' : 'commands'}, last ` +
          `${age(Date.now() - last)} ago\n`,
      )
  return EXIT.ok
}

function notThere(name: string, lines: readonly AuditLine[], io: Io): ShellError {
  if (findJobDirectory(stateDirectory(io.env), name))
    return badRequest(`${name} is a job, not a session`, `For its output: cerith read ${name}`)
  const names = [...new Set(lines.map((entry) => textOf(entry, 'session')))]
  return badRequest(
    `Nothing is known of a session ${JSON.stringify(name)}`,
    names.length > 0 ? `There were: ${names.slice(-20).join(', ')}.` : 'No session has run a command yet.',
  )
}
