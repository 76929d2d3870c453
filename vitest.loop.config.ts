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

/** What is different by intent, and what looks into the process or the files of an engine that is this very process. */
const NOT_THROUGH_FRAMES = [
  // The state of sessions is on tmpfs there.
  'a saved state is private',
  // Looks at the descriptors of the host.
  'leak neither descriptors nor directories',
  // The card shows the directory with its place; test/reach/approvals.test.ts has the same.
  'runs once after `approve` from elsewhere',
]

export default mergeConfig(
  base,
  defineConfig({
    plugins: [throughFrames],
    test: {
      env: { CERITH_TEST_AT: 'loop:' },
      testNamePattern: new RegExp(`^(?!.*(?:${NOT_THROUGH_FRAMES.join('|')}))`),
    },
  }),
)
