import { defineConfig } from 'vitest/config';

/**
 * Plans and read pages of every list, with a million answers, most of one tenant, and of the inbox of a tenant with a
 * million conversations: `npm run test:plans`. `PLANS_ANSWERS` and `PLANS_CONVERSATIONS` set their numbers; `PLANS_REPORT`
 * and `PLANS_INBOX_REPORT` name files for the ten statements that read the most pages, with their plans.
 */
export default defineConfig({
  test: {
    include: ['test/plans/*.check.ts'],
    globalSetup: 'test/support/global-setup.ts',
    testTimeout: 120_000,
    hookTimeout: 3_600_000,
    pool: 'forks',
    maxWorkers: 1,
  },
});
