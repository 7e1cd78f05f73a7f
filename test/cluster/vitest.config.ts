import { defineConfig } from 'vitest/config';

/** Checks of the chart on a real cluster: `npm run test:cluster`. They need `KUBECONFIG` and half an hour. */
export default defineConfig({
  test: {
    include: ['test/cluster/*.check.ts'],
    globalSetup: 'test/cluster/find-cluster.ts',
    testTimeout: 900_000,
    hookTimeout: 600_000,
    pool: 'forks',
    fileParallelism: false,
  },
});
