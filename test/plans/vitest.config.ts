import { defineConfig } from 'vitest/config';

/**
 * Plans and read pages of every list, with a million answers, most of one tenant: `npm run test:plans`. `PLANS_ANSWERS` sets
 * their number; `PLANS_REPORT` names a file for the ten statements that read the most pages, with their plans.
 */
export default defineConfig({
  test: {
    include: ['test/plans/*.check.ts'],
    globalSetup: 'test/support/global-setup.ts',
    testTimeout: 120_000,
    hookTimeout: 1_200_000,
    pool: 'forks',
    maxWorkers: 1,
  },
});
