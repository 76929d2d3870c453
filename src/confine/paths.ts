/** Paths as text: absolute and canonical. */

export function depthOf(path: string): number {
  return path === '/' ? 0 : path.split('/').length - 1
}

export function join(directory: string, name: string): string {
  const parts = directory === '/' ? [] : directory.split('/').slice(1)
  for (const part of name.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..') parts.pop()
    else parts.push(part)
  }
  return `/${parts.join('/')}`
}

export function parentOf(path: string): string {
  const at = path.lastIndexOf('/')
  return at <= 0 ? '/' : path.slice(0, at)
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
