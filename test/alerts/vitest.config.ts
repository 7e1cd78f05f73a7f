import { defineConfig } from 'vitest/config';

/** Fires every alert by a real fault: `npm run test:alerts`. Needs Docker and Prometheus, and five minutes. */
export default defineConfig({
  test: {
    include: ['test/alerts/*.check.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    pool: 'forks',
    fileParallelism: false,
  },
});
