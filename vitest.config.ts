import { configDefaults, defineConfig } from 'vitest/config';

/**
 * Tests that change what a process has only once: its environment, a module or prototype of Node, the time below which no new id
 * is made.
 */
const OWN_PROCESS = [
  'test/api/token-verifier.test.ts',
  'test/clients/javascript/faults.test.ts',
  'test/next-migrations.test.ts',
  'test/queue/poll-spacing.test.ts',
  'test/storage/open-writes.test.ts',
  'test/support/store-servers.test.ts',
  'test/worker/sandbox.test.ts',
];

const common = {
  testTimeout: 120_000,
  hookTimeout: 180_000,
  pool: 'forks',
} as const;

export default defineConfig({
  test: {
    globalSetup: 'test/support/global-setup.ts',
    maxWorkers: 4, // for two cores: tests of outages and time limits mostly wait
    projects: [
      {
        test: {
          ...common,
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...OWN_PROCESS],
          setupFiles: 'test/support/shared-process.ts',
          isolate: false, // loading all modules again for each file would double the CPU time of a run
        },
      },
      { test: { ...common, name: 'own process', include: OWN_PROCESS } },
    ],
  },
});
