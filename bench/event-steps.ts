import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '../src/platform/log.ts';
import { openStorage } from '../src/storage/database/orm.ts';
import { listEvents, readFeedBounds } from '../src/storage/events/events.ts';
import type { Bench, Measured } from './bench.ts';
import { measureLoad } from './load.ts';
import { median, quantile } from './numbers.ts';
import { openReceiver, type Receiver } from './receiver.ts';
import { addWebhook, EMPTY, FEED_TABLES, LOCAL, numberAll } from './webhook-steps.ts';
import { type Conversation, startConversations, type Tenant } from './world.ts';

const FEED = 1_000_000;
const PAGE = 100;
const WARM_UP_PAGES = 50;
const PAGES = 500;

/** The first page of a feed, and the one at its end, in turn: medians in ms. */
export async function measureFeed(bench: Bench): Promise<Measured> {
  const { uuid } = bench.tenants[0] as Tenant;
  await bench.query(EMPTY);
  await bench.query(
    `insert into events (tenant_id, type, object_type, object_id)
     select $1, 'answer.completed', 'answer', gen_random_uuid() from generate_series(1, $2::int)`,
    [uuid, FEED],
  );
  await numberAll(bench);
  await bench.query(`vacuum analyze ${FEED_TABLES}`);
  const log = createLog('warn', 'bench');
  const storage = openStorage({ url: bench.databaseUrl, role: 'parley_app', connections: 1, log });
  const tenant = storage.forTenant(uuid);
  const read = async (after: number): Promise<number> => {
    const startedAt = performance.now();
    const { last } = await readFeedBounds(tenant);
    const { rows } = await listEvents(tenant, { after, until: last }, PAGE);
    if (rows.length !== PAGE) throw new Error(`a page of the feed has ${rows.length} events`);
    return performance.now() - startedAt;
  };
  const [first, last]: [number[], number[]] = [[], []];
  try {
    for (let turn = -WARM_UP_PAGES; turn < PAGES; turn++) {
      const times = [await read(0), await read(FEED - PAGE)] as const;
      if (turn >= 0) for (const [index, all] of [first, last].entries()) all.push(times[index] as number);
    }
  } finally {
    await storage.close();
  }
  await bench.query(EMPTY);
  return { figures: { 'feed page 1 p50 ms': median(first), 'feed page at the end p50 ms': median(last) }, costs: [] };
}

const DEAD = 10;
const EVENTS = 300;
const EVERY_MS = 40;
const ARRIVED_WITHIN_MS = 60_000;

/** p99 of the time from the commit of an event to a receiver, of events at a steady rate. */
async function measureArrivals(bench: Bench, { uuid }: Tenant, receiver: Receiver): Promise<number> {
  const [sent, arrived]: [number[], number[]] = [[], []];
  receiver.onRequest(() => arrived.push(performance.now()));
  for (let count = 0; count < EVENTS; count++) {
    await bench.query(
      `insert into events (tenant_id, type, object_type, object_id) values ($1, 'answer.completed', 'answer', gen_random_uuid())`,
      [uuid],
    );
    sent.push(performance.now());
    await sleep(EVERY_MS);
  }
  for (const deadline = Date.now() + ARRIVED_WITHIN_MS; arrived.length < EVENTS; await sleep(5))
    if (Date.now() > deadline) throw new Error(`only ${arrived.length} of ${EVENTS} events arrived`);
  const times = sent.map((at, index) => (arrived[index] as number) - at);
  return quantile(times, 0.99);
}

/** A webhook that works: without others, then next to ten of its tenant whose receivers never reply. */
export async function measureNeighbours(bench: Bench): Promise<Measured> {
  const tenant = bench.tenants[0] as Tenant;
  await bench.empty('postgres');
  await bench.query(EMPTY);
  await using good = await openReceiver();
  await using dead = await openReceiver({ replies: false });
  await addWebhook(bench, tenant, good.url);
  await using _ = await bench.parley('work', 'postgres', { environment: LOCAL });
  await measureArrivals(bench, tenant, good); // warms up
  const alone = await measureArrivals(bench, tenant, good);
  for (let count = 0; count < DEAD; count++) await addWebhook(bench, tenant, dead.url);
  const next = await measureArrivals(bench, tenant, good);
  if (dead.count() === 0) throw new Error('the dead receivers got no request');
  await bench.query(EMPTY);
  return { figures: { 'webhook alone p99 ms': alone, 'webhook next to dead ones p99 ms': next }, costs: [] };
}

const WRITERS = 16;

/** Messages of a team, each of 16 writers in a conversation of its own: of 16 tenants, and of one. */
export async function measureMessages(bench: Bench): Promise<Measured> {
  await using api = await bench.parley('serve', bench.stores.valkeyUrl ? 'valkey' : 'postgres');
  const figures: Record<string, number> = {};
  for (const [name, tenants] of Object.entries(writersOf(bench))) {
    const set = bench.createLoadSet(messageRequests(await startConversations(api.url, tenants)));
    const plan = { ...bench.plan, connections: WRITERS };
    figures[name] = (await measureLoad(api.url, set, plan, bench.roles({ api: api.pid }))).rate;
  }
  return { figures, costs: [] };
}

/** The tenants of 16 writers. */
export const writersOf = ({ tenants }: Bench): Record<'messages' | 'messages of one tenant', Tenant[]> => ({
  messages: Array.from({ length: WRITERS }, (_, index) => tenants[index % tenants.length] as Tenant),
  'messages of one tenant': Array.from({ length: WRITERS }, () => tenants[0] as Tenant),
});

/** A reply of the team in each conversation. */
export const messageRequests = (conversations: readonly Conversation[]) =>
  conversations.map(({ tenant, id }) => ({
    method: 'POST' as const,
    path: `/v1/conversations/${id}/messages`,
    token: tenant.apiKey,
    bodyParts: ['{"body":"It left our warehouse this morning.","client_message_id":"', '"}'],
  }));
