// Tries with real mounts, played by `npm run test:sandbox` as root and as an ordinary user: what needs a user of its
// own, file systems of its own, or time.
// `node test/sandbox/try.mjs FOLDER`; each line of the answer is a scene that failed.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createEngine } from '../../dist/index.js'

const [base = '', only] = process.argv.slice(2)
const isRoot = process.geteuid() === 0
const LISTING = `find . -type d -printf '%p d %#m %u\\n' -o -printf '%p %y %#m %n %l %u\\n' | grep -v '^[.] ' | LC_ALL=C sort; find . -type f -exec md5sum {} + | LC_ALL=C sort -k 2`

function ground() {
  const folder = mkdtempSync(join(base, 'try-'))
  const work = join(folder, 'work')
  mkdirSync(work)
  return { folder, work, stateDir: join(folder, 'state') }
}
const open = ({ work, stateDir }, more = {}) =>
  createEngine({ cwd: work, stateDir, sandbox: { profile: 'workspace', try: true, ...more } })
const yes = { ask: async () => 'once' }
const look = (work) => spawnSync('bash', ['-c', LISTING], { cwd: work, encoding: 'utf8' }).stdout
const same = (a, b, what) => {
  if (JSON.stringify(a) !== JSON.stringify(b))
    throw new Error(`${what}: ${JSON.stringify(a)} is not ${JSON.stringify(b)}`)
}

const SCENES = {
  async 'what was accepted is what the command saw'() {
    const place = ground()
    for (const file of ['a', 'b', 'c']) writeFileSync(join(place.work, file), file)
    const engine = await open(place)
    const { stdout } = await engine.run({
      command: `echo 2 >>a; rm b; mkdir -m 700 d; echo x >d/x; ln -s a l; mkdir -m 500 shut; ${LISTING}`,
    })
    same((await engine.accept(yes)).kept, [], 'kept')
    same(look(place.work), stdout, 'listing')
    await engine.close()
  },
  async 'directories that nobody may read are shown and discarded'() {
    const place = ground()
    const engine = await open(place)
    await engine.run({ command: 'mkdir -p x/y; echo z >x/y/z; chmod 0 x/y x' })
    same((await engine.changes()).changes.length, 3, 'changes')
    await engine.discard()
    same(
      existsSync(join(place.stateDir, 'tries')) && spawnSync('ls', [join(place.stateDir, 'tries')]).stdout.toString(),
      '',
      'left',
    )
    await engine.close()
  },
  async 'profile strict'() {
    const place = ground()
    const engine = await open(place, { profile: 'strict' })
    const outcome = await engine.run({ command: 'echo a >a; test -e /var/log; echo $?; cat a' })
    same([outcome.stdout, existsSync(join(place.work, 'a'))], ['1\na\n', false], 'run')
    same((await engine.accept(yes)).accepted, [join(place.work, 'a')], 'accepted')
    await engine.close()
  },
  async 'set-group-id directories stay so, and files of theirs keep their group'() {
    const place = ground()
    mkdirSync(join(place.work, 'team'))
    chmodSync(join(place.work, 'team'), 0o2775)
    writeFileSync(join(place.work, 'team/old'), 'x')
    const engine = await open(place)
    await engine.run({ command: 'umask 022; echo y >team/old; mkdir team/new; echo z >team/new/z' })
    same((await engine.accept(yes)).kept, [], 'kept')
    same((lstatSync(join(place.work, 'team')).mode & 0o7777).toString(8), '2775', 'mode')
    same((lstatSync(join(place.work, 'team/new')).mode & 0o7777).toString(8), '2755', 'mode of the new one')
    await engine.close()
  },
  async 'files of other owners keep them (root)'() {
    if (!isRoot) return 'only root has files of others'
    const place = ground()
    for (const [file, id] of [
      ['mine', 0],
      ['theirs', 1234],
    ]) {
      writeFileSync(join(place.work, file), 'old\n')
      chownSync(join(place.work, file), id, id)
      chmodSync(join(place.work, file), 0o666)
    }
    const engine = await open(place)
    const { stderr } = await engine.run({ command: 'echo new >>theirs; echo new >>mine; touch fresh' })
    same([stderr, (await engine.accept(yes)).kept], ['', []], 'accept')
    same(
      ['mine', 'theirs', 'fresh'].map((file) => statSync(join(place.work, file)).uid),
      [0, 1234, 0],
      'owners',
    )
    same(readFileSync(join(place.work, 'theirs'), 'utf8'), 'old\nnew\n', 'content')
    await engine.close()
  },
  async 'a file of another group is told'() {
    const groups = process.getgroups().filter((group) => group !== process.getegid())
    if (isRoot || groups.length === 0) return 'this user has one group'
    const place = ground()
    writeFileSync(join(place.work, 'f'), 'old\n')
    chownSync(join(place.work, 'f'), process.getuid(), groups[0])
    const engine = await open(place)
    const outcome = await engine.run({ command: 'echo new >>f' })
    same(
      outcome.exitCode !== 0 &&
        outcome.notes
          .map(({ text }) => text)
          .join(' ')
          .includes('group'),
      true,
      `told (${outcome.notes.map(({ text }) => text).join(' ')})`,
    )
    await engine.close()
  },
  async 'a root in which something else is mounted is refused by name'() {
    const place = ground()
    mkdirSync(join(place.work, 'other'))
    const said = inMounts(`mount -t tmpfs other ${join(place.work, 'other')}`, place)
    if (said !== null)
      same(/SANDBOX_UNAVAILABLE .*another file system \(tmpfs\) is mounted in it at .*other/.test(said), true, said)
  },
  async 'what was mounted in a directory since it was removed in the try stays, also by force'() {
    const place = ground()
    const { work, stateDir } = place
    for (const dir of ['gone', 'turned']) {
      mkdirSync(join(work, dir, 'deep/mnt'), { recursive: true })
      writeFileSync(join(work, dir, 'a'), 'a')
    }
    const engine = await open(place)
    await engine.run({ command: 'rm -rf gone turned; echo a file >turned' })
    await engine.close()
    const played = spawnSync(
      'unshare',
      [
        '-rm',
        'bash',
        '-c',
        `for one in gone turned; do mount -t tmpfs x "$one/deep/mnt" && echo precious >"$one/deep/mnt/file" || exit; done
         "$@" accept --force; cat gone/deep/mnt/file turned/deep/mnt/file gone/a; ls -A`,
        'bash',
        process.execPath,
        fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url)),
      ],
      { encoding: 'utf8', cwd: work, env: { ...process.env, CERITH_HOME: stateDir } },
    )
    if (/unshare failed|mount: .*(?:permission|not permitted)/.test(played.stderr)) return 'no mounts of its own here'
    same(played.stdout, 'precious\nprecious\nagone\nturned\n', `left (${played.stderr})`)
    same(played.stderr.match(/something is mounted there/g)?.length, 2, `told (${played.stderr})`)
  },
  async 'what cannot be removed stays where it was, and nothing is left beside it (root)'() {
    if (!isRoot) return 'only root makes files immutable'
    const place = ground()
    const { work } = place
    for (const dir of ['gone', 'turned', 'twice']) {
      mkdirSync(join(work, dir))
      writeFileSync(join(work, dir, 'kept'), 'kept')
    }
    const engine = await open(place)
    // A file with two names is copied, the others are moved.
    await engine.run({ command: 'rm -rf gone turned twice; echo a file >turned; echo a file >twice; ln twice other' })
    const files = ['gone', 'turned', 'twice'].map((dir) => join(work, dir, 'kept'))
    if (spawnSync('chattr', ['+i', ...files]).status !== 0) return 'no immutable files here'
    try {
      const { accepted, kept } = await engine.accept({ ...yes, force: true })
      same([accepted, kept.length], [[join(work, 'other')], 3], 'accepted')
      same(readdirSync(work).sort(), ['gone', 'other', 'turned', 'twice'], 'names')
      for (const file of files) same(readFileSync(file, 'utf8'), 'kept', file)
      spawnSync('chattr', ['-i', ...files])
      same((await engine.accept({ ...yes, force: true })).left, 0, 'left')
      same(readdirSync(work).sort(), ['other', 'turned', 'twice'], 'names at last')
    } finally {
      spawnSync('chattr', ['-i', ...files])
      await engine.close()
    }
  },
  async 'a state directory on an overlay is refused with the reason'() {
    const place = ground()
    for (const dir of ['low', 'up', 'wk', 'state']) mkdirSync(join(place.folder, dir))
    const said = inMounts(
      `cd ${place.folder} && mount -t overlay o state -o lowerdir=low,upperdir=up,workdir=wk,userxattr`,
      place,
    )
    if (said === null) return 'no mounts of its own here'
    same(/SANDBOX_UNAVAILABLE .*its layer is on overlay.*CERITH_HOME/.test(said), true, said)
  },
}

/** Plays one command after a mount, in namespaces that go with it; null where those cannot be made. */
function inMounts(mount, { work, stateDir }) {
  const program = fileURLToPath(import.meta.url)
  const played = spawnSync(
    'unshare',
    ['-rm', 'bash', '-c', `${mount} && exec ${process.execPath} ${program} ${work} ${stateDir}`],
    {
      encoding: 'utf8',
      env: { ...process.env, CERITH_TRY_ONE: '1' },
    },
  )
  return /unshare failed|mount: .*(?:permission|not permitted)/.test(played.stderr)
    ? null
    : `${played.stdout}${played.stderr}`
}

if (process.env['CERITH_TRY_ONE']) {
  const engine = await createEngine({ cwd: base, stateDir: only, sandbox: { profile: 'workspace', try: true } })
  const said = await engine.run({ command: 'echo ran' }).then(
    ({ stdout }) => stdout,
    (error) => `${error.code} ${error.message} ${error.hint}`,
  )
  console.log(said)
  await engine.close()
} else {
  let failed = 0
  for (const [name, play] of Object.entries(SCENES)) {
    if (only && !name.includes(only)) continue
    try {
      const skipped = await play()
      console.log(skipped ? `skip  ${name}: ${skipped}` : `ok    ${name}`)
    } catch (error) {
      failed += 1
      console.log(`FAIL  ${name}: ${error.message}`)
    }
  }
  process.exit(failed > 0 ? 1 : 0)
}
