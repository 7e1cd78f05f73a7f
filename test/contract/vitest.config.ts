import { defineConfig } from 'vitest/config';

/** Checks `docs/openapi.json` with linters, against the released document, and with generated requests: `npm run test:contract`. */
export default defineConfig({
  test: {
    include: ['test/contract/**/*.check.ts'],
    globalSetup: 'test/support/global-setup.ts',
    testTimeout: 600_000,
    hookTimeout: 600_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
