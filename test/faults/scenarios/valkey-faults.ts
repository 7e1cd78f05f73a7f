import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../../support/wait.ts';
import { percentile, tally } from '../load.ts';
import { mustTakeOrRefuse, type Scenario, VALKEY_ONLY } from '../scenario.ts';
import { askValkey, openValkey, type Store } from '../stores.ts';
import type { Unit } from '../units.ts';
import { startWatch } from '../watch.ts';
import type { World } from '../world.ts';

export const frozenValkey: Scenario = {
  id: 'R6',
  title: 'Valkey frozen',
  load: '50 clients, 1,000 answers/s in requests of 10',
  faults: '3 × 10 s in which every process of Valkey is stopped',
  backends: VALKEY_ONLY,
  exclusive: true,
  quick: VALKEY_ONLY,
  async run(world) {
    await world.start('serve');
    await world.start('work');
    await world.addTenant();
    const load = world.load({ batch: 10, lanes: 50, perSecond: 100 });
    for (let round = 0; round < 3; round++) {
      await sleep(world.random.between(1000, 2000));
      await world.valkey().freeze();
      world.fault('freeze');
      await sleep(world.sized(10_000, 3000));
      await world.valkey().thaw();
      world.recovered(await world.awaitIntake(load, Date.now()));
    }
    await sleep(1000);
    await load.stop();
    const p99 = percentile(
      load.replies.map(reply => reply.ms),
      0.99,
    );
    const refused = load.replies.filter(reply => reply.status !== 202);
    world.mustTake('99 % of the requests are answered', p99, 2500);
    mustTakeOrRefuse(world, load);
    world.must('some requests were refused', refused.length > 0, refused.length);
  },
};

const MAX_MEMORY_MB = 32;

const usedMemory = async (url: string): Promise<number> =>
  Number(/used_memory:(\d+)/.exec(await askValkey(url, redis => redis.info('memory')))?.[1]);

/** The maximum number of log lines of one kind in a second. */
function busiestSecond(unit: Unit): number {
  const counts = new Map<string, number>();
  for (const line of unit
    .output()
    .split('\n')
    .filter(text => text.startsWith('{'))) {
    const { time, msg } = JSON.parse(line) as { time: string; msg: string };
    const key = `${time.slice(0, 19)} ${msg}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values());
}

export const valkeyMemory: Scenario = {
  id: 'R7',
  title: 'Valkey running out of memory while PostgreSQL is away',
  load: 'answers of 1 kB in requests of 20 from 20 clients, as fast as they go, until they are refused and 5 s more',
  faults: `maxmemory ${MAX_MEMORY_MB} MB, PostgreSQL stopped`,
  backends: VALKEY_ONLY,
  quick: VALKEY_ONLY,
  stores: () => ({ valkey: { settings: { maxmemory: `${MAX_MEMORY_MB}mb` } } }),
  async run(world) {
    const units = [await world.start('serve'), await world.start('work')];
    await world.addTenant();
    const { url } = world.valkey();
    const comment = 'x'.repeat(600);
    const first = world.load({ batch: 1, lanes: 1, requests: 5 }); // makes the API cache the tenant
    await first.finished;
    await world.stores.postgres.kill('SIGINT');
    world.fault('stop');
    const memory = startWatch(world, 50, () => usedMemory(url));
    const load = world.load({ batch: 20, lanes: 20, fields: () => ({ comment }) });
    await waitFor(() => load.replies.some(reply => reply.status === 503), 120_000);
    const atRefusal = memory.values.at(-1) ?? 0;
    await sleep(5000);
    await load.stop();
    const most = Math.max(...(await memory.stop()));
    const share = (bytes: number) => bytes / MAX_MEMORY_MB / 1024 / 1024;
    const percent = (bytes: number) => `${(share(bytes) * 100).toFixed(1)} %`;
    world.must(
      'answers are refused from 75 % of the memory on at the latest',
      share(atRefusal) <= 0.75,
      percent(atRefusal),
    );
    world.must('the memory is never used up', share(most) < 1, `at most ${percent(most)}`);
    mustTakeOrRefuse(world, load);
    await world.stores.postgres.start();
    const startedAt = Date.now();
    const backlog = await world.backlog();
    await world.drained();
    world.recovered(Date.now() - startedAt);
    world.must(
      'the backlog is worked off when PostgreSQL is back',
      true,
      `${JSON.stringify(backlog)} in ${Date.now() - startedAt} ms`,
    );
    const lines = Math.max(...units.map(busiestSecond));
    world.must('no kind of line is logged more than 10 times in a second', lines <= 10, lines);
  },
};

export const valkeyDisk: Scenario = {
  id: 'R8',
  title: 'the disk of Valkey full',
  load: '100 requests/s of 10 answers',
  faults: 'its file system is filled up under load, three times, and freed again',
  backends: VALKEY_ONLY,
  stores: () => ({ valkey: { diskMegabytes: 128 } }),
  async run(world) {
    await world.start('serve');
    await world.start('work');
    await world.addTenant();
    const load = world.load({ batch: 10, lanes: 30, perSecond: 100 });
    for (let round = 0; round < 3; round++) {
      await sleep(world.random.between(1000, 2000));
      await world.valkey().disk().fill();
      world.fault('injected');
      const filledAt = Date.now();
      await waitFor(() => load.replies.some(reply => reply.status === 503 && reply.at > filledAt), 60_000);
      await sleep(2000);
      await world.valkey().disk().free();
      await startIfEnded(world, world.valkey());
      world.recovered(await world.awaitIntake(load, Date.now()));
    }
    await load.stop();
    await world.drained();
    world.must(
      'nothing but 202, 503 and broken connections was met',
      load.replies.every(({ status }) => status === 202 || status === 503),
      tally(load.replies),
    );
    const recoveryMs = Math.max(...world.recoveriesMs);
    world.must('answers are taken again within 10 s of the space', recoveryMs <= 10_000, `slowest ${recoveryMs} ms`);
  },
};

/** With `appendfsync always` Valkey exits when it cannot write. Restarts it, as an orchestrator would. */
async function startIfEnded(world: World, store: Store): Promise<void> {
  if (await store.isRunning()) return;
  if (world.notes.length === 0) world.note('Valkey ended itself when it could not write its append-only file');
  await store.start();
}

const isSynced = (text: string) => /master_link_status:up/.test(text);

/** Promotes a replica in a planned failover: the old primary waits until the replica has all data. */
async function failOver(from: Store, to: Store): Promise<void> {
  await askValkey(from.url, redis => redis.call('FAILOVER', 'TIMEOUT', '10000') as Promise<unknown>);
  await waitFor(async () => /role:master/.test(await askValkey(to.url, redis => redis.info('replication'))), 15_000);
  await waitFor(async () => isSynced(await askValkey(from.url, redis => redis.info('replication'))), 15_000);
}

export const valkeyFailover: Scenario = {
  id: 'R9',
  title: 'failover of Valkey to its replica and back',
  load: '300 answers/s in requests of 10',
  faults: '4 × FAILOVER; the address leads to the new primary, old connections stay at the old one (READONLY)',
  backends: VALKEY_ONLY,
  async run(world) {
    await using replica = await openValkey();
    const primary = world.valkey();
    const proxy = await world.proxy(primary.url);
    const environment = { REDIS_URL: proxy.through(primary.url) };
    await world.start('serve', { environment });
    await world.start('work', { environment });
    await world.addTenant();
    const address = await primary.address();
    await askValkey(replica.url, redis => redis.replicaof(address, 6379));
    await waitFor(async () => isSynced(await askValkey(replica.url, redis => redis.info('replication'))), 15_000);
    const load = world.load({ batch: 10, lanes: 30, perSecond: 30 });
    let [from, to] = [primary, replica];
    for (let round = 0; round < 4; round++) {
      await sleep(world.random.between(1500, 3000));
      await failOver(from, to);
      world.fault('injected');
      proxy.retarget(to.url);
      world.recovered(await world.awaitIntake(load, Date.now(), 30_000));
      [from, to] = [to, from];
    }
    await sleep(world.sized(10_000, 1000));
    await load.stop();
    await world.drained();
    const recoveryMs = Math.max(...world.recoveriesMs);
    world.must('answers are taken again within 10 s', recoveryMs <= 10_000, `slowest ${recoveryMs} ms`);
    mustTakeOrRefuse(world, load);
  },
};
