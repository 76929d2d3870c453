/** Tar archives in memory, in the form that every tar reads (ustar). */
import type { PackageFile } from './shipment.js'

const BLOCK = 512
export const TAR_END = Buffer.alloc(2 * BLOCK)

/**
 * The entries without the end of the archive: archives may follow each other, and the last one
 * is followed by `TAR_END`.
 */
export function tarOf(files: readonly PackageFile[]): Buffer {
  const folders = new Set<string>()
  for (const { path } of files)
    for (let at = path.indexOf('/'); at > 0; at = path.indexOf('/', at + 1)) folders.add(path.slice(0, at + 1))
  const parts: Uint8Array[] = []
  for (const folder of [...folders].sort()) parts.push(header(folder, 0o700, 0, '5'))
  for (const { path, mode, bytes } of files) {
    parts.push(header(path, mode, bytes.length, '0'), bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK))
  }
  return Buffer.concat(parts)
}

function header(path: string, mode: number, size: number, type: '0' | '5'): Buffer {
  const block = Buffer.alloc(BLOCK)
  // A long path is cut at a slash: its beginning has a field of its own.
  const cut = Buffer.byteLength(path) <= 100 ? -1 : path.indexOf('/', Math.max(0, path.length - 101))
  const name = path.slice(cut + 1)
  const prefix = cut < 0 ? '' : path.slice(0, cut)
  if (Buffer.byteLength(name) > 100 || Buffer.byteLength(prefix) > 155)
    throw new Error(`too long for an archive: ${path}`)
  block.write(name, 0)
  block.write(octal(mode, 7), 100)
  block.write(octal(0, 7), 108)
  block.write(octal(0, 7), 116)
  block.write(octal(size, 11), 124)
  block.write(octal(0, 11), 136)
  block.write('        ', 148)
  block.write(type, 156)
  block.write('ustar\0' + '00', 257)
  block.write(prefix, 345)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${octal(sum, 6)}\0 `, 148)
  return block
}

function octal(value: number, width: number): string {
  return value.toString(8).padStart(width, '0')
}
