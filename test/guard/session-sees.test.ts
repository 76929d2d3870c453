/** The guard of a real session: what its shell holds, and what the disk says, decide. Nothing that is labelled dangerous ever runs: it is only judged. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createEngine, type Engine } from '../../src/index.js'

const dir = realpathSync(mkdtempSync(join(tmpdir(), 'cerith-guard-')))
const work = join(dir, 'work')
const state = join(dir, 'state')
mkdirSync(work)
const engine: Engine = await createEngine({ cwd: work, stateDir: state, env: { PATH: process.env['PATH'], HOME: dir } })
afterAll(async () => {
  await engine.close()
  rmSync(dir, { recursive: true, force: true })
})

let sessions = 0

/** Runs the first commands and judges the last. */
async function judged(...commands: string[]): Promise<string> {
  const name = `s${++sessions}`
  const session = await engine.session(name)
  for (const command of commands.slice(0, -1)) {
    const outcome = await session.run({ command })
    expect([command, outcome.status]).toEqual([command, 'completed'])
  }
  const { decision } = await engine.check(commands[commands.length - 1] as string, { session: name })
  await session.close()
  return decision
}

describe('what the shell of a session holds is known', () => {
  test.each([
    ['cd /; cd /tmp', 'cd - && rm -rf *'],
    ['cd /; cd /tmp', 'rm -rf ~-/*'],
    ['OLDPWD=/', 'cd - && rm -rf *'],
    ['set -- /', 'rm -rf "$1"'],
    ['set -- -rf /', 'rm "$@"'],
    ['A=(-rf /etc)', 'rm "${A[@]}"'],
    ['declare -A M=([x]=/)', 'rm -rf "${M[x]}"'],
    ['T=/; declare -n R=T', 'rm -rf "$R"'],
    ['pushd / >/dev/null; pushd /tmp >/dev/null', 'popd && rm -rf *'],
    ['hash -p /bin/rm tidy', 'tidy -rf /'],
    ['X=$(echo /)', 'rm -rf "$X"'],
    ['read -r Y <<< /', 'rm -rf "$Y"'],
  ])('%s, then %s', async (first, last) => {
    expect(await judged(first, last)).toBe('deny')
  })

  test('a link to rm on PATH is rm', async () => {
    mkdirSync(join(dir, 'bin'), { recursive: true })
    symlinkSync('/bin/rm', join(dir, 'bin', 'tidy'))
    expect(await judged(`PATH=${dir}/bin:$PATH`, 'tidy -rf /')).toBe('deny')
    expect(await judged(`PATH=${dir}/bin:$PATH`, 'tidy -rf ./build')).toBe('allow')
  })

  test.each([
    ['D=$(mktemp -d)', 'rm -rf "$D/"*'],
    ['D=$(mktemp -d)', 'rm -rf "${D}"/*'],
    ['A=(-rf ./build)', 'rm "${A[@]}"'],
    ['set -- ./build', 'rm -rf "$1"/*'],
  ])('%s, then %s runs', async (first, last) => {
    expect(await judged(first, last)).toBe('allow')
  })

  test('a refusal that rests on what was not known yet asks the shell first', async () => {
    const session = await engine.session('live')
    await session.run({ command: 'D=$(mktemp -d); touch "$D/a"' })
    const outcome = await session.run({ command: 'rm -rf "$D/"*; ls -A "$D"; rmdir "$D"' })
    expect(outcome).toMatchObject({ status: 'completed', stdout: '' })
    await session.close()
  })
})

describe('links on the disk are followed', () => {
  const link = (name: string, target: string): void => symlinkSync(target, join(work, name))

  test('into the root, by path, by directory, through a session', async () => {
    link('root', '/')
    link('usr', '/usr/share')
    for (const command of [
      'rm -rf root/*',
      'rm -rf root/etc/*',
      'cd root && rm -rf *',
      'find root/ -delete',
      'find -L root -delete',
      'rm -rf usr/../bin',
      'chmod -R 777 root/',
    ])
      expect([command, (await engine.check(command)).decision]).toEqual([command, 'deny'])
    expect(await judged('cd root', 'rm -rf *')).toBe('deny')
    for (const command of ['rm root', 'rm -rf root', 'ls root/', 'find root -delete'])
      expect([command, (await engine.check(command)).decision]).toEqual([command, 'allow'])
  })

  test('a verdict does not outlive what it saw: the cache of the engine', async () => {
    mkdirSync(join(work, 'd'))
    expect((await engine.check('rm -rf d/')).decision).toBe('allow')
    rmSync(join(work, 'd'), { recursive: true })
    link('d', '/')
    expect((await engine.check('rm -rf d/')).decision).toBe('deny')
  })

  test('nor those of a session', async () => {
    mkdirSync(join(work, 'box'))
    const session = await engine.session('kept')
    for (let i = 0; i < 3; i++)
      expect(await session.run({ command: 'touch box/new' })).toMatchObject({ status: 'completed' })
    rmSync(join(work, 'box'), { recursive: true })
    link('box', state)
    expect(await session.run({ command: 'touch box/new' })).toMatchObject({
      status: 'refused',
      refused: { rule: 'protected-path' },
    })
    await session.close()
  })
})
