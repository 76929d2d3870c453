/** The version of this package, from its package.json. */
import { readFileSync } from 'node:fs'

export function version(): string {
  // Bundled files stand in dist/ or dist/chunks/, sources in src/cli/.
  for (const place of ['../package.json', '../../package.json']) {
    try {
      const { name, version: found } = JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8')) as {
        name?: string
        version?: string
      }
      if (name === 'cerith' && found) return found
    } catch {
      // Not here.
    }
  }
  return 'unknown'
}
