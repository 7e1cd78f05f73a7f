import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readSchemaState } from '../../src/storage/migrate.ts';
import { NEEDED_SCHEMA } from '../../src/storage/migrations/index.ts';
import { checkOutPrevious, type PreviousVersion } from '../faults/previous-version.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { newSecretKey } from '../support/keychain.ts';
import { sendAnswers } from '../support/load.ts';
import { runCommand, startProcess } from '../support/process.ts';
import { waitFor } from '../support/wait.ts';

/** The oldest version that `oldest_compatible` promises to support, with its own packages. */
let previous: PreviousVersion;
let database: TestDatabase;
beforeAll(async () => {
  [previous, database] = await Promise.all([checkOutPrevious(), createDatabase()]);
}, 300_000);
afterAll(async () => {
  previous?.[Symbol.dispose]();
  await database?.[Symbol.asyncDispose]();
});

describe("the previous version on today's schema", () => {
  test('is promised by the schema', async () => {
    const index = readFileSync(join(dirname(previous.program), 'storage/migrations/index.ts'), 'utf8');
    const needed = Number(/NEEDED_SCHEMA = (\d+)/.exec(index)?.[1]);
    expect(await readSchemaState(database.url)).toEqual({ version: NEEDED_SCHEMA, oldest_compatible: needed });
  });

  test('starts, creates tenants, accepts answers, and stores them, next to processes of this version', async () => {
    const environment = { DATABASE_URL: database.url, SECRET_KEY: newSecretKey() };
    const old = previous.program;
    await using api = await startProcess('serve', environment, [], old);
    await using worker = await startProcess('work', environment, [], old);
    await Promise.all([api.awaitProbe('/readyz'), worker.awaitProbe('/readyz')]);
    const parley = async (args: string[]) => JSON.parse((await runCommand(args, environment, '', [], old)).stdout);
    const tenant = await parley(['tenant', 'create', '--name', 'Acme']);
    const { api_key: key } = await parley(['api-key', 'create', '--tenant', tenant.id, '--name', 'backend']);
    const post = async (path: string, body?: object) => {
      const reply = await fetch(`${api.baseUrl}${path}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      return (await reply.json()) as { id: string };
    };
    const { id } = await post('/v1/questions', { type: 'nps', title: 'How likely?' });
    await post(`/v1/questions/${id}/publish`);

    const stored = async () =>
      new Set((await database.query<{ id: string }>('select id from answers')).map(row => row.id));
    const sendTo = async (urls: string[]) => {
      const sender = sendAnswers(urls, key, id, 2);
      await waitFor(() => sender.ledger.acknowledged.size > 50, 60_000);
      const { acknowledged } = await sender.stop();
      await waitFor(async () => acknowledged.isSubsetOf(await stored()), 60_000);
    };
    await sendTo([api.baseUrl]);

    await using newer = await startProcess('serve', environment);
    await newer.awaitProbe('/readyz');
    await sendTo([api.baseUrl, newer.baseUrl]); // the older worker stores the answers of both
    worker.kill('SIGTERM');
    expect(await worker.exited).toBe(0);
    await using newWorker = await startProcess('work', environment);
    await newWorker.awaitProbe('/readyz');
    await sendTo([api.baseUrl, newer.baseUrl]);
  }, 240_000);
});
