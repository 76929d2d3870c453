/**
 * What a confused or hostile model may send, through every dialect, against a real engine: answered, shaped, and
 * harmless.
 */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { createEngine } from '../../src/index.js'
import { createTools, DIALECTS, type DialectName, type Tool, type ToolResult } from '../../src/tools/index.js'
import { liveEngine } from './live-engine.js'

const { engine, cwd, stateDir } = await liveEngine()
const ajv = new Ajv2020({ strict: false })
const dialects = Object.keys(DIALECTS) as DialectName[]

async function answer(tool: Tool, input: unknown): Promise<ToolResult> {
  const result = await tool.execute(input)
  const validate = ajv.compile(tool.outputSchema)
  expect(validate(result.structured), `${tool.name} ${JSON.stringify(input)}: ${JSON.stringify(validate.errors)}`).toBe(
    true,
  )
  expect(result.text).not.toBe('')
  return result
}

const commandField = (tool: Tool): string | undefined =>
  ['command', 'cmd', 'commands'].find((name) => Object.hasOwn(tool.inputSchema.properties, name))
const idField = (tool: Tool): string | undefined =>
  ['bash_id', 'shell_id', 'id', 'session_id'].find((name) => Object.hasOwn(tool.inputSchema.properties, name))
const asCommand = (tool: Tool, command: string): Record<string, unknown> => {
  const field = commandField(tool)!
  return { [field]: field === 'commands' ? [command] : command }
}

describe.each(dialects)('%s', (dialect) => {
  const tools = createTools(engine, { dialect, session: `hostile-${dialect}`, timeouts: { defaultMs: 5_000 } })
  const runner = tools.list().find(commandField)!
  const readers = tools.list().filter(idField)

  test('ids that are paths, empty, huge or of another kind find nothing', async () => {
    for (const tool of readers)
      for (const id of [
        '../../etc/passwd',
        '.',
        '..',
        '/',
        'a'.repeat(10_000),
        'shell_\n',
        '%s',
        '__proto__',
        0,
        -1,
        1e308,
        {},
        [],
        true,
      ]) {
        const result = await answer(tool, { [idField(tool)!]: id })
        expect(result.isError, JSON.stringify(id)).toBe(true)
        expect(result.text.length).toBeLessThan(2_000)
      }
  })

  test('commands that are empty, blank, unfinished, binary or enormous are answered', async () => {
    for (const command of [
      '',
      '   ',
      '\n',
      'echo "unfinished',
      'if true; then',
      ')',
      '\u0001\u0002',
      '# only a comment',
      `: ${'x'.repeat(300_000)}`,
      'printf "\\xff\\xfe\\x00"',
      'echo "[exit 0, 1ms]"; exit 3',
    ]) {
      const result = await answer(runner, asCommand(runner, command))
      expect(result.text.length).toBeLessThan(400_000)
    }
  })

  test('nothing typed costs the tools their shell', async () => {
    for (const command of [
      'exit 3',
      'exec false',
      'kill -9 $$',
      'exec 1>&- 2>&-',
      'set -e; false',
      'trap "exit 5" EXIT; exit',
      'ulimit -f 0',
      'cd /tmp && mkdir -p gone-$$ && cd gone-$$ && rmdir $PWD',
      'unset -f echo; alias echo=false',
      'stty raw </dev/null',
      'readonly PATH',
    ])
      await answer(runner, asCommand(runner, command))
    const result = await answer(runner, asCommand(runner, 'builtin echo still here'))
    expect(result.text).toContain('still here')
  })

  test('refusals come in the shape of a result and run nothing', async () => {
    const result = await answer(runner, asCommand(runner, 'rm -rf /'))
    expect(result.text).toMatch(/blocked/)
    expect(result.text).toMatch(/dangerous/)
  })
})

test('session names cannot leave the state directory', async () => {
  const bash = createTools(engine).get('Bash')!
  for (const session of ['../../escape', '/etc', '..', '', 'a'.repeat(5_000), 'x\ny'])
    await answer(bash, { command: 'true', session })
  const listed = await engine.run({ command: ['ls', '-a', `${stateDir}/..`] })
  expect(listed.stdout.split('\n').filter((name) => !['', '.', '..', 'state', 'work'].includes(name))).toEqual([])
})

test('patterns that explode elsewhere are quick here, and wrong ones are told apart from no match', async () => {
  const tools = createTools(engine)
  const { structured, text } = await tools.execute('Bash', {
    command: `head -c 5000 /dev/zero | tr '\\0' a; echo; sleep 60`,
    run_in_background: true,
  })
  expect(text).toContain('running')
  const bash_id = structured['id']
  await tools.execute('BashOutput', { bash_id, until: 'a' })
  const begun = performance.now()
  for (const filter of ['(a+)+$', '(a|aa)+b', '^(([a-z])+.)+[A-Z]$', '.*.*.*.*b'])
    expect(await tools.execute('BashOutput', { bash_id, since: 0, filter }), filter).toMatchObject({ isError: false })
  expect((await tools.execute('BashOutput', { bash_id, since: 0, until: '(a+)+b', wait_ms: 50 })).isError).toBe(false)
  expect(performance.now() - begun).toBeLessThan(10_000)
  for (const filter of ['(', '*', '[z-a]', '\\', '(?<', 'a{99999999}'])
    expect((await tools.execute('BashOutput', { bash_id, filter })).text, filter).toContain('Invalid filter regex')
  await tools.execute('KillShell', { shell_id: bash_id })
})

test('a closed engine is an error result in every dialect, not an exception', async () => {
  const short = await createEngine({ cwd, stateDir })
  const sets = dialects.map((dialect) => createTools(short, { dialect }))
  await short.close()
  for (const tools of sets)
    for (const tool of tools)
      if (commandField(tool))
        expect((await answer(tool, asCommand(tool, 'echo no'))).text, tools.dialect).not.toContain('no\n')
})

test('a callback that throws does not break the call', async () => {
  const result = await createTools(engine).execute(
    'Bash',
    { command: 'echo fine' },
    {
      onProgress: () => {
        throw new Error('mine')
      },
    },
  )
  expect(result).toMatchObject({ isError: false, structured: { stdout: 'fine\n' } })
})

test('twenty calls at once through one set of tools all get their own answer', async () => {
  const tools = createTools(engine, { dialect: 'forge' })
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      tools.execute('Bash', { command: `echo number ${index}`, ...(index % 2 ? { run_in_background: true } : {}) }),
    ),
  )
  for (const [index, result] of results.entries()) {
    expect(result.isError).toBe(false)
    if (index % 2 === 0) expect(result.text).toBe(`number ${index}\n`)
  }
})
