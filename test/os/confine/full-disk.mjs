// Played by try-accept.test.ts on a file system of 2 MB: accepts more than fits, makes room, accepts again.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createEngine } from '../../../dist/index.js'

const [work, stateDir] = process.argv.slice(2)
writeFileSync(join(work, 'ballast'), Buffer.alloc(1_400_000))
writeFileSync(join(work, 'a1'), 'old\n')
const engine = await createEngine({
  cwd: work,
  stateDir,
  sandbox: { profile: 'workspace', try: true, accept: 'always' },
})
await engine.run({ command: 'for i in 1 2 3 4; do head -c 300000 /dev/zero | tr "\\0" $i >a$i; done' })
const first = await engine.accept()
const full = first.kept.some(({ reason }) => reason.includes('the disk is full')) && first.left > 0
const isWhole = (name) => {
  const text = readFileSync(join(work, name), 'utf8')
  return text === name.slice(1).repeat(300_000) || (name === 'a1' && text === 'old\n')
}
const files = () => readdirSync(work).filter((name) => name !== 'ballast')
const whole = files().every((name) => name.startsWith('.') || isWhole(name))
const leftovers = files().filter((name) => name.startsWith('.'))
rmSync(join(work, 'ballast'))
await engine.accept()
const resumed = ['a1', 'a2', 'a3', 'a4'].every(
  (name) => readFileSync(join(work, name), 'utf8') === name.slice(1).repeat(300_000),
)
console.log(JSON.stringify({ full, whole, leftovers, resumed }))
await engine.close()
