import path from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // More than there are cores: many tests wait for a broker or for a process.
    maxWorkers: 3,
    env: {
      // The embedded engine answers on the thread pool; the default of four starves it.
      UV_THREADPOOL_SIZE: '16',
      // Halves the start of the processes that tests run.
      NODE_COMPILE_CACHE: path.resolve('node_modules/.cache/compile'),
    },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
