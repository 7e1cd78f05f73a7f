import { setTimeout as sleep } from 'node:timers/promises';
import type { Load } from '../load.ts';
import { mustTakeOrRefuse, type Scenario, VALKEY_ONLY } from '../scenario.ts';
import { askValkey, openValkey } from '../stores.ts';
import type { World } from '../world.ts';

const LOAD = '500 answers/s in requests of 10';
/** The number of acknowledged requests sent since then. */
const acknowledgedSince = (load: Load, since: number): number =>
  load.replies.filter(({ at, ms, status }) => status === 202 && at - ms >= since).length;

const startLoad = async (world: World): Promise<Load> => {
  const load = world.load({ batch: 10, lanes: 30, perSecond: 50, pauseMs: () => 20 });
  await sleep(world.sized(3000, 1000));
  return load;
};

async function end(world: World, load: Load): Promise<void> {
  await sleep(world.sized(3000, 1000));
  await load.stop();
  await world.drained();
  mustTakeOrRefuse(world, load);
}

/**
 * Switches the address to a store that writes to disk once a second, and back. Returns the requests acknowledged
 * meanwhile.
 */
async function swapStores(world: World, durability: 'strict' | 'relaxed'): Promise<number> {
  const strict = world.valkey();
  await using lax = await openValkey({ settings: { appendfsync: 'everysec' } });
  const proxy = await world.proxy(strict.url);
  const environment = { REDIS_URL: proxy.through(strict.url), QUEUE_DURABILITY: durability };
  await world.start('serve', { environment });
  const worker = await world.start('work', { environment });
  await world.addTenant();
  worker.signal('SIGSTOP'); // it would store the lax store's jobs
  const load = await startLoad(world);
  let confirmed = 0;
  for (let round = 0; round < world.sized(10, 4); round++) {
    await sleep(world.random.between(1000, 2500));
    proxy.retarget(lax.url);
    proxy.reset();
    world.fault('injected');
    const swappedAt = Date.now();
    await sleep(2000);
    confirmed += acknowledgedSince(load, swappedAt);
    proxy.retarget(strict.url);
    proxy.reset();
    world.recovered(await world.awaitIntake(load, Date.now(), 10_000));
  }
  worker.signal('SIGCONT');
  await end(world, load);
  return confirmed;
}

const swaps = '10 × the address leads to a store with `appendfsync everysec` for 2 s, and back; the worker stopped';

export const swappedStore: Scenario = {
  id: 'R40',
  title: 'a store with other settings behind the same address',
  load: LOAD,
  faults: swaps,
  backends: VALKEY_ONLY,
  quick: VALKEY_ONLY,
  async run(world) {
    const confirmed = await swapStores(world, 'strict');
    world.must('the store with other settings confirms nothing', confirmed === 0, confirmed);
    world.mustTake('answers are taken again', Math.max(...world.recoveriesMs), 5000);
  },
};

export const swappedStoreRelaxed: Scenario = {
  id: 'R40-control',
  title: 'the same with QUEUE_DURABILITY=relaxed (control: it has to lose)',
  load: LOAD,
  faults: swaps,
  backends: VALKEY_ONLY,
  isControl: true,
  run: async world => void (await swapStores(world, 'relaxed')),
};

/** The number of keys and the delay per key in a rewrite: the first one takes 30 s. */
const KEYS = 3000;
const KEY_DELAY_US = 10_000;

/** Enables the append-only file under load, and kills Valkey before its first rewrite has completed. */
async function switchOn(world: World, durability: 'strict' | 'relaxed'): Promise<void> {
  const { url } = world.valkey();
  const fill = "for key = 1, ARGV[1] do redis.call('SET', 'other:' .. key, key) end";
  await askValkey(url, redis => redis.eval(fill, 0, KEYS));
  const environment = { QUEUE_DURABILITY: durability };
  await world.start('serve', { environment });
  const worker = await world.start('work', { environment });
  await world.addTenant();
  worker.signal('SIGSTOP');
  const load = await startLoad(world);
  await askValkey(url, async redis => {
    await redis.config('SET', 'rdb-key-save-delay', String(KEY_DELAY_US));
    await redis.config('SET', 'appendonly', 'yes');
    await redis.config('REWRITE');
  });
  const switchedAt = Date.now();
  await sleep(world.sized(10_000, 4000));
  const confirmed = acknowledgedSince(load, switchedAt);
  world.note(`${confirmed} requests were acknowledged before the first rewrite had ended`);
  await kill(world);
  world.must(
    'the store is empty after the kill',
    (await askValkey(url, redis => redis.exists('other:1'))) === 0,
    'the first rewrite had not ended',
  );
  world.recovered(await world.awaitIntake(load, Date.now(), 10_000));
  await sleep(world.sized(3000, 1000));
  await kill(world); // the append-only file is complete now
  world.recovered(await world.awaitIntake(load, Date.now(), 10_000));
  worker.signal('SIGCONT');
  await end(world, load);
}

async function kill(world: World): Promise<void> {
  await world.valkey().kill('SIGKILL');
  world.fault('kill');
  await world.valkey().start();
}

const killed =
  'a store without an append-only file; CONFIG SET appendonly yes under load, kill -9 before the first rewrite has ended, and again later; the worker stopped';
const stores = () => ({ valkey: { settings: { appendonly: 'no', save: '""' }, ownConfig: true } });

export const appendOnlySwitchedOn: Scenario = {
  id: 'R41',
  title: 'the append-only file switched on at run time, and kill -9 of Valkey',
  load: LOAD,
  faults: killed,
  backends: VALKEY_ONLY,
  quick: VALKEY_ONLY,
  stores,
  run: world => switchOn(world, 'strict'),
};

export const appendOnlySwitchedOnRelaxed: Scenario = {
  id: 'R41-control',
  title: 'the same with QUEUE_DURABILITY=relaxed (control: it has to lose)',
  load: LOAD,
  faults: killed,
  backends: VALKEY_ONLY,
  isControl: true,
  stores,
  run: world => switchOn(world, 'relaxed'),
};
