import { fileURLToPath } from 'node:url'
import { defineConfig, mergeConfig } from 'vitest/config'
import base from './vitest.config.js'

/** The tests of the engine's face once more, through frames: whatever `src/index.ts` calls `createEngine` gets a link. */
const throughFrames = {
  name: 'through-frames',
  enforce: 'pre' as const,
  resolveId(source: string, importer: string | undefined) {
    if (!source.endsWith('setup/create-engine.js') || !importer?.endsWith('/src/index.ts')) return null
    return fileURLToPath(new URL('test/reach/create-engine-at.ts', import.meta.url))
  },
}

export default mergeConfig(
  base,
  defineConfig({
    plugins: [throughFrames],
    test: { env: { CERITH_TEST_AT: 'loop:' }, setupFiles: ['test/reach/through-frames.ts'] },
  }),
)
