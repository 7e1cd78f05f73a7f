import { setTimeout as sleep } from 'node:timers/promises';
import type { TestProxy } from '../../support/proxy.ts';
import { tally } from '../load.ts';
import { BOTH, POSTGRES_ONLY, type Scenario, VALKEY_ONLY } from '../scenario.ts';
import { startProbe } from '../watch.ts';
import type { World } from '../world.ts';

export const lateValkey: Scenario = {
  id: 'R5',
  title: 'API and worker started a minute before Valkey',
  load: '1,000 answers once it is there',
  faults: 'no Valkey for the first 60 s',
  backends: VALKEY_ONLY,
  stores: () => ({ valkey: { running: false } }),
  async run(world) {
    const api = await world.start('serve', { awaitReady: false });
    const worker = await world.start('work', { awaitReady: false });
    await Promise.all([api.awaitLive(), worker.awaitLive()]);
    const { apiKey } = await world.addTenant();
    const watches = {
      live: startProbe(world, `${api.baseUrl}/livez`, { everyMs: 500 }),
      ready: startProbe(world, `${api.baseUrl}/readyz`, { everyMs: 500 }),
      workerReady: startProbe(world, `${worker.metricsUrl}/readyz`, { everyMs: 500 }),
      reads: startProbe(world, `${api.baseUrl}/v1/answers?limit=1`, { as: apiKey, everyMs: 500 }),
    };
    const early = world.load({ batch: 10, lanes: 2, perSecond: 5 });
    await sleep(world.sized(60_000, 5000));
    const statuses = async (watch: ReturnType<typeof startProbe>) =>
      [...new Set((await watch.stop()).map(({ status }) => status))].join();
    for (const [name, watch, wanted] of [
      ['the API lives', watches.live, '200'],
      ['the API is not ready', watches.ready, '503'],
      ['the worker is not ready', watches.workerReady, '503'],
      ['reads are served', watches.reads, '200'],
    ] as const) {
      const found = await statuses(watch);
      world.must(name, found === wanted, found);
    }
    world.must(
      'answers are refused with 503',
      early.replies.every(({ status }) => status === 503),
      tally(early.replies),
    );
    await world.valkey().start();
    const startedAt = Date.now();
    await Promise.all([api.awaitReady(), worker.awaitReady()]);
    world.recovered(Date.now() - startedAt);
    await early.stop();
    const load = world.load({ batch: 10, lanes: 5, requests: world.sized(100, 10) });
    await load.finished;
    world.must(
      'both become ready by themselves within 10 s',
      Math.max(...world.recoveriesMs) <= 10_000,
      `${world.recoveriesMs} ms`,
    );
    world.must('no process ended', api.isRunning() && worker.isRunning());
  },
};

/** Store failures just before the SIGTERM. */
const SILENCES: Record<string, (line: TestProxy) => void> = {
  'has fallen silent': line => line.freeze(),
  'refuses connections': line => line.cut(),
};

/** Ends every role during the outage of a store and records how each ended. */
async function stopWithout(world: World, store: 'PostgreSQL' | 'the queue', silence: string): Promise<void> {
  const { postgres, valkey } = world.stores;
  const [database, queue] = [await world.proxy(postgres.url), await world.proxy(valkey?.url ?? postgres.url)];
  const environment = {
    DATABASE_URL: database.through(postgres.url),
    ...(valkey ? { REDIS_URL: queue.through(valkey.url) } : {}),
  };
  const units = await Promise.all((['serve', 'work'] as const).map(role => world.start(role, { environment })));
  const [api] = units;
  const load = world.load({
    batch: 10,
    lanes: 10,
    perSecond: 20,
    addresses: () => [api?.baseUrl ?? ''],
    retries: false,
  });
  await sleep(1500);
  SILENCES[silence]?.(store === 'PostgreSQL' || !valkey ? database : queue);
  world.fault('cut');
  await sleep(500);
  const startedAt = Date.now();
  const ends = await Promise.all(
    units.map(async unit => {
      const code = await unit.end('SIGTERM');
      return { role: unit.role, code, ms: Date.now() - startedAt, named: /did not stop cleanly/.test(unit.output()) };
    }),
  );
  await load.stop();
  world.fault('stop', units.length);
  for (const { role, code, ms, named } of ends) {
    world.mustTake(`${role} ends after SIGTERM although ${store} ${silence}`, ms, 20_000);
    world.must('a code other than 0 has its reason in the log', code === 0 || (code === 1 && named), `code ${code}`);
  }
}

export const stopWithoutStores: Scenario = {
  id: 'R21',
  title: 'SIGTERM while a store is lost',
  load: '200 answers/s in requests of 10 at the time',
  faults: 'PostgreSQL or the queue silent or refusing, then SIGTERM of API and worker',
  backends: BOTH,
  quick: POSTGRES_ONLY,
  async run(world) {
    await world.start('serve');
    await world.start('work');
    await world.addTenant();
    for (const silence of Object.keys(SILENCES)) {
      await stopWithout(world, 'PostgreSQL', silence);
      if (world.backend === 'valkey') await stopWithout(world, 'the queue', silence);
    }
  },
};
