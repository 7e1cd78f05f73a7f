import { defineConfig } from 'vitest/config';

/**
 * Checks of the clients as their users have them: packed, in a browser, and playing the scenario against a real server.
 * `npm run test:clients`, minutes long; what needs no server of its own is in `npm test`.
 */
export default defineConfig({
  test: {
    include: ['test/clients/**/*.check.ts'],
    globalSetup: 'test/support/global-setup.ts',
    testTimeout: 120_000,
    hookTimeout: 180_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
