import { afterEach, expect, inject, test, vi } from 'vitest';
import { findDockerFault } from './store-servers.ts';

const MISSING = 'localhost:1/parley/missing:1';

afterEach(() => void vi.unstubAllEnvs());

test.runIf(inject('hasDocker'))('an engine that has the stores but cannot pull the cleaner is not used', async () => {
  vi.stubEnv('RYUK_CONTAINER_IMAGE', MISSING);
  vi.stubEnv('TESTCONTAINERS_RYUK_DISABLED', 'false');
  expect(await findDockerFault()).toEqual(expect.any(String));
  vi.stubEnv('TESTCONTAINERS_RYUK_DISABLED', 'true'); // then the cleaner is not needed
  expect(await findDockerFault()).toBeUndefined();
});
