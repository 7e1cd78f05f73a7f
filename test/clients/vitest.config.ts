import { defineConfig } from 'vitest/config';

/**
 * Tests of the clients as shipped: packed, in a browser, and running the scenario against a real server. `npm run
 * test:clients` takes minutes; tests that need no server are in `npm test`.
 */
export default defineConfig({
  test: {
    include: ['test/clients/**/*.check.ts'],
    globalSetup: 'test/support/global-setup.ts',
    testTimeout: 300_000,
    hookTimeout: 400_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
