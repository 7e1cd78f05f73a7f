import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../../support/wait.ts';
import type { Load } from '../load.ts';
import { part } from '../partition.ts';
import { mustTakeOrRefuse, type Scenario, VALKEY_ONLY } from '../scenario.ts';
import { openSentinels, placeOf, type Sentinels } from '../sentinels.ts';
import { askValkey, openValkey, type Store } from '../stores.ts';
import type { World } from '../world.ts';

const REPLICAS = 2;
/** Sentinel turns a former primary into a replica about 10 s after the failover. */
const RECOVERY_MS = 60_000;
const LOAD = '300 answers/s in requests of 10';

const isSynced = async (replica: Store): Promise<boolean> =>
  /master_link_status:up/.test(await askValkey(replica.url, redis => redis.info('replication')));

/** Whether a former primary is a replica now. Sentinel closes its connections in that step. */
const isDemoted = (store: Store): Promise<boolean> =>
  askValkey(store.url, redis => redis.info('replication')).then(
    info => /role:slave/.test(info),
    () => false,
  );

/** Two replicas of the trial's Valkey in the same network, and the Sentinels that monitor them. */
async function openReplicas(world: World): Promise<{ stores: [Store, Store, Store]; sentinels: Sentinels }> {
  const primary = world.valkey();
  const { host, port } = await placeOf(primary);
  const onHost = (await primary.address()) === '';
  const openReplica = async () => {
    const replica = await openValkey({ onHost, settings: { replicaof: `${host} ${port}` } });
    world.atEnd(async () => await replica[Symbol.asyncDispose]());
    return replica;
  };
  const [one, other] = await Promise.all([openReplica(), openReplica()]);
  await waitFor(async () => (await isSynced(one)) && (await isSynced(other)), 30_000);
  const sentinels = await openSentinels(primary, REPLICAS);
  world.atEnd(async () => await sentinels[Symbol.asyncDispose]());
  return { stores: [primary, one, other], sentinels };
}

/** An API and a stopped worker, so that accepted answers are only in the queue. */
async function openService(world: World, sentinels: Sentinels, replicasAsked: number) {
  const environment = { REDIS_URL: sentinels.url, QUEUE_REPLICAS: String(replicasAsked) };
  const api = await world.start('serve', { environment });
  const worker = await world.start('work', { environment });
  await world.addTenant();
  worker.signal('SIGSTOP');
  const load = world.load({ batch: 10, lanes: 30, perSecond: 30 });
  await world.awaitIntake(load, Date.now(), RECOVERY_MS);
  await sleep(world.sized(5000, 2000));
  return { api, worker, load };
}

/** Waits until the primary elected by the Sentinels accepts answers, and lets the worker store them. */
async function settle(world: World, load: Load, since: number): Promise<void> {
  world.recovered(await world.awaitIntake(load, since, RECOVERY_MS));
  await sleep(world.sized(3000, 1000));
}

async function end(world: World, load: Load): Promise<void> {
  await load.stop();
  await world.drained();
  mustTakeOrRefuse(world, load);
}

async function failOverOften(world: World, replicasAsked: number): Promise<void> {
  const { stores, sentinels } = await openReplicas(world);
  const { worker, load } = await openService(world, sentinels, replicasAsked);
  const failOver = async () => {
    world.stores.valkey = await sentinels.failOver(stores);
    world.fault('injected');
  };
  await failOver();
  await settle(world, load, Date.now());
  for (let round = 0; round < world.sized(5, 2); round++) await failOver();
  worker.signal('SIGCONT');
  await settle(world, load, Date.now());
  await end(world, load);
}

const failovers =
  'the worker stopped; one SENTINEL FAILOVER, and then five in a row, each as soon as Sentinel takes it';

export const plannedFailovers: Scenario = {
  id: 'R38',
  title: 'planned failovers with two replicas, QUEUE_REPLICAS=2',
  load: LOAD,
  faults: failovers,
  backends: VALKEY_ONLY,
  quick: VALKEY_ONLY,
  stores: () => ({ valkey: { onHost: true } }),
  async run(world) {
    await failOverOften(world, REPLICAS);
    world.mustTake('answers are taken again', Math.max(...world.recoveriesMs), RECOVERY_MS);
  },
};

export const plannedFailoversUnconfirmed: Scenario = {
  id: 'R38-control',
  title: 'the same with QUEUE_REPLICAS=0 (control: it has to lose)',
  load: LOAD,
  faults: failovers,
  backends: VALKEY_ONLY,
  isControl: true,
  stores: () => ({ valkey: { onHost: true } }),
  run: world => failOverOften(world, 0),
};

/** Separates the primary and one replica from the other replica and the Sentinels, which promote it. */
async function partAndPromote(world: World, replicasAsked: number): Promise<Load> {
  const { stores, sentinels } = await openReplicas(world);
  const [primary, near, far] = stores;
  await askValkey(near.url, redis => redis.config('SET', 'replica-priority', '200')); // `far` is to be promoted
  const { worker, load } = await openService(world, sentinels, replicasAsked);
  const mend = await part([primary, near], [await far.address(), ...sentinels.hosts]);
  world.fault('cut');
  const partedAt = Date.now();
  await waitFor(() => sentinels.name(far), 30_000);
  world.note(`the replica beyond the partition is promoted ${Date.now() - partedAt} ms after it`);
  await sleep(world.sized(10_000, 3000));
  const confirmed = load.replies.filter(({ at, ms, status }) => status === 202 && at - ms > partedAt);
  world.note(`${confirmed.length} requests were acknowledged during the partition`);
  world.stores.valkey = far;
  await mend();
  const mendedAt = Date.now();
  await waitFor(() => isDemoted(primary), 60_000, 200);
  worker.signal('SIGCONT');
  await settle(world, load, mendedAt);
  await end(world, load);
  return load;
}

const partition =
  'the worker stopped; packets vanish between {primary, replica} and {replica, Sentinels}, the API stays connected to the former primary; 10 s after the promotion they pass again';

export const partitionedPrimary: Scenario = {
  id: 'R39',
  title: 'a partition in which Sentinel promotes a replica while the primary lives on, QUEUE_REPLICAS=2',
  load: LOAD,
  faults: partition,
  backends: VALKEY_ONLY,
  quick: VALKEY_ONLY,
  async run(world) {
    const load = await partAndPromote(world, REPLICAS);
    world.must(
      'answers are refused during the partition',
      load.replies.some(({ status }) => status === 503),
    );
    world.mustTake('answers are taken again', Math.max(...world.recoveriesMs), RECOVERY_MS);
  },
};

export const partitionUnconfirmed: Scenario = {
  id: 'R39-control',
  title: 'the same with QUEUE_REPLICAS=0 (control: it has to lose)',
  load: LOAD,
  faults: partition,
  backends: VALKEY_ONLY,
  isControl: true,
  run: async world => void (await partAndPromote(world, 0)),
};
