// Packages of Debian and Ubuntu unpacked into folders: other versions and other processors, without installing them.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Kept between runs. */
export const cache = join(tmpdir(), `cerith-matrix-${process.getuid?.() ?? 0}`)

const ARCHIVES = {
  debian: 'http://deb.debian.org/debian',
  ubuntu: 'http://archive.ubuntu.com/ubuntu',
}

/**
 * Unpacks the packages of one release into a folder (by name, or the newest of a pattern); answers the folder. Throws
 * with a word when they cannot be had.
 */
export async function unpack({ archive, suite, arch = 'amd64', names }) {
  const digest = createHash('sha256').update(names.join()).digest('hex').slice(0, 12)
  const folder = join(cache, `${suite}-${arch}-${digest}`)
  if (existsSync(folder)) return folder
  const list = await packagesOf(archive, suite, arch)
  const staging = `${folder}.${process.pid}`
  mkdirSync(staging, { recursive: true, mode: 0o755 })
  for (const name of names) {
    const about = typeof name === 'string' ? list.get(name) : [...list].findLast(([each]) => name.test(each))?.[1]
    if (!about) throw new Error(`${suite} has no package ${String(name)}`)
    const bytes = await download(`${ARCHIVES[archive]}/${about.file}`)
    if (createHash('sha256').update(bytes).digest('hex') !== about.sha256) throw new Error(`${name} arrived damaged`)
    const file = join(staging, 'package.deb')
    writeFileSync(file, bytes)
    must('dpkg-deb', ['-x', file, staging])
  }
  renameSync(staging, folder)
  return folder
}

async function packagesOf(archive, suite, arch) {
  const file = join(cache, `${suite}-${arch}.list`)
  if (!existsSync(file)) {
    mkdirSync(cache, { recursive: true, mode: 0o755 })
    const packed = `${file}.${process.pid}.xz`
    writeFileSync(packed, await download(`${ARCHIVES[archive]}/dists/${suite}/main/binary-${arch}/Packages.xz`))
    must('xz', ['-d', packed])
    renameSync(packed.slice(0, -'.xz'.length), file)
  }
  const list = new Map()
  for (const stanza of readFileSync(file, 'utf8').split('\n\n')) {
    const field = (name) => new RegExp(`^${name}: (.*)$`, 'm').exec(stanza)?.[1]
    const name = field('Package')
    if (name) list.set(name, { file: field('Filename'), sha256: field('SHA256') })
  }
  return list
}

export async function download(url) {
  const response = await fetch(url, { signal: AbortSignal.timeout(120_000) }).catch((error) => ({ ok: false, error }))
  if (!response.ok) throw new Error(`${url} cannot be fetched (${response.status ?? response.error.message})`)
  return Buffer.from(await response.arrayBuffer())
}

/** A bash with the C library of its own release: nothing of this machine's is needed to start it. */
export async function otherBash(version, { archive, suite, terminfo }) {
  const folder = await unpack({ archive, suite, names: ['bash', 'libc6', terminfo] })
  const patched = join(folder, `bash-${version}`)
  if (existsSync(patched)) return patched
  const found = (pattern) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((name) => pattern.test(`/${name}`))
  const [loader, library, terminal] = [
    found(/\/x86_64-linux-gnu\/ld-linux-x86-64\.so\.2$/),
    found(/\/x86_64-linux-gnu\/libc\.so\.6$/),
    found(/\/libtinfo\.so\.\d$/),
  ].map((name) => join(folder, name))
  const staging = `${patched}.${process.pid}`
  must('cp', [join(folder, existsSync(join(folder, 'bin/bash')) ? 'bin/bash' : 'usr/bin/bash'), staging])
  const paths = [library, terminal].map((file) => file.slice(0, file.lastIndexOf('/'))).join(':')
  must('patchelf', ['--set-interpreter', loader, '--force-rpath', '--set-rpath', paths, staging])
  renameSync(staging, patched)
  return patched
}

/** A Node or another runtime from npm. */
export function fromNpm(name, version, path) {
  const folder = join(cache, `${name.replace(/\W/g, '-')}-${version}`)
  const file = join(folder, 'node_modules', path)
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true })
    const words = [
      'install',
      '--silent',
      '--force',
      '--no-audit',
      '--no-fund',
      '--prefix',
      folder,
      `${name}@${version}`,
    ]
    spawnSync('npm', words, { stdio: 'ignore' })
  }
  if (!existsSync(file)) throw new Error(`${name}@${version} could not be installed`)
  return file
}

export function must(command, args, options = {}) {
  const result = spawnSync(command, args, { encoding: 'utf8', ...options })
  if (result.error?.code === 'ENOENT') throw new Error(`${command} is not installed`)
  if (result.status !== 0) throw new Error(`${command} ${args.slice(0, 3).join(' ')} failed: ${result.stderr?.trim()}`)
  return result.stdout
}
