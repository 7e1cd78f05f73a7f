import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApi, type TestApi } from '../support/api.ts';
import { conversationsOf } from '../support/conversations.ts';
import { startProcess } from '../support/process.ts';
import { waitFor } from '../support/wait.ts';

const TIMERS = 500;
const ROUNDS = 5;

let api: TestApi;
beforeAll(async () => {
  api = await createApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const { makeParties, seed } = conversationsOf(() => api);

/** Ends all connections to the database, as a restart of PostgreSQL does. */
const endConnections = () =>
  api.database.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );

test('workers that are killed, and lose the database, wake each conversation once', async () => {
  const { tenant } = await makeParties();
  await seed(tenant, TIMERS);
  const environment = { DATABASE_URL: api.database.url, SECRET_KEY: api.secretKey };
  const workers = [await startProcess('work', environment), await startProcess('work', environment)];
  await Promise.all(workers.map(worker => worker.awaitProbe('/readyz')));
  await api.database.query(
    `update conversations set status = 'snoozed', snoozed_until = now() + random() * interval '20 seconds' where tenant_id = $1`,
    [tenant.uuid],
  );
  const left = async () => {
    const [row] = await api.database.query<{ count: number }>(
      "select count(*)::int as count from conversations where tenant_id = $1 and status = 'snoozed'",
      [tenant.uuid],
    );
    return row?.count ?? 0;
  };
  for (let round = 0; round < ROUNDS; round++) {
    const before = await left();
    for (const [index, worker] of workers.entries()) {
      worker.kill('SIGKILL');
      await worker.exited;
      workers[index] = await startProcess('work', environment);
    }
    if (round === 1 || round === 3) await endConnections();
    await Promise.all(workers.map(worker => worker.awaitProbe('/readyz', 200, 60_000)));
    await waitFor(async () => (await left()) < before || before === 0, 60_000);
  }
  await waitFor(async () => (await left()) === 0, 60_000);
  const [row] = await api.database.query(
    `select count(*)::int as events, count(distinct conversation_id)::int as conversations from messages
     where tenant_id = $1 and kind = 'event' and author_type = 'system'`,
    [tenant.uuid],
  );
  expect(row).toEqual({ events: TIMERS, conversations: TIMERS });
  for (const worker of workers) {
    worker.kill('SIGTERM');
    expect(await worker.exited).toBe(0);
  }
}, 240_000);
