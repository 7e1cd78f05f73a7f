import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { diagnose } from '../../src/commands/doctor.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { openProducer, type Producer } from '../../src/queue/producer.ts';
import { openSentinels, placeOf } from '../faults/sentinels.ts';
import { askValkey, openValkey, type Store } from '../faults/stores.ts';
import { backends } from '../support/api.ts';
import { anAcceptedAnswer } from '../support/make.ts';
import { createProxy } from '../support/proxy.ts';
import { waitFor } from '../support/wait.ts';

const SECRET_KEY = randomBytes(32).toString('base64');
/** Not used, because the queue is in Valkey. */
const DATABASE_URL = 'postgresql://nobody@127.0.0.1:1/none';

interface TestProducer extends Producer, AsyncDisposable {}

/** A producer with its queue in that Valkey. */
function openTestProducer(redisUrl: string, settings: Record<string, string> = {}): TestProducer {
  const config = loadConfig({ DATABASE_URL, SECRET_KEY, REDIS_URL: redisUrl, ...settings });
  const target = { databaseUrl: DATABASE_URL, redisUrl };
  const producer = openProducer(target, config, createLog('silent', 'test'), createMetrics('serve'));
  return { ...producer, [Symbol.asyncDispose]: () => producer.close() };
}

const isTaking = (producer: Producer) => waitFor(() => producer.health().reasons.length === 0);
const refuses = (producer: Producer, reason: RegExp) =>
  waitFor(() => producer.health().reasons.some(text => reason.test(text)));

const send = (producer: Producer): Promise<boolean> =>
  producer.enqueue([anAcceptedAnswer()], 100).then(
    () => true,
    () => false,
  );

/** Sends answers in sequence until stopped. Has the times at which the confirmed and the rejected ones were sent. */
function keepSending(producer: Producer) {
  const confirmed: number[] = [];
  const rejected: number[] = [];
  let isStopped = false;
  const run = async () => {
    while (!isStopped) {
      const sentAt = performance.now();
      if (await send(producer)) confirmed.push(sentAt);
      else rejected.push(sentAt);
      await sleep(1); // rejections return at once
    }
  };
  const ended = run();
  return {
    confirmed,
    rejected,
    async stop() {
      isStopped = true;
      await ended;
    },
  };
}

/** Opens a replica in the host's network and waits until it has the primary's data. */
async function openReplica(primary: Store, settings: Record<string, string> = {}): Promise<Store> {
  const { host, port } = await placeOf(primary);
  const replica = await openValkey({ onHost: true, settings: { replicaof: `${host} ${port}`, ...settings } });
  await waitFor(async () => /link_status:up/.test(await askValkey(replica.url, redis => redis.info('replication'))));
  return replica;
}

/** The diagnosis of the replicas; `reached` without a fault. */
async function diagnoseReplicas(redisUrl: string, wanted: number): Promise<object> {
  const environment = { DATABASE_URL, SECRET_KEY, REDIS_URL: redisUrl, QUEUE_REPLICAS: String(wanted) };
  const { checks } = await diagnose(environment, createLog('silent', 'test'));
  const [reached] = checks.filter(({ name }) => name === 'queue');
  return checks.find(({ name }) => name === 'queue replicas') ?? { reached: reached?.ok };
}

const configure = (store: Store, name: string, value: string) =>
  askValkey(store.url, redis => redis.config('SET', name, value));

describe.runIf(backends().includes('valkey'))('a flush', { timeout: 240_000 }, () => {
  test('is not confirmed by a store with other settings that takes over the address', async () => {
    await using strict = await openValkey();
    await using lax = await openValkey({ settings: { appendfsync: 'everysec' } });
    await using proxy = await createProxy(strict.url);
    await using producer = openTestProducer(proxy.through(strict.url));
    await isTaking(producer);
    const sending = keepSending(producer);
    await waitFor(() => sending.confirmed.length > 20);
    proxy.retarget(lax.url);
    proxy.reset();
    const swappedAt = performance.now();
    await refuses(producer, /appendfsync is "everysec"/);
    expect(sending.confirmed.filter(at => at > swappedAt)).toEqual([]);
    proxy.retarget(strict.url);
    proxy.reset();
    await isTaking(producer);
    await sending.stop();
  });

  test('whose confirmation by a replica was pending is not confirmed by the next store', async () => {
    await using first = await openValkey({ onHost: true });
    await using replica = await openReplica(first);
    await using second = await openValkey({ onHost: true });
    await using _secondReplica = await openReplica(second);
    await using proxy = await createProxy(first.url);
    await using producer = openTestProducer(proxy.through(first.url), { QUEUE_REPLICAS: '1' });
    await isTaking(producer);
    expect(await send(producer)).toBe(true);
    await replica.freeze();
    const before = await askValkey(first.url, redis => redis.dbsize());
    const pending = send(producer);
    await waitFor(async () => (await askValkey(first.url, redis => redis.dbsize())) > before);
    await waitFor(async () => /blocked_clients:1/.test(await askValkey(first.url, redis => redis.info('clients'))));
    proxy.retarget(second.url);
    proxy.reset();
    expect(await pending).toBe(false);
    expect(await askValkey(second.url, redis => redis.dbsize())).toBe(0);
    await replica.thaw();
  });

  test('is rejected while there are more replicas than QUEUE_REPLICAS, from the first flush after one connected', async () => {
    await using primary = await openValkey({ onHost: true });
    await using _one = await openReplica(primary);
    await using producer = openTestProducer(primary.url, { QUEUE_REPLICAS: '1' });
    await isTaking(producer);
    const sending = keepSending(producer);
    await waitFor(() => sending.confirmed.length > 20);
    const { host, port } = await placeOf(primary);
    await using other = await openValkey({ onHost: true });
    await askValkey(other.url, redis => redis.replicaof(host, Number(port)));
    await waitFor(async () =>
      /connected_slaves:2/.test(await askValkey(primary.url, redis => redis.info('replication'))),
    );
    const joinedAt = performance.now();
    await refuses(producer, /^2 replicas can become the primary \(.*\), but QUEUE_REPLICAS is 1$/);
    await sending.stop();
    expect(sending.confirmed.filter(at => at > joinedAt)).toEqual([]);
    await using both = openTestProducer(primary.url, { QUEUE_REPLICAS: '2' });
    await isTaking(both);
    expect(await send(both)).toBe(true);
  });

  test('is rejected while the Sentinels report a replica that is down, unless its priority is 0', async () => {
    await using primary = await openValkey({ onHost: true });
    await using _one = await openReplica(primary);
    await using other = await openReplica(primary);
    await using sentinels = await openSentinels(primary, 2);
    await using producer = openTestProducer(sentinels.url, { QUEUE_REPLICAS: '1' });
    await refuses(producer, /^2 replicas can become the primary/);
    expect(await diagnoseReplicas(sentinels.url, 0)).toMatchObject({ ok: false, mend: 'Set QUEUE_REPLICAS=2.' });
    const tooFew = { ok: false, detail: expect.stringMatching(/^2 replicas can .*, but QUEUE_REPLICAS is 1$/) };
    expect(await diagnoseReplicas(sentinels.url, 1)).toMatchObject(tooFew);
    expect(await diagnoseReplicas(sentinels.url, 2)).toEqual({ reached: true });
    await configure(other, 'replica-priority', '0');
    await waitFor(() => producer.health().reasons.length === 0, 30_000); // Sentinels update it every 10 s
    expect(await send(producer)).toBe(true);
    await configure(other, 'replica-priority', '100');
    await waitFor(() => producer.health().reasons.length > 0, 30_000);
    await other.kill('SIGKILL');
    await waitFor(async () =>
      /connected_slaves:1/.test(await askValkey(primary.url, redis => redis.info('replication'))),
    );
    await using reopened = openTestProducer(sentinels.url, { QUEUE_REPLICAS: '1' });
    await refuses(reopened, /^2 replicas can become the primary/);
  });

  test('is rejected until the first rewrite of a newly enabled append-only file, and not during later ones', async () => {
    await using store = await openValkey({ settings: { appendonly: 'no', save: '' } });
    const rewrite = (keyDelayUs: number) => configure(store, 'rdb-key-save-delay', String(keyDelayUs));
    await askValkey(store.url, redis =>
      redis.eval("for key = 1, 300 do redis.call('SET', 'other:' .. key, key) end", 0),
    );
    await using producer = openTestProducer(store.url);
    await refuses(producer, /^appendonly is "no"/);
    await rewrite(10_000);
    await configure(store, 'appendonly', 'yes');
    await refuses(producer, /^its append-only file is being rewritten/);
    await using newcomer = openTestProducer(store.url);
    await refuses(newcomer, /^its append-only file is being rewritten/);
    await isTaking(producer);
    const persistence = () => askValkey(store.url, redis => redis.info('persistence'));
    expect(await persistence()).toMatch(/aof_rewrite_in_progress:0/);
    await askValkey(store.url, redis => redis.bgrewriteaof());
    const sending = keepSending(producer);
    await waitFor(() => sending.confirmed.length > 20);
    expect(await persistence()).toMatch(/aof_rewrite_in_progress:1/);
    await waitFor(async () => /aof_rewrite_in_progress:0/.test(await persistence()), 120_000, 100);
    await sending.stop();
    expect(sending.rejected).toEqual([]);
  });

  test('is rejected while no-appendfsync-on-rewrite is on', async () => {
    await using store = await openValkey({ settings: { 'no-appendfsync-on-rewrite': 'yes' } });
    await using producer = openTestProducer(store.url);
    await waitFor(() => producer.health().reachable);
    expect(producer.health().reasons).toEqual(['no-appendfsync-on-rewrite is "yes" and must be "no"']);
    expect(await send(producer)).toBe(false);
  });

  test('is rejected by a replica, although it accepts writes', async () => {
    await using primary = await openValkey({ onHost: true });
    await using replica = await openReplica(primary, { 'replica-read-only': 'no' });
    await using producer = openTestProducer(replica.url);
    await waitFor(() => producer.health().reachable);
    expect(producer.health().reasons).toEqual(['it is a replica: its data is overwritten by the primary']);
  });
});
