import { setTimeout as sleep } from 'node:timers/promises';
import { type Certificate, makeCertificate } from '../../support/certificates.ts';
import {
  accept,
  breakHandshake,
  type ConnectionReaction,
  createReceiver,
  hang,
  leaveHandshake,
  type Reaction,
  type Receiver,
  refuse,
  reset,
  sendGarbage,
  sendMuch,
  showCertificate,
} from '../../support/receivers.ts';
import { waitFor } from '../../support/wait.ts';
import { BOTH, type Scenario } from '../scenario.ts';
import type { Store } from '../stores.ts';
import type { FaultTenant, World } from '../world.ts';
import { killInTurns } from './process-kills.ts';

/** Allows webhooks to this machine. */
const SETTINGS = { OUTBOUND_ALLOW: '127.0.0.0/8' };
const DOWN_MS = 2000;
const ENDED_WITHIN_MS = 300_000;

/** Reacts to a third of the requests, at random, in one of the ways in which receivers fail. */
function misbehave(world: World, elsewhere: string): Reaction {
  const failures = [
    ...[refuse(500), refuse(302, { Location: elsewhere }), reset, sendGarbage, sendMuch, refuse(429)],
    ...[refuse(500, {}, 'x'.repeat(100_000)), refuse(503, { 'Retry-After': '1' })],
  ];
  return (...given) => {
    const dice = world.random.between(1, 100);
    const reaction = dice > 33 ? accept : dice > 1 ? world.random.pick(failures) : hang;
    reaction(...given);
  };
}

/** Breaks TLS for half of the connections, at random. */
function misbehaveInTls(world: World, foreign: Certificate): ConnectionReaction {
  const failures = [leaveHandshake, breakHandshake, showCertificate(foreign)];
  return (socket, serve) => {
    if (world.random.whole(1, 2) === 1) serve();
    else world.random.pick(failures)(socket, serve);
  };
}

/** Errors of attempts that failed in the handshake. */
const TLS_ERRORS = ['DEPTH_ZERO_SELF_SIGNED_CERT', 'EPROTO'];

async function restartReceiver(world: World, receiver: Receiver, times: number): Promise<void> {
  for (let done = 0; done < times; done++) {
    await sleep(world.random.between(3000, 8000));
    await receiver.stop();
    world.fault('stop');
    await sleep(1000);
    await receiver.restart();
  }
}

async function restartStore(world: World, store: Store | undefined, times: number): Promise<void> {
  for (let done = 0; store && done < times; done++) {
    await sleep(world.random.between(4000, 10_000));
    await store.kill('SIGKILL');
    world.fault('kill');
    await sleep(DOWN_MS);
    await store.start();
  }
}

/** Makes what waits for its next attempt due every second, which otherwise takes up to a day. */
async function hurry(world: World, running: { ended: boolean }): Promise<void> {
  while (!running.ended) {
    await sleep(1000);
    await world
      .query(
        `update webhooks set due_at = now() where due_at > now();
         update deliveries set at = now() where status = 'waiting' and at > now()`,
      )
      .catch(() => undefined); // PostgreSQL is away, or a worker records a round
  }
}

interface FeedEvent {
  id: string;
  sequence: number;
  type: string;
}

/** Reads the whole feed from the API. */
async function readFeed(world: World, { apiKey }: FaultTenant): Promise<FeedEvent[]> {
  const events: FeedEvent[] = [];
  for (let hasMore = true; hasMore; ) {
    const path = `/v1/events?limit=100&after=${events.at(-1)?.sequence ?? 0}`;
    const { body } = await world.request(`${world.apis()[0]}${path}`, { as: apiKey });
    const page = JSON.parse(body) as { data: FeedEvent[]; has_more: boolean };
    events.push(...page.data);
    hasMore = page.has_more;
  }
  return events;
}

/** Waits until the feed is numbered and nothing is left to deliver. */
async function awaitDelivered(world: World, events: number): Promise<boolean> {
  for (const deadline = Date.now() + ENDED_WITHIN_MS; Date.now() < deadline; await sleep(500)) {
    const [row] = await world.query<{ done: boolean }>(
      `select feed_position = last and due_at is null and not exists (select from deliveries where status = 'waiting')
         and (select count(*) from events where type = 'answer.completed') >= $1
         and oldest_unnumbered_event() = 0 as done
       from webhooks join event_sequences using (tenant_id)`,
      [events],
    );
    if (row?.done) return true;
  }
  return false;
}

/** Compares the feed, the ledger of deliveries, and what the receiver got. */
async function compare(world: World, tenant: FaultTenant, receiver: Receiver, count: number): Promise<void> {
  const feed = await readFeed(world, tenant);
  const completed = feed.filter(({ type }) => type === 'answer.completed');
  const gap = feed.findIndex(({ sequence }, index) => sequence !== index + 1);
  world.must('the feed has every number once', gap < 0, `${feed.length} events, ${completed.length} of answers`);
  world.must('each answer has one event', completed.length === count, completed.length);
  const sequences = new Map(completed.map(({ id, sequence }) => [id, sequence]));
  const foreign = receiver.requests.filter(({ id, event }) => event.id !== id || sequences.get(id) !== event.sequence);
  world.must(
    'each request has the webhook-id of its event',
    foreign.length === 0,
    `${foreign.length} of ${receiver.requests.length} differ`,
  );
  const missing = completed.filter(({ id }) => !receiver.accepted.has(id));
  world.must('the receiver has accepted every event', missing.length === 0, `${missing.length} missing`);
  const rows = await world.query<{ sequence: number; status: string; error: string | null }>(
    'select sequence::float8, status, error from deliveries where tenant_id = $1',
    [tenant.uuid],
  );
  const delivered = rows.filter(({ status }) => status === 'delivered').map(({ sequence }) => sequence);
  world.must(
    'the ledger has one success of each event',
    JSON.stringify(delivered.toSorted((a, b) => a - b)) === JSON.stringify(completed.map(({ sequence }) => sequence)),
    `${delivered.length} successes, ${rows.length - delivered.length} failures`,
  );
  const inTls = rows.filter(({ error }) => error !== null && TLS_ERRORS.includes(error));
  world.must('attempts have failed in TLS, and are in the ledger', inTls.length > 0, inTls.length);
  world.note(`${receiver.requests.length} requests for ${completed.length} events`);
}

export const webhooksUnderFaults: Scenario = {
  id: 'R51',
  title: 'webhooks to a receiver that fails in every way, while everything is killed',
  load: '1,000 answers at 20/s in requests of 10, one webhook, two workers',
  faults:
    'a third of the requests is answered by 500, 302, 429, 503, a reset, garbage, 10 MB or never; half of the connections break TLS or have a foreign certificate; 6 restarts of the receiver; 12 × SIGKILL of workers and API, 3 × SIGKILL of PostgreSQL and of Valkey, 2 s down each',
  backends: BOTH,
  async run(world) {
    await using certificate = await makeCertificate();
    await using foreign = await makeCertificate();
    const environment = { ...SETTINGS, NODE_EXTRA_CA_CERTS: certificate.file };
    const api = await world.start('serve', { environment });
    const workers = [await world.start('work', { environment }), await world.start('work', { environment })];
    const tenant = await world.addTenant();
    await using receiver = await createReceiver(certificate);
    await using elsewhere = await createReceiver(certificate);
    receiver.react(misbehave(world, elsewhere.url));
    receiver.reactToConnections(misbehaveInTls(world, foreign));
    const body = { url: receiver.url, event_types: ['answer.completed'] };
    const made = await world.request(`${api.baseUrl}/v1/webhooks`, { method: 'POST', as: tenant.apiKey, body });
    world.must('the webhook is created', made.status === 201, made.status);
    const running = { ended: false };
    const hurrying = hurry(world, running);
    const requests = world.sized(100, 10);
    const load = world.load({ batch: 10, lanes: 10, perSecond: 2, requests, addresses: () => [api.baseUrl] });
    await Promise.all([
      killInTurns(world, [...workers, api], world.sized(12, 3), 10_000), // a lease outlives its worker by 30 s
      restartReceiver(world, receiver, world.sized(6, 2)),
      restartStore(world, world.stores.postgres, world.sized(3)),
      restartStore(world, world.stores.valkey, world.sized(3)),
      load.finished,
    ]);
    const endedAt = Date.now();
    await Promise.all([...workers, api].map(unit => unit.awaitReady()));
    const half = 5 * requests;
    await waitFor(() => receiver.accepted.size >= half, ENDED_WITHIN_MS);
    receiver.react(accept);
    receiver.reactToConnections((_, serve) => serve());
    world.must('everything is delivered in the end', await awaitDelivered(world, 10 * requests));
    world.recovered(Date.now() - endedAt);
    running.ended = true;
    await hurrying;
    await compare(world, tenant, receiver, 10 * requests);
    world.must('no redirect is followed', elsewhere.requests.length === 0, elsewhere.requests.length);
  },
};
