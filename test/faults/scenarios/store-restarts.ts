import { setTimeout as sleep } from 'node:timers/promises';
import { type Load, type Reply, tally } from '../load.ts';
import { BOTH, type Scenario, VALKEY_ONLY } from '../scenario.ts';
import type { Store } from '../stores.ts';
import { slowest, startProbe } from '../watch.ts';
import type { World } from '../world.ts';

const DOWN_MS = 2000;

/** Stops a store, waits, starts it again, and waits until answers are accepted. */
async function restart(world: World, store: Store, signal: Parameters<Store['kill']>[0], load: Load): Promise<number> {
  await store.kill(signal);
  world.fault(signal === 'SIGKILL' ? 'kill' : 'stop');
  await sleep(DOWN_MS);
  await store.start();
  const returned = Date.now();
  const recoveryMs = await world.awaitIntake(load, returned);
  world.recovered(recoveryMs);
  return recoveryMs;
}

const refusals = (load: Load): Reply[] => load.replies.filter(reply => reply.status !== 202);

export const valkeyRestarts: Scenario = {
  id: 'R4',
  title: 'restarts of Valkey with its append-only file',
  load: '20,000 answers and more at 300/s in requests of 10',
  faults: '5 × SIGTERM and 5 × SIGKILL of Valkey, 2 s down each',
  backends: VALKEY_ONLY,
  async run(world) {
    const units = [await world.start('serve'), await world.start('work')];
    await world.addTenant();
    const load = world.load({ batch: 10, lanes: 30, perSecond: 30 });
    const signals = Array.from({ length: world.sized(5) }, () => ['SIGTERM', 'SIGKILL'] as const).flat();
    for (const signal of signals) {
      await sleep(world.random.between(1000, 2000));
      await restart(world, world.valkey(), signal, load);
    }
    while (load.acknowledged() < world.sized(20_000)) await sleep(100);
    await load.stop();
    await world.drained();
    const refused = refusals(load);
    world.must(
      'intake fails with 503 alone',
      refused.every(({ status }) => status === 503),
      tally(load.replies),
    );
    world.must(
      'each 503 says when to come again',
      refused.every(reply => reply.retryAfter),
    );
    world.mustTake('each 503 comes', slowest(refused), 2000);
    world.mustTake('answers are taken again', Math.max(...world.recoveriesMs), 5000);
    world.must(
      'no process was restarted',
      units.every(unit => unit.isRunning() && unit.restarts() === 0),
    );
  },
};

const RESTARTS = ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const;

export const postgresRestarts: Scenario = {
  id: 'R10',
  title: 'restarts of PostgreSQL: fast, immediate, killed',
  load: '20,000 answers and more at 300/s in requests of 10, and a reader',
  faults: '3 × fast stop, 3 × immediate stop, 3 × SIGKILL of PostgreSQL, 2 s down each',
  backends: BOTH,
  quick: BOTH,
  async run(world) {
    const units = [await world.start('serve'), await world.start('work')];
    const { apiKey } = await world.addTenant();
    const load = world.load({ batch: 10, lanes: 30, perSecond: 30 });
    const reader = startProbe(world, `${world.apis()[0]}/v1/answers?limit=1`, { as: apiKey });
    const lastGood = () => reader.values.findLast(read => read.status === 200)?.at ?? 0;
    const readRecoveries: number[] = [];
    for (const signal of Array.from({ length: world.sized(3) }, () => RESTARTS).flat()) {
      await sleep(world.random.between(1000, 2000));
      await restart(world, world.stores.postgres, signal, load);
      const returned = Date.now();
      while (lastGood() < returned) await sleep(20);
      readRecoveries.push(lastGood() - returned);
    }
    while (load.acknowledged() < world.sized(20_000)) await sleep(100);
    await load.stop();
    const failed = (await reader.stop()).filter(read => read.status !== 200);
    await world.drained();
    const refused = refusals(load);
    if (world.backend === 'valkey')
      world.must('intake goes on while PostgreSQL is away', refused.length === 0, tally(load.replies));
    else
      world.must(
        'intake fails with 503 alone',
        refused.every(({ status, retryAfter }) => status === 503 && retryAfter),
        tally(load.replies),
      );
    world.must(
      'reads fail with 503 alone',
      failed.every(({ status }) => status === 503),
      `${failed.length} failed`,
    );
    world.mustTake('a failed read is answered', slowest(failed), 3000);
    world.mustTake('reads are good again', Math.max(...readRecoveries), 5000);
    world.must(
      'no process was restarted',
      units.every(unit => unit.isRunning() && unit.restarts() === 0),
    );
  },
};
