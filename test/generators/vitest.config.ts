import { defineConfig } from 'vitest/config';

/** Generates, compiles and runs clients from `docs/openapi.json` with common generators: `npm run test:generators`. */
export default defineConfig({
  test: {
    include: ['test/generators/*.check.ts'],
    globalSetup: 'test/support/global-setup.ts',
    testTimeout: 600_000,
    hookTimeout: 600_000,
    pool: 'forks',
    maxWorkers: 1,
  },
});
