import { defineConfig } from 'vitest/config';

/** Plans and pages read of every list, with a million answers of which one tenant has most: `npm run test:plans`. */
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
