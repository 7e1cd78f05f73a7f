import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';

/*
 * Set-up of the run that records which functions each test file calls. The test process writes its own calls at the
 * end; its child processes write theirs into the same folder when they exit.
 */
const folder = join(process.env.MUTANTS_CALLS as string, randomUUID());
mkdirSync(folder, { recursive: true });
process.env.NODE_V8_COVERAGE = folder;

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

afterAll(async () => {
  const coverage = await session.post('Profiler.takePreciseCoverage');
  writeFileSync(join(folder, 'coverage-own.json'), JSON.stringify(coverage));
  const file = expect.getState().testPath as string;
  writeFileSync(
    join(folder, 'test-file.json'),
    JSON.stringify({ file, durationMs: Math.ceil(process.uptime() * 1000) }),
  );
});
