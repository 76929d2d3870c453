/** Absolute paths as text, compared by whole names. */

/** Whether the path is the directory, or lies below it. */
export function isInside(path: string, directory: string): boolean {
  return path === directory || isBelow(path, directory)
}

export function isBelow(path: string, directory: string): boolean {
  return directory === '/' ? path !== '/' : path.startsWith(`${directory.replace(/\/+$/, '')}/`)
}
