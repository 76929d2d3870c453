// What every place must do, whatever leads there. Each check gets the engine of the place and a way to open another
// one.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { createConnection } from 'node:net'
import { until } from './daemons.mjs'

const SECRET = `S3cr3t-${'0123456789abcdef'.repeat(2)}`
const sleep = (ms) => new Promise((next) => setTimeout(next, ms))

/** Processes here whose words hold this mark. */
export function clientsWith(mark) {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(mark)
    } catch {
      return false
    }
  }) // prettier-ignore
}

/** The clients that this process started: the near ends of its links. */
export function ownClients() {
  return execFileSync('ps', ['-o', 'pid=', '--ppid', String(process.pid)], { encoding: 'utf8' }).split('\n').map(Number).filter((pid) => {
    try {
      return pid > 0 && /read -r n|\0link\0/.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1'))
    } catch {
      return false
    }
  }) // prettier-ignore
}

function frame(kind, message) {
  const payload = Buffer.from(kind + JSON.stringify(message))
  const head = Buffer.alloc(4)
  head.writeUInt32LE(payload.length)
  return Buffer.concat([head, payload])
}

/**
 * Sockets of far engines that have this pid where they are, as this machine reaches them: every place of the contract
 * runs on it.
 */
function socketsOf(pid) {
  return clientsWith('dist/far.js').flatMap((each) => {
    const words = readFileSync(`/proc/${each}/cmdline`, 'latin1').split('\0')
    const dir = words[words.findIndex((word) => word.endsWith('dist/far.js')) + 1]
    const pids = /^NSpid:\s+(.*)$/m.exec(readFileSync(`/proc/${each}/status`, 'utf8'))?.[1].split(/\s+/) ?? []
    return pids.at(-1) === String(pid) ? [`/proc/${each}/root${dir}/sock`] : []
  })
}

/** Everything that is said until the other side closes. */
function talk(path, words) {
  return new Promise((resolve) => {
    let heard = ''
    const socket = createConnection(path)
    socket.on('data', (chunk) => (heard += chunk.toString('latin1')))
    socket.on('error', () => {})
    socket.on('close', () => resolve(heard))
    for (const bytes of words) socket.write(bytes)
  })
}

export const CONTRACT = [
  ['knows its place and its bash', async ({ engine, url }) => {
    assert.equal(engine.place.url, url)
    assert.match(engine.shell.version, /^[45]\./)
  }],
  ['keeps stdout and stderr apart', async ({ run }) => {
    const { stdout, stderr } = await run('echo out; echo err >&2')
    assert.deepEqual([stdout, stderr], ['out\n', 'err\n'])
  }],
  ['tells exit codes', async ({ run }) => assert.equal((await run('exit 41')).exitCode, 41)],
  ['tells signals', async ({ run }) => assert.equal((await run('kill -SEGV $$')).signal, 'SIGSEGV')],
  ['merges streams in true order', async ({ engine }) => {
    const { output } = await engine.run({ command: 'for i in 1 2 3; do echo o$i; echo e$i >&2; done', streams: 'merged' })
    assert.equal(output, 'o1\ne1\no2\ne2\no3\ne3\n')
  }],
  ['ends what takes too long, with its children', async ({ engine, run }) => {
    const { status } = await engine.run({ command: 'sleep 98711 & sleep 98712', timeoutMs: 500 })
    assert.equal(status, 'timeout')
    assert.equal((await run('ps 2>/dev/null | grep "sleep 9871[12]" | grep -cv grep')).stdout.trim(), '0')
  }],
  ['passes input, also a megabyte', async ({ engine }) => {
    assert.equal((await engine.run({ command: 'wc -c', input: 'x'.repeat(1_000_000) })).stdout.trim(), '1000000')
  }],
  ['passes bytes that are no text', async ({ engine }) => {
    assert.equal((await engine.run({ command: 'od -An -tx1', input: new Uint8Array([0xff, 0xfe, 0, 10]) })).stdout.trim(), 'ff fe 00 0a')
  }],
  ['quotes an argv whatever is in it', async ({ engine }) => {
    const words = ["it's", 'a "b"', '$HOME', '`id`', 'ü€😀', 'x\ny', '*']
    assert.equal((await engine.run({ command: ['printf', '%s\\n', ...words] })).stdout, words.map((word) => `${word}\n`).join(''))
  }],
  ['runs a long command', async ({ run }) => assert.equal((await run(`: ${'x'.repeat(500_000)}; echo long`)).stdout, 'long\n')],
  ['remembers variables, directory and functions', async ({ session }) => {
    await session.run({ command: 'X=kept; cd /tmp; f() { echo fn$X; }' })
    assert.equal((await session.run({ command: 'f; pwd' })).stdout, 'fnkept\n/tmp\n')
    assert.equal(session.cwd, '/tmp')
  }],
  ['keeps the state of a session that exits', async ({ session }) => {
    assert.equal((await session.run({ command: 'exit 3' })).exitCode, 3)
    assert.equal((await session.run({ command: 'echo $X' })).stdout, 'kept\n')
  }],
  ['runs in a directory of its own for one call', async ({ engine }) => assert.equal((await engine.run({ command: 'pwd', cwd: '/usr' })).stdout, '/usr\n')],
  ['says that a directory is missing', async ({ engine }) => assert.rejects(engine.run({ command: 'true', cwd: '/nope' }), { code: 'CWD_NOT_FOUND' })],
  ['does not bring our environment along', async ({ run }) => {
    process.env['CERITH_CONTRACT_MARK'] = 'near'
    assert.equal((await run('env | grep -E "CERITH_CONTRACT_MARK|MALLOC"')).stdout, '')
  }],
  ['runs commands with the umask of the login', async ({ run }) => assert.match((await run('umask')).stdout, /^00[02]2\n$/)],
  ['brings given variables along', async ({ engine }) => assert.equal((await engine.run({ command: 'echo $GIVEN', env: { GIVEN: 'yes' } })).stdout, 'yes\n')],
  ['shows output as it comes', async ({ engine }) => {
    const chunks = []
    const running = engine.stream({ command: 'echo a; sleep 600', onOutput: ({ text }) => chunks.push(text) })
    await until('the line is shown', () => chunks.length > 0)
    running.kill()
    await running.outcome
    assert.deepEqual(chunks, ['a\n'])
  }],
  ['lets output be iterated', async ({ session }) => {
    let text = ''
    for await (const chunk of session.stream({ command: 'seq 1 1000' })) text += chunk.text
    assert.equal(text.split('\n').length, 1001)
  }],
  ['holds a command back for a slow reader of bytes, and loses none', async ({ engine }) => {
    let bytes = 0
    await engine.run({ command: 'head -c 3000000 /dev/zero', onBytes: async (chunk) => { bytes += chunk.bytes.length; await sleep(1) } })
    assert.equal(bytes, 3_000_000)
  }],
  ['interrupts a command and keeps the session', async ({ session }) => {
    const handle = session.stream({ command: 'echo up; sleep 600', onOutput: () => handle.interrupt() })
    await handle.outcome
    assert.equal((await session.run({ command: 'echo $X' })).stdout, 'kept\n')
  }],
  ['stops a command for an aborted signal', async ({ engine }) => {
    const stop = new AbortController()
    const command = 'echo up; sleep 600'
    assert.equal((await engine.run({ command, signal: stop.signal, onOutput: () => stop.abort() })).status, 'killed')
  }],
  ['starts nothing for a signal that was aborted before', async ({ engine, run }) => {
    await engine.run({ command: 'touch /tmp/never', signal: AbortSignal.abort() }).catch(() => {})
    assert.equal((await run('ls /tmp/never 2>/dev/null')).stdout, '')
  }],
  ['turns a slow command into a job', async ({ engine }) => {
    const { status, id } = await engine.run({ command: 'echo first; sleep 1; echo last', yieldMs: 200 })
    assert.equal(status, 'running')
    const job = await engine.job(id)
    await job.wait()
    assert.equal((await job.read()).text, 'first\nlast\n')
  }],
  ['starts a job, waits for a line, reads on from a cursor', async ({ engine }) => {
    const job = await engine.start({ command: 'echo ready; read line; echo more', openStdin: true })
    assert.equal((await job.wait({ until: /ready/ })).reason, 'until')
    const { cursor } = await job.read()
    await job.send({ text: 'on', enter: true })
    await job.wait()
    assert.equal((await job.read({ since: cursor })).text, 'more\n')
  }],
  ['kills a job with everything it started', async ({ engine, run }) => {
    const job = await engine.start({ command: '(setsid sleep 98713 &) ; echo up; sleep 98714' })
    await job.wait({ until: /up/ })
    await job.kill({ graceMs: 500 })
    assert.equal((await job.info()).status, 'killed')
    assert.equal((await run('ps 2>/dev/null | grep "sleep 9871[34]" | grep -cv grep')).stdout.trim(), '0')
  }],
  ['types into a job', async ({ engine }) => {
    const job = await engine.start({ command: 'read line; echo "got $line"', openStdin: true })
    await job.send({ text: 'hello', enter: true })
    await job.wait()
    assert.equal((await job.read()).text, 'got hello\n')
  }],
  ['tells the events of a job', async ({ engine }) => {
    const job = await engine.start({ command: 'echo x' })
    const kinds = []
    for await (const { kind } of job.events()) kinds.push(kind)
    assert.equal(kinds.at(-1), 'ended')
  }],
  ['tells the events of all jobs', async ({ engine }) => {
    const kinds = []
    const stop = engine.onJobEvent(({ kind }) => kinds.push(kind))
    const job = await engine.start({ command: 'true' })
    await job.wait()
    await until('the end is told', () => kinds.includes('ended'), 10_000)
    stop()
  }],
  ['lists and cleans jobs', async ({ engine }) => {
    assert.ok((await engine.jobs({ all: true })).length > 0)
    assert.ok((await engine.clean({ olderThanMs: 0 })).removed.length > 0)
  }],
  ['says that a job is unknown', async ({ engine }) => assert.rejects(engine.job('nope'), { code: 'JOB_NOT_FOUND' })],
  ['gives a terminal of the wanted size', async ({ engine }) => {
    const { output } = await engine.run({ command: 'tty; stty size', pty: { cols: 77, rows: 33 } })
    assert.match(output, /pts[^]*33 77/)
  }],
  ['attaches to a terminal: shows, types, resizes, leaves', async ({ engine }) => {
    const job = await engine.start({ command: 'bash --norc', pty: true })
    let seen = ''
    const attached = await job.attach({ by: 'test', size: { cols: 90, rows: 20 }, readOnly: false, show: (text) => (seen += text) })
    attached.type(Buffer.from('echo $((40+2)); stty size\r'))
    await until('the answer is shown', () => /42[^]*20 90/.test(seen), 15_000)
    await attached.leave()
    assert.equal((await job.info()).isRunning, true)
    await job.kill({ graceMs: 0 })
  }],
  ['judges with the facts of the place', async ({ engine }) => {
    assert.equal((await engine.check('rm -rf /')).decision, 'deny')
    assert.equal((await engine.check('ls')).decision, 'allow')
    assert.equal((await engine.plan({ command: 'ls' })).verdict.decision, 'allow')
  }],
  ['runs nothing in a dry run', async ({ engine }) => assert.equal((await engine.run({ command: 'touch /tmp/never2', dryRun: true })).status, 'dry_run')],
  ['asks here, and runs after a yes only', async ({ open }) => {
    const cards = []
    const answers = ['deny', 'once']
    const engine = await open({ policy: { preset: 'careful' }, ask: async ({ command }) => (cards.push(command), answers.shift()) })
    try {
      const command = 'curl -s http://127.0.0.1:1/'
      assert.equal((await engine.run({ command })).status, 'refused')
      assert.notEqual((await engine.run({ command })).status, 'refused')
      assert.deepEqual(cards, [command, command])
    } finally {
      await engine.close()
    }
  }],
  ['uses a secret that nobody sees', async ({ engine, run }) => {
    engine.secrets.set('TOKEN', SECRET)
    // A place that is this machine has much else in /tmp.
    await run('touch /tmp/before-secret; while touch /tmp/after-secret; [ -z "$(find /tmp/after-secret -newer /tmp/before-secret)" ]; do :; done')
    const { stdout } = await run('T={{secret:TOKEN}}; echo ${#T} "$T"')
    assert.equal(stdout, `${SECRET.length} [secret:TOKEN]\n`)
    const job = await engine.start({ command: 'echo {{secret:TOKEN}}; sleep 30' })
    await job.wait({ until: /secret/ })
    const half = SECRET.slice(0, 12)
    const seen = await run(`find /tmp /dev/shm "$HOME/.local" -type f -newer /tmp/before-secret -exec grep -ls '${half.slice(0, 6)}[${half[6]}]${half.slice(7)}' {} + 2>/dev/null; for p in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <$p 2>/dev/null; done | grep -c '${half.slice(0, 6)}[${half[6]}]${half.slice(7)}'`, { timeoutMs: 300_000 })
    assert.equal(seen.stdout.trim(), '0')
    await job.kill({ graceMs: 0 })
    assert.equal(clientsWith(SECRET).length, 0)
  }],
  ['writes the audit here, with its place', async ({ open, url }) => {
    const entries = []
    const engine = await open({ audit: { write: (entry) => entries.push(entry) } })
    await engine.run({ command: 'echo audited' })
    await until('the entry comes', () => entries.length > 0, 10_000)
    await engine.close()
    assert.equal(entries[0].place, url)
    assert.equal(entries[0].command, 'echo audited')
  }],
  ['gives the same outcome for the same key', async ({ engine, run }) => {
    await run('rm -f /tmp/keyed')
    const request = { command: 'echo x >> /tmp/keyed; wc -l < /tmp/keyed', key: 'k1' }
    assert.equal((await engine.run(request)).stdout.trim(), '1')
    assert.equal((await engine.run(request)).stdout.trim(), '1')
    await assert.rejects(engine.run({ command: 'other', key: 'k1' }), { code: 'BAD_REQUEST' })
  }],
  ['moves a gigabyte over the link as 64 KB', async ({ open }) => {
    const before = new Set(ownClients())
    const engine = await open({})
    const [client] = ownClients().filter((pid) => !before.has(pid))
    // What the client wrote: to this process, and the few words of the script that it passed on.
    const moved = () => Number(/wchar: (\d+)/.exec(readFileSync(`/proc/${client}/io`, 'utf8'))?.[1])
    const startedWith = moved()
    const cuts = []
    engine.onLink(({ reason }) => cuts.push(reason))
    const { status, omittedBytes, stdout } = await engine.run({ command: "head -c 1073741824 /dev/zero | tr '\\0' x", timeoutMs: 600_000 })
    assert.equal(status, 'completed')
    assert.ok(omittedBytes > 1_073_000_000 && stdout.length < 64_000)
    assert.deepEqual(cuts, [], 'the link was cut')
    assert.ok(moved() - startedWith <= 65_536, `${moved() - startedWith} bytes were moved`)
    await engine.close()
  }],
  ['tells a forged client on the socket nothing, and goes on', async ({ engine, run }) => {
    const sockets = socketsOf(engine.place.pid)
    assert.ok(sockets.length > 0, 'no socket was found')
    const call = frame('C', { id: 1, verb: 'engine.run', args: { request: { command: 'touch /tmp/forged' } } })
    const hello = frame('H', { version: 2, client: 'x', nonce: 'n' })
    const wrong = frame('H', { proof: '0'.repeat(64), options: {}, pending: [], keep: false, events: true })
    for (const path of sockets)
      for (const words of [[call], [hello, call], [hello, wrong, call], [Buffer.alloc(100_000, 0xff)]]) {
        const heard = await talk(path, words)
        // At most the challenge, which says nothing.
        assert.ok(heard.length < 300 && !heard.includes('engine'), heard)
      }
    assert.equal((await run('ls /tmp/forged 2>/dev/null')).stdout, '')
  }],
  ['goes on when its client is killed, and runs each command once', async ({ open, run }) => {
    const before = new Set(ownClients())
    const engine = await open({})
    const [client] = ownClients().filter((pid) => !before.has(pid))
    const session = await engine.session()
    const kinds = []
    engine.onLink(({ kind }) => kinds.push(kind))
    await session.run({ command: 'Y=still; rm -f /tmp/once /tmp/go-on' })
    const command = 'echo x >> /tmp/once; while [ ! -e /tmp/go-on ]; do sleep 0.05; done; echo $Y $(wc -l < /tmp/once)'
    const running = session.run({ command })
    await until('it runs', async () => (await run('ls /tmp/once 2>/dev/null')).stdout !== '')
    process.kill(client, 'SIGKILL')
    await until('the link is back', () => kinds.at(-1) === 'up')
    await run('touch /tmp/go-on')
    assert.equal((await running).stdout, 'still 1\n')
    await engine.close()
  }],
  ['opens a link anew when its client is frozen', async ({ open }) => {
    const before = new Set(ownClients())
    const engine = await open({ reach: { beatMs: 300 } })
    const [client] = ownClients().filter((pid) => !before.has(pid))
    const session = await engine.session()
    await session.run({ command: 'Y=still' })
    process.kill(client, 'SIGSTOP')
    assert.equal((await session.run({ command: 'echo $Y' })).stdout, 'still\n')
    await engine.close()
  }],
  ['says what was lost when the engine there is killed', async ({ open, run }) => {
    const engine = await open({})
    const session = await engine.session()
    await session.run({ command: 'Y=1' })
    let seen = ''
    const running = session.run({ command: 'echo up; sleep 600', onOutput: ({ text }) => (seen += text) })
    await until('it runs', () => seen === 'up\n')
    await run(`kill -9 ${engine.place.pid}`, { approvalId: undefined })
    assert.equal((await running).end.kind, 'lost')
    const next = await session.run({ command: 'echo "[$Y]"' })
    assert.equal(next.stdout, '[]\n')
    assert.match(next.notes.map(({ text }) => text).join(), /is gone/)
    await engine.close()
  }],
  ['leaves nothing running there after close', async ({ open, run }) => {
    const engine = await open({})
    await (await engine.session()).run({ command: 'sleep 98715 & true' })
    const { pid } = engine.place
    await engine.close()
    assert.equal((await run(`ps 2>/dev/null | grep "sleep 9871[5]" | grep -cv grep; kill -0 ${pid} 2>/dev/null && grep -q "State:.[^Z]" /proc/${pid}/status && echo alive`)).stdout.trim(), '0')
  }],
  ['serves 200 sessions on one link', async ({ engine }) => {
    const at = performance.now()
    const sessions = await Promise.all(Array.from({ length: 200 }, async (_, i) => {
      const session = await engine.session(`h${i}`)
      await session.run({ command: `N=${i}` })
      return session
    }))
    const opened = performance.now() - at
    const answers = await Promise.all(sessions.map(async (session) => (await session.run({ command: 'echo $N' })).stdout.trim()))
    assert.deepEqual(answers, answers.map((_, i) => String(i)))
    console.log(`  200 sessions: open in ${(opened / 1000).toFixed(1)} s`)
    await Promise.all(sessions.map((session) => session.close()))
  }],
] // prettier-ignore
