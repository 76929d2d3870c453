// Fetches Debian's source package of bash into a folder, without touching the machine's own lists.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const SOURCES = '/etc/apt/sources.list.d/debian.sources'

/** The folder of the unpacked source, or why there is none. */
export function fetchBashSource(scratch) {
  if (process.getuid?.() !== 0 || !existsSync(SOURCES))
    return { why: 'only root on Debian can fetch the source package' }
  const dir = join(scratch, 'source')
  mkdirSync(join(dir, 'lists', 'partial'), { recursive: true })
  const stanza = readFileSync(SOURCES, 'utf8')
    .split('\n\n')[0]
    .replace(/^Types:.*$/m, 'Types: deb-src')
  writeFileSync(join(dir, 'src.sources'), `${stanza}\n`)
  const apt = (...words) =>
    spawnSync(
      'apt-get',
      [
        '-o',
        `Dir::Etc::sourcelist=${join(dir, 'src.sources')}`,
        '-o',
        'Dir::Etc::sourceparts=-',
        '-o',
        `Dir::State::lists=${join(dir, 'lists')}`,
        ...words,
      ],
      { cwd: dir, stdio: 'ignore', timeout: 300_000 },
    ).status === 0
  if (!apt('update', '-qq')) return { why: 'the list of source packages could not be fetched' }
  if (!apt('source', '-qq', '--download-only', 'bash'))
    return { why: 'the source package of bash could not be fetched' }
  const archive = readdirSync(dir).find((file) => /\.orig\.tar\./.test(file))
  if (!archive || spawnSync('tar', ['xf', archive], { cwd: dir }).status !== 0)
    return { why: 'the source package could not be unpacked' }
  const folder = readdirSync(dir).find((file) => /^bash-[\d.]+$/.test(file))
  return folder ? join(dir, folder) : { why: 'the source package holds no bash' }
}
