import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The test files to run, in this order. */
const files = (process.env.MUTANTS_FILES ?? '').split('\n');
const isRecording = process.env.MUTANTS_CALLS !== undefined;

class InOrder extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => files.findIndex(file => moduleId.endsWith(`/${file}`));
    return specifications.sort((a, b) => place(a) - place(b));
  }
}

/**
 * The tests of `npm test` and `npm run test:processes` that can notice a fault. A failed test is repeated once, so that
 * a fault does not count as noticed because the machine was slow.
 */
export default defineConfig({
  test: {
    include: files,
    globalSetup: 'test/support/global-setup.ts',
    setupFiles: isRecording ? ['test/mutants/record-calls.ts'] : [],
    sequence: { sequencer: InOrder },
    testTimeout: isRecording ? 180_000 : files.some(file => file.endsWith('.check.ts')) ? 60_000 : 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 1,
    bail: isRecording ? 0 : 1,
    retry: 1,
  },
});
