import { defineConfig } from 'vitest/config';

/** The tests of pure rules, which need no stores. `npm run test:mutants` runs them for each fault. */
export default defineConfig({ test: { include: ['test/domain/**/*.test.ts'] } });
