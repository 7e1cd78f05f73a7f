import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '../src/platform/log.ts';
import { createSeals } from '../src/platform/secrets.ts';
import { openStorage } from '../src/storage/database/orm.ts';
import { insertWebhook } from '../src/storage/webhooks/webhooks.ts';
import type { Bench, Measured } from './bench.ts';
import { peakMb, startMeter } from './cpu.ts';
import { median } from './numbers.ts';
import { openReceiver, type Receiver } from './receiver.ts';
import type { Tenant } from './world.ts';

/** Events in the feed when the worker starts, and those of them that are sent before the measurement. */
const EVENTS = 20_000;
const WARM_UP = 4000;
/** Events sent at rest, and the pauses before them: longer than the worker looks for events more often after one. */
const AT_REST = 9;
const PAUSE_MS = 5200;
const ARRIVED_WITHIN_MS = 120_000;
/** Empties the feed and removes all webhooks, so that workers of later steps deliver nothing. */
export const EMPTY = 'truncate events, event_batches, event_sequences, webhooks, deliveries';
/** The tables of the feed, for `vacuum`. */
export const FEED_TABLES = 'events, event_batches, event_sequences';
/** Receivers are on this machine. */
export const LOCAL = { OUTBOUND_HTTP: 'on', OUTBOUND_ALLOW: '127.0.0.0/8' };

/** Stores answers, each with a comment, and the numbered events of them. */
async function fillFeed(bench: Bench, { uuid }: Tenant): Promise<void> {
  await bench.query(
    `insert into answers (tenant_id, id, identity, identity_verified, card_id, question_id, question_version, revision, state,
       "values", comment, metadata, content_hash, tags, received_at, stored_at, updated_at)
     select $1, uuidv7(), 'user|' || n, true, gen_random_uuid(), q.id, 1, 1, 'completed', '{"main": 4}',
       'The delivery was a day late, but the driver was kind.', '{}', '', '{}', now(), now(), now()
     from generate_series(1, $2::int) as n, (select id from questions where tenant_id = $1 limit 1) as q`,
    [uuid, EVENTS],
  );
  await bench.query(
    `insert into events (tenant_id, type, object_type, object_id)
     select $1, 'answer.completed', 'answer', id from answers where tenant_id = $1`,
    [uuid],
  );
  await numberAll(bench);
  await bench.query(`vacuum analyze answers, ${FEED_TABLES}`);
}

/** Numbers all events. */
export async function numberAll(bench: Bench): Promise<void> {
  let run: { remain: boolean } | undefined;
  do [run] = await bench.query<{ remain: boolean }>('select remain from number_events(5000)');
  while (run?.remain);
}

/** Adds a webhook to a receiver. */
export async function addWebhook(bench: Bench, tenant: Tenant, url: string): Promise<void> {
  const log = createLog('warn', 'bench');
  const storage = openStorage({ url: bench.databaseUrl, role: 'parley_app', connections: 1, log });
  const seals = createSeals({ current: bench.secretKey, others: [] });
  const webhook = { url, event_types: ['answer.completed' as const] };
  await insertWebhook(storage.forTenant(tenant.uuid), seals, webhook, new Date());
  await storage.close();
}

/** Deliveries from a full feed to one receiver, by one worker; then the time from a commit to the receiver, at rest. */
export async function measureDeliveries(bench: Bench): Promise<Measured> {
  const tenant = bench.tenants[0] as Tenant;
  await bench.empty('postgres');
  await bench.query(EMPTY);
  await using receiver = await openReceiver();
  await addWebhook(bench, tenant, receiver.url);
  await fillFeed(bench, tenant);
  await bench.query('checkpoint');
  await using worker = await bench.parley('work', 'postgres', { environment: LOCAL, profile: 'goal-20-work' });
  const received = async (count: number) => {
    for (const deadline = Date.now() + ARRIVED_WITHIN_MS; receiver.count() < count; await sleep(2))
      if (Date.now() > deadline) throw new Error(`only ${receiver.count()} events arrived:\n${worker.lastLines()}`);
  };
  await received(WARM_UP);
  const before = receiver.count();
  const startedAt = performance.now();
  const stopMeter = startMeter(bench.roles({ worker: worker.pid }));
  await received(EVENTS);
  const cost = stopMeter();
  const count = receiver.count() - before;
  const rate = (count * 1000) / (performance.now() - startedAt);
  const figures = {
    deliveries: rate,
    'deliveries peak MB': peakMb(worker.pid),
    'delivery p50 ms': await measureAtRest(bench, tenant, receiver),
  };
  await bench.query(EMPTY);
  return {
    figures,
    costs: [{ program: 'webhook delivery', count, per: 'request', cost }],
  };
}

/** Median time from the commit of an event to its request. */
async function measureAtRest(bench: Bench, { uuid }: Tenant, receiver: Pick<Receiver, 'onRequest'>): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < AT_REST; turn++) {
    await sleep(PAUSE_MS + 300 * Math.random());
    const arrived = new Promise<void>(done => receiver.onRequest(done));
    await bench.query(
      `insert into events (tenant_id, type, object_type, object_id)
       select $1, 'answer.completed', 'answer', id from answers where tenant_id = $1 limit 1`,
      [uuid],
    );
    const committedAt = performance.now();
    await arrived;
    times.push(performance.now() - committedAt);
  }
  return median(times);
}
