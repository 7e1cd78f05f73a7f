import { defineConfig } from 'vitest/config';

/** Every alert, fired by breaking the real thing: `npm run test:alerts`. Needs Docker and Prometheus, and five minutes. */
export default defineConfig({
  test: {
    include: ['test/alerts/*.check.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    pool: 'forks',
    fileParallelism: false,
  },
});
