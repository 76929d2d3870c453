/**
 * The guard of a real session: what its shell holds, and what the disk says, decide. Nothing that is labelled dangerous
 * ever runs: it is only judged.
 */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createEngine, type Engine } from '../../src/index.js'
import { temporaryFolder } from '../fixtures/folder.js'

const dir = temporaryFolder('guard')
const work = join(dir, 'work')
const state = join(dir, 'state')
mkdirSync(work)
const engine: Engine = await createEngine({ cwd: work, stateDir: state, env: { PATH: process.env['PATH'], HOME: dir } })
afterAll(async () => {
  await engine.close()
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

test('what every shell holds does not keep a command from passing at a first look', async () => {
  const session = await engine.session('look')
  for (const command of ['true', 'X=1', 'cd .', 'ls | wc -l']) await session.run({ command })
  const verdict = await engine.check('ls -la | head -3', { session: 'look' })
  // Of a verdict that was walked they are known at once.
  expect(Object.getOwnPropertyDescriptor(verdict, 'commands')?.get).toBeDefined()
  await session.close()
})

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
    ['pushd / >/dev/null; pushd /tmp >/dev/null', 'rm -rf ~1/*'],
    ['pushd / >/dev/null; pushd /tmp >/dev/null', 'rm -rf ~+1/*'],
    ['pushd / >/dev/null; pushd /tmp >/dev/null', 'rm -rf "${DIRSTACK[1]}"'],
    ['pushd / >/dev/null; pushd /tmp >/dev/null', 'pushd && rm -rf *'],
    ['pushd / >/dev/null; pushd /tmp >/dev/null', 'pushd +1; rm -rf *'],
    ["shopt -s expand_aliases; alias r='rm -rf ' h='/'", 'r h'],
    ["shopt -s expand_aliases; alias sudo='sudo ' zap='rm -rf /'", 'sudo zap'],
    ['f() { g "$@"; }; g() { rm -rf "$2"; }', 'f a /'],
    ['f() { rm -rf /; }; export -f f', 'bash -c f'],
    ['export T=/', `bash -c 'rm -rf "$T"'`],
    ['ls() { command rm "$@"; }', 'ls -rf /'],
    ["IFS=,; L='rm,-rf,/'", '$L'],
    ["C='rm -rf /'", 'eval "$C" &'],
    ['CDPATH=/', 'cd usr && rm -rf *'],
    ["echo 'rm -rf /' > later.sh", 'bash later.sh'],
    ["echo 'rm -rf /' > later.sh; chmod +x later.sh", './later.sh'],
    ["printf '#!/bin/sh\\nrm -rf ~\\n' > later2; chmod +x later2", 'true; ./later2'],
    ["cat > later.py <<'E'\nimport shutil\nshutil.rmtree('/')\nE", 'python3 later.py'],
    ["echo 'rm -rf /' > later.txt", 'sh < later.txt'],
    ['printf \'import os\\nos.system("rm -rf /")\\n\' > mod5.py', "python3 -c 'import mod5'"],
    ["echo \"require('fs').rmSync('/',{recursive:true})\" > k2.js", `node -e 'require("./k2")'`],
    ['echo cm0gLXJmIC8K > b64', 'base64 -d b64 | sh'],
    ["echo 'rm -rf' > p1; echo / > p2", 'eval "$(cat p1) $(cat p2)"'],
    ['echo / > target', 'xargs rm -rf < target'],
    ['echo -rf / > args', 'rm $(<args)'],
    ['exec 5<<< "rm -rf /"', 'sh <&5'],
    ['read -ra W <<< "-rf /"', 'rm "${W[@]}"'],
    ['ln -sfn /etc/passwd pw', 'truncate -s0 pw'],
    ["echo 'rm -rf /' > s5; ln -sfn s5 s6", 'sh s6'],
    ["echo 'rm -rf /' > later.txt", 'source later.txt'],
    ["echo 'rm -rf /' > later.txt", 'PATH=.:$PATH; later.txt'],
    ["echo 'rm -rf' > later.sh; echo ok > other.txt", 'eval "$(cat later.sh) /"'],
    ["P='$X'; X=/", 'rm -rf "${P@P}"'],
    ['ln -sfn / away', 'rm -rf "$(readlink away)"'],
    ['ln -sfn / away', 'rm -rf "$(realpath away)"/*'],
    ['echo / > goal.txt', 'rm -rf "$(cat goal.txt)"'],
    ['echo / > goal.txt', 'xargs rm -rf < goal.txt'],
    ['echo / > goal.txt', 'while read -r p; do rm -rf "$p"; done < goal.txt'],
    ["echo 'export GOAL=/' > .goal", '. ./.goal && rm -rf "$GOAL"'],
    ["echo rm > w1; echo '-rf /' > w2", 'eval $(cat w1 w2)'],
    ["echo 'rm -rf /' | base64 > enc", 'base64 -d enc | sh'],
    ["echo 'unlink glob q(/etc/*)' > t.pl", 'perl t.pl'],
    ['cp /bin/rm ./tidy9', './tidy9 -rf /'],
    ["exec 7<<< 'rm -rf /'", 'bash <&7'],
    ["mkfifo line; (echo 'rm -rf /' > line &)", 'bash line'],
    ['mkdir -p bb; ln -sf /bin/rm bb/ls2; PATH=$PWD/bb:$PATH', 'ls2 -rf /'],
    ["printf 'rm -rf ' > p1; printf '/' > p2; cat p1 p2 > p3", 'sh p3'],
    ["cat > m.mk <<'E'\nall:\n\trm -rf /\nE", 'make -f m.mk'],
    ['echo /', 'rm -rf "$_"'],
    ['true /etc', 'rm -rf $_'],
    [': ~', 'rm -rf "$_"'],
    ['pushd /etc >/dev/null; pushd /tmp >/dev/null', 'rm -rf "$(dirs -l +1)"'],
    ['A=([7]=/etc)', 'rm -rf "${A[7]}"'],
    ['mkdir -p b2; ln -sf /bin/rm b2/ls; PATH=$PWD/b2:$PATH', 'ls -rf /etc'],
    ['cat /bin/rm > q3; chmod +x q3', './q3 -rf /usr'],
    ['echo \'require("fs").rmSync("/etc",{recursive:true})\' > n1.js', 'node n1'],
    ["echo '\\! rm -rf /etc' > x2.sql", 'psql -f x2.sql'],
    ["printf '/etc\\0' > list5", 'xargs -0 -a list5 rm -rf'],
    ['echo / > list6', 'tar -T list6 --remove-files -cf x.tar'],
    ['echo \'import os; os.system("rm -rf /etc")\' > conftest.py', 'pytest'],
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
    ['echo ./build', 'rm -rf "$_"'],
    ['mktemp -d', 'ls "$_"'],
    ['A=(x [7]=./build)', 'rm -rf "${A[7]}"'],
    ['D=$(mktemp -d)', 'rm -rf "${D}"/*'],
    ['A=(-rf ./build)', 'rm "${A[@]}"'],
    ['set -- ./build', 'rm -rf "$1"/*'],
    ['mkdir -p build; pushd build >/dev/null; pushd /tmp >/dev/null', 'rm -rf ~1/*'],
    ['mkdir -p build; ln -sfn build now', 'rm -rf "$(readlink now)"'],
    ["shopt -s expand_aliases; alias sudo='sudo ' ll='ls -l'", 'sudo ll'],
    ['echo ./build > goal.txt', 'rm -rf "$(cat goal.txt)"'],
    ['cp /bin/ls ./look', './look -l /'],
    ["echo 'export GOAL=./build' > .goal", '. ./.goal && rm -rf "$GOAL"'],
  ])('%s, then %s runs', async (first, last) => {
    expect(await judged(first, last)).toBe('allow')
  })

  test('a verdict that was kept is not given for another last word', async () => {
    const session = await engine.session('last-word')
    const rules: unknown[] = []
    for (const word of ['./build', '/etc', './build', '/etc']) {
      await session.run({ command: `echo ${word}` })
      rules.push((await session.run({ command: 'rm -rf "$_"', dryRun: true })).refused?.rule)
    }
    expect(rules).toEqual([undefined, 'wipe-system', undefined, 'wipe-system'])
  })

  test('a fork of the session knows it too', async () => {
    const session = await engine.session('parent')
    await session.run({ command: 'T=/; f() { rm -rf "$T"; }' })
    const child = await session.fork('child')
    for (const command of ['rm -rf "$T"', 'f'])
      expect([command, (await engine.check(command, { session: 'child' })).decision]).toEqual([command, 'deny'])
    await child.close()
    await session.close()
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

  test('a script that was mended outside of the session is judged by what it holds now', async () => {
    const session = await engine.session('mended')
    await session.run({ command: `cat > tidy.sh <<'E'\nrm -rf "$BUILD/"*\nE` })
    const again = { command: 'bash tidy.sh', dryRun: true }
    expect(await session.run(again)).toMatchObject({ status: 'refused', refused: { rule: 'wipe-root' } })
    expect((await engine.check('bash tidy.sh', { session: 'mended' })).decision).toBe('deny')
    writeFileSync(join(work, 'tidy.sh'), 'echo tidy\n')
    expect((await engine.check('bash tidy.sh', { session: 'mended' })).decision).toBe('allow')
    expect(await session.run({ command: 'bash tidy.sh' })).toMatchObject({ status: 'completed', stdout: 'tidy\n' })
    await session.close()
  })
})
