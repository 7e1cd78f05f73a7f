import { defineConfig } from 'vitest/config';

/** Whole apps of web frameworks in a browser. `npm run test:frameworks` installs them from npm: minutes. */
export default defineConfig({
  test: {
    include: ['test/frameworks/**/*.check.ts'],
    globalSetup: 'test/support/global-setup.ts',
    testTimeout: 600_000,
    hookTimeout: 600_000,
    pool: 'forks',
    maxWorkers: 1,
  },
});
