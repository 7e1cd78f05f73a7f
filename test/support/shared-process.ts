import { afterAll, beforeAll, expect, vi } from 'vitest';
import { preparedTexts } from '../../src/storage/database/transaction.ts';
import { stores } from './stores.ts';
import { findTenantPlans } from './unlike-tenants.ts';

const EVENTS = ['SIGINT', 'SIGTERM', 'uncaughtException', 'unhandledRejection', 'warning'] as const;

/** MikroORM adds these once. */
const OF_LIBRARIES = /^(MIKRO_ORM_.*|idx)$/;

/** The state of the process that all its test files share. Values of the environment may be secret. */
const readProcess = () => ({
  environment: { ...process.env },
  rest: {
    globals: Object.getOwnPropertyNames(globalThis)
      .filter(name => !OF_LIBRARIES.test(name))
      .sort(),
    listeners: EVENTS.map(event => `${process.listenerCount(event)} of ${event}`),
    fakeTimers: vi.isFakeTimers(),
  },
});

const changed = (before: NodeJS.ProcessEnv, after: NodeJS.ProcessEnv): string[] =>
  Object.keys({ ...before, ...after }).filter(name => before[name] !== after[name] && !OF_LIBRARIES.test(name));

let before: ReturnType<typeof readProcess>;
beforeAll(() => {
  before = readProcess();
});

/**
 * A file that leaves its process changed fails, instead of files after it in some orders only. One that has to change it belongs to
 * `OWN_PROCESS` in `vitest.config.ts`.
 */
afterAll(() => {
  const after = readProcess();
  expect(changed(before.environment, after.environment), 'variables that the file changed').toEqual([]);
  expect(after.rest, 'what all files of a process share').toEqual(before.rest);
});

let planned = 0;

/** Checks every statement that the tests of a file have sent, as long as they are the first of the process to send it. */
afterAll(async () => {
  const added = preparedTexts().slice(planned);
  planned += added.length;
  if (added.length === 0) return;
  const found = await findTenantPlans((await stores()).postgresUrl, added);
  expect(found, 'statements that are planned for the first tenant of a connection').toEqual([]);
});
