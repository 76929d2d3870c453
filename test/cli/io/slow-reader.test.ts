/**
 * What our own reader does: every byte reaches a slow one, a stopped one holds the command back, one that leaves ends
 * it as SIGPIPE would.
 */
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../fixtures/folder.js'

const cli = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url))
const base = temporaryFolder('slow')
const env = { ...process.env, CERITH_HOME: join(base, 'state'), NODE: process.execPath, CLI: cli, BASE: base }

/** A line of a user's own shell, with `cerith` in it. */
async function shell(line: string): Promise<{ out: string; err: string; codes: number[] }> {
  const script = `cerith() { "$NODE" "$CLI" "$@"; }; ${line}\nprintf '\\n#%s' "\${PIPESTATUS[*]}"`
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script], { env, maxBuffer: 2 ** 28 })
  const at = stdout.lastIndexOf('\n#')
  return {
    out: stdout.slice(0, at),
    err: stderr,
    codes: stdout
      .slice(at + 2)
      .split(' ')
      .map(Number),
  }
}

/** The reader begins when the command has had the time to end, or to fill every buffer on the way. */
const LATE = '(sleep 2; wc -c)'

describe.concurrent('every byte reaches a slow reader', () => {
  const flood = "head -c 20000000 /dev/zero | tr '\\0' x"
  test.each([
    ['of a fresh shell', `cerith run "${flood}"`, 0],
    ['of a session', `cerith run --session slow "${flood}"`, 0],
    ['of merged streams', `cerith run --merge "${flood}"`, 0],
    ['of stderr', `cerith run "{ ${flood}; } >&2; exit 3" 2>&1 >/dev/null`, 3],
    ['of a terminal', `cerith run --pty "${flood}"`, 0],
  ])('%s', async (_, line, code) => {
    const { out, codes } = await shell(`${line} | ${LATE}`)
    expect({ bytes: Number(out), codes }).toEqual({ bytes: 20_000_000, codes: [code, 0] })
  })

  test('of a job that is read later', async () => {
    const { out } = await shell(
      `id=$(cerith run --background "${flood}"); cerith wait $id >/dev/null; cerith read $id | (sleep 1; wc -c)`,
    )
    const completion = '\n[background process completed: exit code 0]\n'
    expect([20_000_000, 20_000_000 + completion.length]).toContain(Number(out))
  })

  test('of a job that is followed', async () => {
    const { out } = await shell(`id=$(cerith run --background "${flood}"); cerith read --follow $id | ${LATE}`)
    expect(Number(out)).toBeGreaterThanOrEqual(20_000_000)
  })

  test('of a list of results', async () => {
    const { out, codes } =
      await shell(`for i in {1..400}; do echo '{"cmd": "echo '$i' xxxxxxxxxxxxxxxxxxxx"}'; done > $BASE/lines
cerith check --jsonl < $BASE/lines | (sleep 1; wc -l)`)
    expect({ lines: Number(out), codes }).toEqual({ lines: 400, codes: [0, 0] })
  })
})

test('bytes are passed on as they are, not as text', async () => {
  const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 7) % 256))
  writeFileSync(join(base, 'bytes'), bytes)
  await shell(`cerith run 'cat $BASE/bytes' > $BASE/to-file`)
  await shell(`cerith run 'cat $BASE/bytes' | cat > $BASE/to-pipe`)
  await shell(`cerith run --session bytes 'cat $BASE/bytes >&2' 2> $BASE/to-err`)
  await shell(
    `id=$(cerith run --background 'cat $BASE/bytes'); cerith wait $id >/dev/null
cerith read --max-bytes 70000 $id > $BASE/read; cerith read --ansi keep --max-bytes 70000 $id | cat > $BASE/read-kept`,
  )
  for (const name of ['to-file', 'to-pipe', 'to-err', 'read-kept'])
    expect(readFileSync(join(base, name)).equals(bytes)).toBe(true)
  // Without a terminal escape sequences are taken out; a line that is no text has none.
  expect(readFileSync(join(base, 'read')).length).toBeGreaterThan(69_000)
  expect(readFileSync(join(base, 'read')).includes('\uFFFD')).toBe(false)
})

describe.concurrent('a flood, which goes into the pipe of the reader without passing through us', () => {
  const lines = 'seq 1 6000000' // 46,888,896 bytes
  test.each([
    ['whole and in order', `cerith run '${lines}; exit 3' | sha256sum`, [3, 0]],
    ['with what a process that is left behind prints', `cerith run '${lines} & wait; exit 3' | sha256sum`, [3, 0]],
    ['merged', `cerith run --merge '${lines}; exit 3' | sha256sum`, [3, 0]],
    [
      'to a reader that stops now and then',
      `cerith run '${lines}; exit 3' | (sleep 1; head -c 30000000; sleep 1; cat) | sha256sum`,
      [3, 0, 0],
    ],
  ])('%s', async (_, line, codes) => {
    const plain = spawnSync('bash', ['-c', `${lines} | sha256sum`], { encoding: 'utf8' }).stdout
    expect(await shell(line)).toMatchObject({ out: plain, codes })
  })

  test('ends with its reader, however late that leaves', async () => {
    const { out, codes } = await shell(`cerith run 'yes; exit 7' | (head -c 20000000 | wc -c)`)
    expect({ out: out.trim(), codes }).toEqual({ out: '20000000', codes: [7, 0] })
  })

  test('ends at its time limit', async () => {
    const { codes, err } = await shell(`cerith run --timeout 1500 yes | tail -c 2`)
    expect(codes).toEqual([124, 0])
    expect(err).toContain('timed out after 1500 ms')
  })
})

describe.concurrent('a reader that waits', () => {
  test.each([
    ['fresh', []],
    ['session', ['--session', 'held']],
    ['terminal', ['--pty']],
  ])('holds the command back, and our memory stays flat (%s)', async (_, options) => {
    const file = join(base, `progress-${options.length}-${options[0] ?? ''}`)
    writeFileSync(file, '')
    const line = `for ((i = 0; i < 20000; i++)); do printf '%065536d' 0; echo >> ${file}; done`
    const child = spawn(process.execPath, [cli, 'run', ...options, line], { env, stdio: ['ignore', 'pipe', 'ignore'] })
    child.stdout?.pause()
    const rounds = await settled(() => readFileSync(file).length)
    expect(rounds).toBeLessThan(1_000) // Of 20,000: what the pipes and the store of a terminal hold.
    expect(residentBytes(child)).toBeLessThan(300 * 1024 * 1024)
    child.kill('SIGTERM')
    child.stdout?.resume()
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(143)
  })

  test('does not keep a time limit from ending the command', async () => {
    const { codes, err } = await shell(`cerith run --timeout 500 yes | (sleep 2; wc -c)`)
    expect(codes).toEqual([124, 0])
    expect(err).toContain('timed out after 500 ms')
  })

  test('does not keep a signal from ending us', async () => {
    const child = spawn(process.execPath, [cli, 'run', 'yes'], { env, stdio: ['ignore', 'pipe', 'ignore'] })
    await new Promise((resolve) => child.stdout?.once('readable', resolve))
    child.kill('SIGTERM')
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(143)
  })
})

describe.concurrent('a reader that leaves', () => {
  test('ends what writes to it, and the shell goes on as bash does', async () => {
    const plain = spawnSync(
      'bash',
      ['-c', `bash -c 'yes; echo "status $?" >&2; exit 7' | head -1; echo "\${PIPESTATUS[*]}"`],
      { encoding: 'utf8' },
    )
    const { out, err, codes } = await shell(`cerith run 'yes; echo "status $?" >&2; exit 7' | head -1`)
    expect(`${out}${codes.join(' ')}\n`).toBe(plain.stdout)
    expect(err).toBe(plain.stderr)
  })

  test.each([
    ['the last word of a command', `cerith run 'read -r go; echo hi'`],
    ['the last word of a command in a session', `cerith run --session last 'read -r go; echo hi'`],
    ['an outcome', `cerith run --json 'read -r go'`],
    ['the id of a job', `(read -r go; cerith run --background true)`],
  ])('before %s makes it no success', async (_, line) => {
    // The command goes on when its reader has left.
    const fifo = join(base, `left-${Math.random()}`)
    const { codes } = await shell(
      `mkfifo ${fifo}; ${line.replace('read -r go', `read -r go <${fifo}`)} | { exec <&-; echo >${fifo}; }`,
    )
    expect(codes).toEqual([141, 0])
  })

  test.each([
    ['a fresh shell', 'cerith run yes'],
    ['a session', 'cerith run --session left yes'],
    ['a terminal', 'cerith run --pty yes'],
    ['a builtin', "cerith run 'while :; do echo y; done'"],
    ['stderr', 'cerith run "yes >&2" 2>&1 >/dev/null'],
    ['a job that is followed', 'cerith read --follow $(cerith run --background "yes | head -c 90000000")'],
  ])('%s ends with 141', async (_, line) => {
    const { out, codes } = await shell(`${line} | head -1`)
    expect({ out: out.trim(), codes }).toEqual({ out: 'y', codes: [141, 0] })
  })
})

test('a disk that is full is said, and is no success', async () => {
  const { codes, err } = await shell('cerith run "seq 1 100000" > /dev/full')
  expect(codes).toEqual([125])
  expect(err).toContain('the output could not be written (ENOSPC)')
})

describe('the id of a job that goes on is not lost with the output', () => {
  test.each([
    ['--background', '--background'],
    ['--background --json', '--background --json'],
    ['--yield --json', '--yield 50 --json'],
  ])('of %s', async (_, options) => {
    const run = `cerith run ${options} "sleep 60"`
    // The second one writes when its reader has left.
    const left = `mkfifo "$BASE/left"; { read -r _ < "$BASE/left"; rm "$BASE/left"; ${run}; } | { exec <&-; echo > "$BASE/left"; }`
    for (const [line, code] of [
      [`${run} > /dev/full`, 125],
      [left, 141],
    ] as const) {
      const { codes, err } = await shell(line)
      expect(codes[0], line).toBe(code)
      const id = /cerith kill (shell_\w+)/.exec(err)?.[1] ?? 'none'
      expect((await shell(`cerith kill ${id}`)).codes, `${line}: ${err}`).toEqual([0])
    }
  })
})

/**
 * The number when it has stood still for a second. On a busy machine a pause may look like the end: then it is small.
 */
async function settled(read: () => number): Promise<number> {
  let last = -1
  for (let same = 0; same < 5;) {
    await new Promise((resolve) => setTimeout(resolve, 200))
    const now = read()
    same = now === last && now > 0 ? same + 1 : 0
    last = now
  }
  return last
}

function residentBytes({ pid }: ChildProcess): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
}
