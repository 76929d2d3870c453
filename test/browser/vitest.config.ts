import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/browser/*.browser.ts'],
    globalSetup: ['test/global-setup.ts'],
    testTimeout: 300_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
  },
})
