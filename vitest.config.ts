import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // The embedded engine answers on the thread pool; the default of four starves it.
    env: { UV_THREADPOOL_SIZE: '16' },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
