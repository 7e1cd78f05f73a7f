import { defineConfig } from 'vitest/config';

/** `npm run test:restore-drill`: restores to a moment, with measured losses and times. It needs Docker, and minutes. */
export default defineConfig({
  test: {
    include: ['test/restore-drill/*.check.ts'],
    testTimeout: 600_000,
    pool: 'forks',
    fileParallelism: false,
  },
});
