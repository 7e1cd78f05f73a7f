import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { openStorage, type Storage } from '../../src/storage/database/orm.ts';
import { createApi, type TestApi, waitFor } from '../support/api.ts';
import { MINUTE } from '../support/clock.ts';
import { numberAll } from '../support/events.ts';
import { makeTenant } from '../support/make.ts';
import { createReceiver } from '../support/receivers.ts';
import { LOCAL_WEBHOOKS, makeEvents, makeWebhook, startDeliveries } from '../support/webhooks.ts';

/** More webhooks in total, and of each tenant, than a worker delivers for at a time. */
const TENANTS = 10;
const WEBHOOKS = 20;
/** Several rounds for each of them. */
const BACKLOG = 300;
const REPLY_MS = 300;

let api: TestApi;
let worker: Storage;
beforeAll(async () => {
  api = await createApi({ settings: { ...LOCAL_WEBHOOKS, DATABASE_POOL: '20' } });
  const log = createLog('warn', 'test');
  worker = openStorage({ url: api.database.url, role: 'parley_worker', connections: 20, log });
});
afterAll(async () => {
  await worker.close();
  await api[Symbol.asyncDispose]();
});

test('slow webhooks with a long backlog make room for others after each turn', async () => {
  await using slow = await createReceiver();
  await using receiver = await createReceiver();
  slow.react((_, response) => void setTimeout(() => response.writeHead(204).end(), REPLY_MS));
  const busy = await Promise.all(Array.from({ length: TENANTS }, () => makeTenant(api)));
  for (const tenant of busy) for (let count = 0; count < WEBHOOKS; count++) await makeWebhook(api, tenant, slow.url);
  for (const tenant of busy) await makeEvents({ api, worker }, tenant, BACKLOG);
  await using _ = startDeliveries(api, worker, MINUTE);
  await waitFor(() => slow.requests.length > TENANTS * WEBHOOKS);

  const tenant = await makeTenant(api);
  await makeWebhook(api, tenant, receiver.url);
  await makeEvents({ api, worker }, tenant, 1);
  await receiver.waitForEvents(1);
  const done = await api.database.query(
    'select from webhooks join event_sequences using (tenant_id) where feed_position = last and url = $1',
    [slow.url],
  );
  expect(done).toEqual([]);
});

/** Webhooks with large bodies, and how many of the latter fit into a round at most. */
const LARGE_WEBHOOKS = 10;
const LARGE_BODIES = 22;

test('a round has few large bodies', async () => {
  await using receiver = await createReceiver();
  const counts = new Map<string | undefined, number>();
  receiver.react((_, response, { url }) => {
    const count = (counts.get(url) ?? 0) + 1;
    counts.set(url, count);
    if (count <= LARGE_BODIES) response.writeHead(204).end(); // then it hangs, so a longer round does not end
  });
  const tenants = await Promise.all(Array.from({ length: LARGE_WEBHOOKS }, () => makeTenant(api)));
  for (const tenant of tenants) {
    const { key, uuid } = tenant;
    const started = await api.request('POST', '/v1/conversations', {
      as: key.apiKey,
      body: { identity: 'ada', message: 'x'.repeat(9000) },
    });
    expect(started.status).toBe(201);
    await makeWebhook(api, tenant, `${receiver.url}?${uuid}`, {
      event_types: ['message.created'],
    });
    await api.database.query(
      `insert into events (tenant_id, type, object_type, object_id, conversation_id)
       select tenant_id, 'message.created', 'message', id, conversation_id from messages, generate_series(1, 64)
       where tenant_id = $1`,
      [uuid],
    );
  }
  await numberAll(worker);
  await using _ = startDeliveries(api, worker, MINUTE);
  await waitFor(async () => {
    const [{ count } = { count: 0 }] = await api.database.query<{ count: number }>(
      "select count(distinct webhook_id)::int from deliveries where type = 'message.created' and status = 'delivered'",
    );
    return count === LARGE_WEBHOOKS;
  });
});
