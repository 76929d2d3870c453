import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { environmentSource } from '../../src/secrets/sources.js'
import type { AuditEntry } from '../../src/engine/services/audit-sink.js'
import { temporaryFolder, testEngine } from './harness.js'

const VALUE = `s3cr3t'"$(touch pwned)\`id\`\\ value-${process.pid}`

describe('secrets in the engine', () => {
  test('REF-01 REF-02 the program gets the exact value as data, in fresh and session mode', async () => {
    const engine = await testEngine()
    engine.secrets.set('key', VALUE)
    engine.secrets.setDecrypted('uuid-123', VALUE)
    const session = await engine.session()
    for (const run of [engine, session]) {
      for (const command of [
        'printf %s {{secret:key}} > out',
        'printf %s "{{secret:key}}" > out',
        "printf %s '{{secret:key}}' > out",
        'printf %s {{decrypt:uuid-123}} > out',
        'x={{secret:key}}; printf %s "$x" > out',
      ]) {
        const outcome = await run.run({ command })
        expect(outcome, command).toMatchObject({ status: 'completed' })
        expect(readFileSync(join(engine.cwd, 'out'), 'utf8'), command).toBe(VALUE)
      }
    }
    expect(readdirSync(engine.cwd)).toEqual(['out'])
  })

  test('REF-02 and in background mode', async () => {
    const engine = await testEngine()
    engine.secrets.set('key', VALUE)
    const job = await engine.start({ command: 'printf %s {{secret:key}} > out; echo "{{secret:key}}"' })
    await job.wait({ exit: true, timeoutMs: 20_000 })
    expect(readFileSync(join(engine.cwd, 'out'), 'utf8')).toBe(VALUE)
    const info = await job.info()
    expect(info.command).toContain('{{secret:key}}')
    // Masked before it reached the disk, and again when read.
    expect(readFileSync(info.outputFile, 'utf8')).toContain('[secret:key]')
    expect((await job.read()).text).toBe('[secret:key]\n')
    for (const name of readdirSync(join(info.outputFile, '..')))
      expect(readFileSync(join(info.outputFile, '..', name), 'latin1'), name).not.toContain('s3cr3t')
  })

  test('REF-03 REF-04 unknown tokens stay literal, commands without tokens are untouched', async () => {
    const engine = await testEngine()
    expect((await engine.run({ command: 'echo {{secret:unknown}}' })).stdout).toBe('{{secret:unknown}}\n')
    expect((await engine.run({ command: "printf '%s\\n' '{{ x }}' {{secret:}}" })).stdout).toBe(
      '{{ x }}\n{{secret:}}\n',
    )
  })

  test('REF-05 the value is masked in everything that leaves: text, stream, file, error, audit, dry run', async () => {
    const entries: AuditEntry[] = []
    const engine = await testEngine({ audit: { write: (entry) => void entries.push(entry) } })
    engine.secrets.set('key', VALUE)
    const seen: string[] = []
    const outcome = await engine.run({
      command: 'echo {{secret:key}}; echo {{secret:key}} >&2; printf %s {{secret:key}} | base64 -w0',
      onOutput: ({ text }) => seen.push(text),
    })
    expect(outcome.stdout).toContain('[secret:key]\n')
    expect(outcome.stderr).toBe('[secret:key]\n')
    const long = await engine.run({ command: 'for i in {1..3000}; do echo {{secret:key}}; done' })
    const dry = await engine.run({ command: 'echo {{secret:key}}', dryRun: true })
    const texts = [
      JSON.stringify([outcome, seen, dry, entries]),
      long.stdout,
      readFileSync(long.outputFile as string, 'utf8'),
    ]
    for (const text of texts)
      for (const leak of ['s3cr3t', Buffer.from(VALUE).toString('base64').slice(0, 40)])
        expect(text).not.toContain(leak)
    expect(entries.map(({ command }) => command)).toContain('echo {{secret:key}}')
  })

  test('REF-06 F75 nothing of the value is in argv, environ or files of our processes while the command runs', async () => {
    const stateDir = join(temporaryFolder(), 'state')
    const engine = await testEngine({ stateDir })
    engine.secrets.set('key', VALUE)
    const session = await engine.session()
    for (const run of [engine, session]) {
      const handle = run.stream({ command: 'x={{secret:key}}; echo up; sleep 0.5' })
      for await (const chunk of handle) {
        if (!chunk.text.includes('up')) continue
        for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== String(process.pid))) {
          for (const what of ['cmdline', 'environ']) {
            let text = ''
            try {
              text = readFileSync(`/proc/${pid}/${what}`, 'latin1')
            } catch {
              // Gone, or not ours.
            }
            expect(text.includes('s3cr3t')).toBe(false)
          }
        }
        for (const file of filesBelow(stateDir)) expect(readFileSync(file, 'latin1'), file).not.toContain('s3cr3t')
      }
      await handle.outcome
    }
    const after = await session.run({ command: 'set | grep -c s3cr3t; declare -p | grep -c __cerith_key' })
    // x itself was assigned by the agent; our own variable is gone.
    expect(after.stdout.split('\n')[1]).toBe('0')
  })

  test('a context that cannot carry data safely is refused before anything runs', async () => {
    const engine = await testEngine()
    engine.secrets.set('key', VALUE)
    const outcome = await engine.run({ command: 'touch ran; python3 -c "print({{secret:key}})"' })
    expect(outcome.status).toBe('refused')
    expect(outcome.refused?.rule).toBe('secret-context')
    expect(readdirSync(engine.cwd)).toEqual([])
  })

  test('deleted and cleared secrets no longer resolve', async () => {
    const engine = await testEngine()
    engine.secrets.set('key', VALUE)
    engine.secrets.delete('key')
    expect((await engine.run({ command: 'echo {{secret:key}}' })).stdout).toBe('{{secret:key}}\n')
    engine.secrets.set('key', VALUE)
    engine.secrets.clear()
    expect((await engine.run({ command: 'echo {{secret:key}}' })).stdout).toBe('{{secret:key}}\n')
  })
})

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(dir, entry.name)) : entry.isFile() ? [join(dir, entry.name)] : [],
  )
}

test('REF-05 values of a source are masked from the first command on, also when no token named them', async () => {
  const engine = await testEngine({
    secretSources: [environmentSource({ deploy: 'DEPLOY' }, { DEPLOY: 'hunter2hunter2' })],
  })
  writeFileSync(join(engine.cwd, 'leak.txt'), 'password=hunter2hunter2\n')
  expect((await engine.run({ command: 'cat leak.txt' })).stdout).toBe('password=[secret:deploy]\n')
})

test('REF-05 what is left of a value in a cut column, and its rarer encodings, do not reach the file of a job either', async () => {
  const engine = await testEngine()
  const token = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'
  engine.secrets.set('key', token)
  const job = await engine.start({
    command: [
      'v={{secret:key}}',
      'echo "name  ${v:0:20}...  end"',
      'echo "...${v:20}  end"',
      'printf %s "$v" | base32 -w0; echo',
      'printf %s "$v" | base64 -w0 | base64 -w0; echo',
      'echo "[${v:0:11}]"',
      'printf %s "$v" | od -An -tu1 -w100',
      'printf %s "$v" | od -An -tu1 -w100 | tr -s " " ,',
      'printf %s "$v" | od -An -tu1',
      'printf %s "$v" | od -An -tx1',
    ].join('\n'),
  })
  await job.wait({ exit: true, timeoutMs: 20_000 })
  const { outputFile } = await job.info()
  const lines = readFileSync(outputFile, 'utf8').split('\n')
  expect(lines.slice(0, 2)).toEqual(['name  [secret:key]...  end', '...[secret:key]  end'])
  expect(lines.slice(2, 4).join(' ')).toMatch(/^\[secret:key\]\S{0,2} \[secret:key\]\S{0,10}$/)
  expect(lines[4]).toBe('[ghp_16C7e42]')
  expect(lines.slice(5, 9)).toEqual([' [secret:key]', ',[secret:key]', ' [secret:key]', ' [secret:key]'])
  expect((await job.read()).text.split('\n').slice(0, 2)).toEqual(lines.slice(0, 2))
})
