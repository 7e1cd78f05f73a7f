import { defineConfig } from 'vitest/config';

/**
 * Tests with real processes that are killed, restarted, upgraded or watched: `npm run test:processes` takes minutes.
 */
export default defineConfig({
  test: {
    include: ['test/{commands,coordination,e2e,platform,worker}/*.check.ts'],
    globalSetup: 'test/support/global-setup.ts',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
