/**
 * What a try costs beside the same sandbox without one: commands, writing, and what diff and accept take over a large
 * tree.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine } from '../src/index.js'
import { compare } from './lib/ratio.js'

const FILES = 24_000
const CHANGED = 1_000
const folder = mkdtempSync(join(tmpdir(), 'cerith-bench-'))
const [work, plain] = [join(folder, 'work'), join(folder, 'plain')]
mkdirSync(plain)
for (let at = 0; at < FILES; at++) {
  const dir = join(work, `d${at % 200}`)
  if (at < 200) mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, `f${at}`), `${at}\n`.repeat(200))
}
const sandbox = { profile: 'workspace', accept: 'always' } as const
const room = await createEngine({ cwd: plain, stateDir: join(folder, 'room'), sandbox })
const tried = await createEngine({ cwd: work, stateDir: join(folder, 'try'), sandbox: { ...sandbox, try: true } })
const time = async (what: string, work: () => Promise<unknown>): Promise<void> => {
  const began = performance.now()
  await work()
  console.log(`  ${what}: ${(performance.now() - began).toFixed(1)} ms`)
}
await time('the first command, with its room', () => room.run({ command: ':' }))
await time(`the first command, with its room, over ${FILES} files`, () => tried.run({ command: ':' }))

const [one, other] = [await room.session(), await tried.session()]
const pair = (command: string): [string, () => Promise<unknown>][] => [
  ['sandbox', () => one.run({ command })],
  ['try', () => other.run({ command })],
]
await compare("a session's command, `/bin/true`", pair('/bin/true'), 200)
await compare('making and removing 200 files', pair('for i in {1..200}; do echo $i >n$i; done; rm n*'), 10)

await other.run({ command: `for f in $(ls -d d*/f* | head -${CHANGED}); do echo more >>$f; done; rm d0/*; mkdir new` })
for (let round = 0; round < 3; round++) await time('diff (names)', () => tried.changes())
await time('diff (text)', () => tried.changes({ text: true }))
await time('accept', async () => console.log(`  ${(await tried.accept()).accepted.length} accepted`))
await room.close()
await tried.close()
rmSync(folder, { recursive: true, force: true })
