import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../../support/documents.ts';
import { openScenario, type Runner } from '../scenario.ts';

const runner: Runner = { command: process.execPath, args: [join(ROOT, 'clients/javascript/runner/run.ts')] };

let scenario: Awaited<ReturnType<typeof openScenario>>;
beforeAll(async () => {
  scenario = await openScenario();
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

test.each(['app', 'server'])('the part %s', name => scenario.play(runner, name));

test.each(['app-deliver', 'server-deliver'])(
  'the part %s, its replies lost and itself killed',
  async name => {
    await scenario.deliver(runner, name);
  },
  300_000,
);

test('a part that does not exist', async () => {
  expect(await scenario.exitCodeFor(runner, 'nothing')).toBe(2);
});
