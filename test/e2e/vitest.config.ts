import { defineConfig } from 'vitest/config';

/**
 * Tests with real processes that are killed, restarted, upgraded or watched, with Sentinels, and of the memory of a process:
 * Runs for minutes: `npm run test:processes`.
 */
export default defineConfig({
  test: {
    include: ['test/{api,commands,coordination,e2e,platform,queue,worker}/*.check.ts'],
    globalSetup: 'test/support/global-setup.ts',
    testTimeout: 240_000,
    hookTimeout: 240_000,
    pool: 'forks',
    maxWorkers: 3, // for two cores: most of them wait for time limits
  },
});
