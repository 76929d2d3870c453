import { defineConfig } from 'vitest/config'

/** Part of `npm run test:sandbox`: random policies, and real work in rooms. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/sandbox/*.play.ts'],
    globalSetup: ['test/global-setup.ts'],
    testTimeout: 300_000,
    hookTimeout: 240_000,
    pool: 'forks',
    maxWorkers: 2,
  },
})
