import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../../support/wait.ts';
import { mustTakeOrRefuse, type Scenario, VALKEY_ONLY } from '../scenario.ts';
import { openSentinels } from '../sentinels.ts';
import { askValkey, openValkey } from '../stores.ts';
import type { World } from '../world.ts';

const CHECK_S = 2;
/** A port without a listener. */
const NOWHERE = '1';

/**
 * Kills the primary a second after its replica was cut off, and lets Sentinel promote the replica: data that only the
 * primary had is lost permanently. Returns the API, whose metrics report it.
 */
async function losePrimary(world: World, replicasAsked: number) {
  const primary = world.valkey();
  const { hostname, port } = new URL(primary.url);
  const replica = await openValkey({ onHost: true, settings: { replicaof: `${hostname} ${port}` } });
  world.atEnd(async () => await replica[Symbol.asyncDispose]());
  const sentinels = await openSentinels(primary);
  world.atEnd(async () => await sentinels[Symbol.asyncDispose]());
  const environment = {
    REDIS_URL: sentinels.url,
    QUEUE_REPLICAS: String(replicasAsked),
    INGESTION_CHECK_S: String(CHECK_S),
  };
  const api = await world.start('serve', { environment });
  const worker = await world.start('work', { environment });
  await world.addTenant();
  const load = world.load({ batch: 10, lanes: 30, perSecond: 30 });
  await sleep(world.sized(10_000, 3000));
  worker.signal('SIGSTOP'); // stored answers cannot be lost
  await askValkey(replica.url, redis => redis.replicaof('127.0.0.1', Number(NOWHERE)));
  world.fault('cut');
  await sleep(1000);
  await primary.kill('SIGKILL');
  world.fault('kill');
  const killedAt = Date.now();
  await waitFor(() => sentinels.name(replica), 30_000); // otherwise the former primary would be considered healthy again
  world.note(`the replica is promoted ${Date.now() - killedAt} ms after the kill`);
  world.stores.valkey = replica;
  worker.signal('SIGCONT');
  await primary.start(); // restarted as by an orchestrator; Sentinel makes it the replica
  world.recovered(await world.awaitIntake(load, killedAt, 60_000));
  await sleep(world.sized(5000, 2000));
  await load.stop();
  await world.drained();
  mustTakeOrRefuse(world, load);
  return api;
}

const faults =
  'the worker stopped, the replica cut off, 1 s later kill -9 of the primary; Sentinel promotes the replica, and the former primary comes back';
const load = '300 answers/s in requests of 10';

export const lostPrimary: Scenario = {
  id: 'R37',
  title: 'failover by Sentinel to a replica that lags behind, QUEUE_REPLICAS=1',
  load,
  faults,
  backends: VALKEY_ONLY,
  quick: VALKEY_ONLY,
  stores: () => ({ valkey: { onHost: true } }),
  async run(world) {
    await losePrimary(world, 1);
    // when the former primary follows the new one
    world.mustTake('answers are taken again', Math.max(...world.recoveriesMs), 30_000);
  },
};

export const lostPrimaryUnconfirmed: Scenario = {
  id: 'R37-control',
  title: 'the same with QUEUE_REPLICAS=0 (control: it has to lose, and the metrics have to tell)',
  load,
  faults,
  backends: VALKEY_ONLY,
  isControl: true,
  stores: () => ({ valkey: { onHost: true } }),
  async run(world) {
    const api = await losePrimary(world, 0);
    const missing = () => api.metric('parley_conservation_difference', 'flush');
    await waitFor(async () => (await missing()) > 0, CHECK_S * 10_000);
    world.must('the metrics tell of the loss', (await missing()) > 0, `${await missing()} flushes`);
  },
};
