/** The fields of a report are the same in TypeScript, in the builtin and in the lines of bash. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { endFileText } from '../../../src/engine/session/shell/lines.js'
import { createReportReader, FIELDS, type Report } from '../../../src/engine/session/shell/report.js'

const builtin = readFileSync(new URL('../../../native/bash/cerith.c', import.meta.url), 'utf8')

test('the builtin names the fields of its reports as the reader does', () => {
  expect(/^\/\* F: (.*) \*\/$/m.exec(builtin)?.[1]?.split(' ')).toEqual(FIELDS.F)
  expect(/^\/\* T, E: (.*) \*\/$/m.exec(builtin)?.[1]?.split(' ')).toEqual(FIELDS.T)
  expect(FIELDS.E).toEqual(FIELDS.T)
})

/** What the body of a C function adds to a report, by the names of the values. */
function added(name: string): string[] {
  const body = new RegExp(`^static void ${name}\\(.*?^}`, 'ms').exec(builtin)?.[0] ?? ''
  return [...body.matchAll(/\badd_(\w+)\(&?report(?:, ([^;]*))?\);/g)].map(([, how, what = '']) =>
    /stages/.test(how ?? '') ? 'stages' : what,
  )
}

test('the builtin adds its fields in that order', () => {
  const values = {
    status: 'status',
    options: 'options',
    directory: 'directory && strlen(directory) < 4096 ? directory : ""',
    argument: `argument && *kind == 'T' ? argument : ""`,
    prompts: 'has_prompts() || remember_on_history ? "x" : ""',
    stdin: '""',
    stages: 'stages',
  }
  expect(added('describe')).toEqual(FIELDS.T.map((name) => values[name]))
  expect(added('send_end')).toEqual(['status', 'last_argument', 'status'])
})

test('bash by itself reports the same fields', () => {
  const line = endFileText({ nonce: 'n'.repeat(8), seal: 's', farewell: 'f', report: '/r', state: '/s', files: '/x' })
  const written = /printf '%s\\0' "@\$1" "[^"]*" 0 (.*) "\$1@"/.exec(line)?.[1] ?? ''
  // One word of bash for each field; those of the stages are an array's rest.
  expect(written.match(/"(?:[^"\\]|\\.)*"/g)).toHaveLength(FIELDS.T.length)
})

test('a report is read into its names', () => {
  const heard: Report[] = []
  const memory = new Uint8Array(256)
  const read = createReportReader(memory, 'seal', (report) => heard.push(report))
  const send = (...fields: string[]): void =>
    read(Buffer.from(memory.buffer).write(['@seal', ...fields, 'seal@', ''].join('\0')))
  send('T', '0', '3', 'hB', '/w', 'last', '', 'x', '0', '3')
  send('E', '0', '130', 'hB', '/w', '', 'x', '')
  send('F', '0', '2', 'word', '2')
  send('R', '7', 'hB', '/w')
  send('Z', '0')
  const state = { options: 'hB', directory: '/w' }
  expect(heard).toEqual([
    { kind: 'T', status: 3, ...state, argument: 'last', prompts: false, ownStdin: true, stages: [0, 3] },
    { kind: 'E', status: 130, ...state, argument: '', prompts: true, ownStdin: false, stages: [130] },
    { kind: 'F', status: 2, argument: 'word', stages: [2] },
    { kind: 'R', number: 7 },
  ])
})
