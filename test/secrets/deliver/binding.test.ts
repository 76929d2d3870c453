import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  bindingEpilogue,
  bindingPayload,
  bindingPrelude,
  isBindingVariable,
} from '../../../src/secrets/deliver/binding.js'
import { planDelivery } from '../../../src/secrets/deliver/deliver.js'
import { lookupIn, runCommand, runScript, type Ran } from './run-bash.js'
import { temporaryFolder } from '../../fixtures/folder.js'

const T = '{{secret:x}}'
const secret = `s3cr3t'"\${v}`
async function run(...args: Parameters<typeof runCommand>): Promise<Ran> {
  const ran = await runCommand(...args)
  if ('kind' in ran) throw new Error(ran.reason)
  return ran
}

describe('values are data of the shell only', () => {
  test.each(['', 'set -a', 'set -o allexport; set -u'])(
    'no child finds the value in its environment (%s)',
    async (before) => {
      const ran = await run(
        `: ${T}; env | tr '\\0' '\\n'; tr '\\0' '\\n' </proc/self/environ; tr '\\0' '\\n' </proc/$$/cmdline`,
        { x: secret },
        { before },
      )
      expect(ran.stdout.toString()).not.toContain('s3cr3t')
    },
  )

  test('REF-06: nothing is left in the shell after the command', async () => {
    const ran = await run(
      `: ${T}`,
      { x: secret },
      {
        mode: 'source',
        after: `compgen -v | grep -c __cerith; declare -p | grep -v BASH_EXECUTION_STRING | grep -c 's3cr3t'`,
      },
    )
    expect(ran.stdout.toString()).toBe('0\n0\n')
  })

  test('a function that kept a reference fails by the name of the secret in a later command', async () => {
    const ran = await run(`f() { echo "got ${T}"; }; f`, { x: 'first' }, { mode: 'source', after: 'f' })
    expect(ran.stdout.toString()).toBe('got first\n')
    expect(ran.stderr).toMatch(/__cerith_x_\w+: parameter not set/)
  })

  test('tracing shows nothing of the delivery itself', async () => {
    const ran = await run(`X=${T}`, { x: secret }, { before: 'set -x' })
    expect(ran.stderr.split('\n').filter((line) => line.includes('s3cr3t'))).toEqual([expect.stringMatching(/^\++ X=/)])
    const other = await run(
      `: ${T} 9>&-`,
      { x: secret },
      {
        before: 'exec 9>trace; BASH_XTRACEFD=9; set -x',
        after: 'set +x; BASH_XTRACEFD=; grep -c "N [0-9]" trace; grep s3cr3t trace | grep -vc "^+* :"',
      },
    )
    expect(other.stdout.toString()).toMatch(/0\n$/)
  })

  test('the descriptor is closed before the command starts', async () => {
    const ran = await run(`: ${T}; ls /proc/self/fd | tr '\\n' ' '; read -u 3 -t 1 line; echo "read: $?"`, {
      x: secret,
    })
    expect(ran.stdout.toString()).not.toMatch(/\b3 \d* read: 0/)
    expect(ran.stderr).toContain('3: ')
  })

  test('a value that does not arrive stops the command', async () => {
    const delivery = planDelivery(`echo RAN ${T}`, lookupIn({ x: 'longer than what is sent' }))
    if (delivery.kind !== 'bound') throw new Error('not bound')
    const child = spawn('bash', ['-c', `${bindingPrelude(delivery.bindings, '3')} && { ${delivery.script}\n}`], {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    })
    const out: string[] = []
    child.stdout?.on('data', (chunk) => out.push(String(chunk)))
    child.stderr?.on('data', (chunk) => out.push(String(chunk)))
    send(child, 'short')
    expect(await once(child, 'close')).toEqual([1, null])
    expect(out.join('')).toBe('cerith: the secret values did not arrive\n')
  })
})

describe('any bytes but NUL arrive', () => {
  test.each([
    ['UTF-8', ''],
    ['C', 'LC_ALL=C'],
    ['read-only locale', 'readonly LC_ALL'],
  ])('all 255 of them, in a %s shell', async (_name, before) => {
    const value = Uint8Array.from({ length: 255 }, (_, index) => index + 1)
    const ran = await run(`printf %s ${T}; printf %s {{secret:y}}`, { x: value, y: Buffer.from([0xc3]) }, { before })
    expect(ran.stdout).toEqual(Buffer.concat([value, Buffer.from([0xc3])]))
  })

  test('a megabyte, in far less time than a byte per system call takes', async () => {
    const value = Buffer.alloc(1 << 20, 'line of text\n')
    const start = performance.now()
    const ran = await run(`printf %s ${T} | cksum; printf %s ${T}`, { x: value })
    expect(ran.stdout.subarray(-value.length).equals(value)).toBe(true)
    expect(performance.now() - start).toBeLessThan(5_000)
  })

  test('many values, empty ones among them, over a FIFO', async () => {
    const dir = temporaryFolder('fifo')
    try {
      const fifo = join(dir, "it's a fifo")
      const bindings = ['', 'a\n', '', ' b ', 'ü'].map((text, index) => ({
        variable: `__cerith_v${index}`,
        value: Buffer.from(text),
      }))
      const quoted = `'${fifo.replaceAll("'", `'\\''`)}'`
      const script = `mkfifo ${quoted}; (cat <&3 >${quoted}) & ${bindingPrelude(bindings, quoted)} && printf '[%s]' "$__cerith_v0" "$__cerith_v1" "$__cerith_v2" "$__cerith_v3" "$__cerith_v4"; ${bindingEpilogue(bindings)}; compgen -v __cerith`
      const child = spawn('bash', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit', 'pipe'] })
      const out: Buffer[] = []
      child.stdout?.on('data', (chunk: Buffer) => out.push(chunk))
      send(child, bindingPayload(bindings))
      await once(child, 'close')
      expect(Buffer.concat(out).toString()).toBe('[][a\n][][ b ][ü]')
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })

  test('no bindings are no code', () => {
    expect([bindingPrelude([], '3'), bindingEpilogue([]), bindingPayload([]).length]).toEqual([':', ':', 0])
  })
})

test('F75: while a command with a secret runs, no process of it shows the value in argv or environ', async () => {
  const delivery = planDelivery(`X=${T}; sleep 30 & echo ready; wait`, lookupIn({ x: 'findable-s3cr3t' }))
  if (delivery.kind !== 'bound') throw new Error('not bound')
  const child = spawn('bash', ['-c', `${bindingPrelude(delivery.bindings, '3')} && { ${delivery.script}\n}`], {
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
    detached: true,
  })
  send(child, bindingPayload(delivery.bindings))
  try {
    await once(child.stdout as import('node:stream').Readable, 'data')
    const group = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && statField(pid, 2) === String(child.pid))
    expect(group.length).toBe(2)
    for (const pid of group)
      for (const file of ['cmdline', 'environ'])
        expect(readFileSync(`/proc/${pid}/${file}`, 'latin1')).not.toContain('findable')
  } finally {
    process.kill(-(child.pid as number), 'SIGKILL')
    await once(child, 'close')
  }
})

function send(child: ChildProcess, payload: string | Uint8Array): void {
  const pipe = child.stdio[3] as import('node:stream').Writable
  pipe.on('error', () => {}) // the other end may be gone before it has read everything
  pipe.end(payload)
}

function statField(pid: string, index: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[index]
  } catch {
    return undefined
  }
}

test('our variables can be told from others', async () => {
  const delivery = planDelivery(`echo ${T}`, lookupIn({ x: 'value' }))
  expect(
    delivery.kind === 'bound' &&
      delivery.bindings.every(({ variable }) => isBindingVariable(variable) && /^[A-Za-z_]\w*$/.test(variable)),
  ).toBe(true)
  expect(isBindingVariable('HOME')).toBe(false)
  const ran = await runScript('echo plain', [])
  expect(ran.stdout.toString()).toBe('plain\n')
})
