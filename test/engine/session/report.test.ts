/** The fields of a report are the same in TypeScript, in the builtin and in the lines of bash. */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { endFileText } from '../../../src/engine/session/lines/lines.js'
import { createReportReader, FIELDS, type Report } from '../../../src/engine/session/shell/report.js'
import type { LiveSession } from '../../../src/engine/session/session.js'
import type { Engine } from '../../../src/index.js'
import { temporaryFolder, testEngine } from '../harness.js'
import { engineWithoutBuiltin } from './without-builtin.js'

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
  expect(added('send_end')).toEqual(['status', 'last_argument ? last_argument : ""', 'stages[at]'])
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
  send('F', '0', '2', 'word', '1', '2')
  send('R', '7', 'hB', '/w')
  send('Z', '0')
  const state = { options: 'hB', directory: '/w' }
  expect(heard).toEqual([
    { kind: 'T', status: 3, ...state, argument: 'last', prompts: false, ownStdin: true, stages: [0, 3] },
    { kind: 'E', status: 130, ...state, argument: '', prompts: true, ownStdin: false, stages: [130] },
    { kind: 'F', status: 2, argument: 'word', stages: [1, 2] },
    { kind: 'R', number: 7 },
  ])
})

test.each(['plain', 'posix'])('the builtin writes the state down as bash does by itself (%s)', async (mode) => {
  const cwd = temporaryFolder()
  const set = [
    `A='a b'; declare -i N=3; declare -A M=([k]='v"'); L=(1 $'two\\n'); export E=$'\\377'; readonly R=r; unset U`,
    `f() { echo "$1"; }; export -f f; g() { :; }; alias ll='ls -l' x="a'b"`,
    `set -f; shopt -s extglob globstar; umask 027`,
    `hash -p /bin/true odd; complete -W 'one two' foo; set -- 'x y' '' "it's" $'\\t'; mkdir -p d; pushd d >/dev/null`,
    `declare() { echo shadowed; }; printf() { echo shadowed; }; pwd() { echo shadowed; }`,
    mode === 'posix' ? 'set -o posix' : ':',
  ]
  const written = async (engine: Engine, state?: string): Promise<string[] | undefined> => {
    const session = (await engine.session()) as LiveSession
    for (const command of set) await session.run({ command, timeoutMs: 20_000 })
    // The builtin does without what bash would read.
    for (const file of state ? readdirSync(state, { recursive: true, encoding: 'utf8' }) : [])
      if (file.endsWith('.dump')) rmSync(join(state as string, file))
    await session.run({ command: 'echo last; Z=1' })
    const text = await session.snapshot()
    await engine.close()
    // Both shells have a clock and marks of their own.
    return text
      ?.replace(/^declare -x CERITH_HELPER=.*\n/m, '')
      .split('\0')
      .filter((part) => !/^(?:clock|traps)\n/.test(part))
  }
  const state = temporaryFolder()
  const byBuiltin = await written(await testEngine({ cwd, stateDir: state }), state)
  expect(byBuiltin?.filter((part) => /^(?:variables|positional)\n/.test(part))).toEqual([
    expect.stringMatching(/declare -A M=\(\[k\]="v\\"" \)[^]*declare -- Z="1"/),
    expect.stringMatching(/^positional\n4\nx\\ y\n''\n/),
  ])
  expect(byBuiltin).toEqual(await written(await engineWithoutBuiltin(cwd)))
})
