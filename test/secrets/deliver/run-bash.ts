/**
 * Runs a delivery in a real bash the two ways the engine does: `eval` in a fresh shell, and `source` in a shell that
 * goes on living.
 */
import { spawn } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bindingEpilogue, bindingPayload, bindingPrelude, type Binding } from '../../../src/secrets/deliver/binding.js'
import { planDelivery, type Delivery } from '../../../src/secrets/deliver/deliver.js'
import type { Token } from '../../../src/secrets/deliver/tokens.js'
import { temporaryFolder } from '../../fixtures/folder.js'

export interface Ran {
  readonly code: number | null
  readonly stdout: Buffer
  readonly stderr: string
}

export type Values = Readonly<Record<string, string | Uint8Array>>

/** A lookup over plain values; `decrypt:ID` as a key belongs to the token of that kind. */
export function lookupIn(values: Values): (token: Token) => Uint8Array | undefined {
  return ({ kind, name }) => {
    const value = kind === 'secret' ? values[name] : values[`decrypt:${name}`]
    return typeof value === 'string' ? Buffer.from(value) : value
  }
}

/** Plans and runs a command; a refusal is returned as it is and nothing runs. */
export async function runCommand(
  command: string,
  values: Values,
  options: { before?: string; after?: string; mode?: 'eval' | 'source'; cwd?: string } = {},
): Promise<Ran | Extract<Delivery, { kind: 'refused' }>> {
  const delivery = planDelivery(command, lookupIn(values))
  if (delivery.kind === 'refused') return delivery
  return runScript(delivery.script, delivery.kind === 'bound' ? delivery.bindings : [], options)
}

export async function runScript(
  script: string,
  bindings: readonly Binding[],
  options: { before?: string; after?: string; mode?: 'eval' | 'source'; cwd?: string } = {},
): Promise<Ran> {
  const { before = '', after = '', mode = 'eval' } = options
  const dir = temporaryFolder('run')
  const file = join(dir, 'script')
  writeFileSync(file, script)
  const body =
    mode === 'eval' ? `IFS= \\builtin read -r -d '' __text <'${file}' || :; eval "$__text"` : `source '${file}'`
  const boot = [
    before,
    `${bindingPrelude(bindings, '3')} && { ${body}\n}`,
    '__code=$?',
    bindingEpilogue(bindings),
    after,
    'exit "$__code"',
  ].join('\n')
  try {
    return await new Promise<Ran>((resolve, reject) => {
      const child = spawn('bash', ['-c', boot], {
        stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
        cwd: options.cwd ?? dir,
        env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', HOME: dir },
      })
      const out: Buffer[] = []
      const err: Buffer[] = []
      child.stdout?.on('data', (chunk: Buffer) => out.push(chunk))
      child.stderr?.on('data', (chunk: Buffer) => err.push(chunk))
      const pipe = child.stdio[3] as import('node:stream').Writable
      pipe.on('error', () => {})
      pipe.end(bindingPayload(bindings))
      child.on('error', reject)
      child.on('close', (code) => resolve({ code, stdout: Buffer.concat(out), stderr: Buffer.concat(err).toString() }))
    })
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
