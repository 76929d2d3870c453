import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** Tests of rooms that leave no process behind: files share a worker, and what they import. */
const SHARED = 'audit config confine engine/plan env guard hooks output secrets tools vault'
  .split(' ')
  .map((room) => `test/${room}/**/*.test.ts`)
const NOT_HERE = ['test/hosts/**', 'test/nightly/**', 'node_modules/**']

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'shared', include: SHARED, exclude: NOT_HERE, isolate: false } },
      { extends: true, test: { name: 'alone', include: ['test/**/*.test.ts'], exclude: [...SHARED, ...NOT_HERE] } },
    ],
    globalSetup: ['test/global-setup.ts'],
    // Only what hangs for ever runs into these: a slow machine with noisy neighbours is no failure.
    testTimeout: 120_000,
    hookTimeout: 240_000,
    pool: 'forks',
    // One more than there are processors: most of the time a test waits for others.
    maxWorkers: Math.max(2, availableParallelism() + 1),
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      // These run in processes that this tool cannot look into: the page and its server (test:browser), the far side of
      // a link (the second half of `npm test`), the first files of the built program (test/cli).
      exclude: [
        'src/web/**',
        'src/far.ts',
        'src/engine/services/judge/worker.ts',
        'src/reach/far/**',
        'src/cli/main.ts',
        'src/cli/start.ts',
        'src/os/package/script.ts',
        'src/cli/io/process*.ts',
      ],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { lines: 90 },
    },
  },
})
