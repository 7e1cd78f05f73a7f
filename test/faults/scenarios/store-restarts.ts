import { setTimeout as sleep } from 'node:timers/promises';
import { type Load, percentile, type Reply, tally } from '../load.ts';
import { BOTH, type Scenario, VALKEY_ONLY } from '../scenario.ts';
import type { Store } from '../stores.ts';
import type { World } from '../world.ts';

const DOWN_MS = 2000;

/** Ends a store, leaves it down, starts it again, and waits for answers to be taken. */
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
    const { valkey } = world.stores;
    if (!valkey) throw new Error('R4 needs Valkey');
    const load = world.load({ batch: 10, lanes: 30, perSecond: 30 });
    const signals = Array.from({ length: world.sized(5) }, () => ['SIGTERM', 'SIGKILL'] as const).flat();
    for (const signal of signals) {
      await sleep(world.random.between(1000, 2000));
      await restart(world, valkey, signal, load);
    }
    while (load.acknowledged() < world.sized(20_000)) await sleep(100);
    await load.stop();
    await world.drained();
    const refused = refusals(load);
    const slowest = Math.max(0, ...refused.map(reply => reply.ms));
    world.must(
      'intake fails with 503 alone',
      refused.every(({ status }) => status === 503),
      tally(load.replies),
    );
    world.must(
      'each 503 says when to come again',
      refused.every(reply => reply.retryAfter),
    );
    world.must('each 503 comes within 2 s', slowest <= 2000, `slowest ${slowest} ms`);
    const recoveryMs = Math.max(...world.recoveriesMs);
    world.must('answers are taken again within 5 s', recoveryMs <= 5000, `slowest ${recoveryMs} ms`);
    world.must(
      'no process was restarted',
      units.every(unit => unit.isRunning() && unit.restarts() === 0),
    );
  },
};

/** Reads a list again and again, and notes when it failed and how long a reply took. */
function startReading(world: World, apiKey: string) {
  const failures: { at: number; ms: number; status: number | 'broken' }[] = [];
  let lastGood = 0;
  let reading = true;
  const read = async () => {
    while (reading) {
      const startedAt = Date.now();
      const status = await world
        .request(`${world.apis()[0]}/v1/answers?limit=1`, { as: apiKey, timeoutMs: 10_000 })
        .then(reply => reply.status)
        .catch(() => 'broken' as const);
      if (status === 200) lastGood = Date.now();
      else failures.push({ at: startedAt, ms: Date.now() - startedAt, status });
      await sleep(50);
    }
  };
  const ended = read();
  return {
    failures,
    lastGood: () => lastGood,
    async stop() {
      reading = false;
      await ended;
    },
  };
}

const RESTARTS = ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const;

export const postgresRestarts: Scenario = {
  id: 'R10',
  title: 'restarts of PostgreSQL: fast, immediate, killed',
  load: '20,000 answers and more at 300/s in requests of 10, and a reader',
  faults: '3 × fast stop, 3 × immediate stop, 3 × SIGKILL of PostgreSQL, 2 s down each',
  backends: BOTH,
  quick: true,
  async run(world) {
    const units = [await world.start('serve'), await world.start('work')];
    const { apiKey } = await world.addTenant();
    const load = world.load({ batch: 10, lanes: 30, perSecond: 30 });
    const reader = startReading(world, apiKey);
    const readRecoveries: number[] = [];
    for (const signal of Array.from({ length: world.sized(3) }, () => RESTARTS).flat()) {
      await sleep(world.random.between(1000, 2000));
      await restart(world, world.stores.postgres, signal, load);
      const returned = Date.now();
      while (reader.lastGood() < returned) await sleep(20);
      readRecoveries.push(reader.lastGood() - returned);
    }
    while (load.acknowledged() < world.sized(20_000)) await sleep(100);
    await load.stop();
    await reader.stop();
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
    const slowest = percentile(
      reader.failures.map(failure => failure.ms),
      1,
    );
    world.must(
      'reads fail with 503 alone',
      reader.failures.every(({ status }) => status === 503),
      `${reader.failures.length} failed`,
    );
    world.must('a failed read is answered within 3 s', slowest <= 3000, `slowest ${slowest} ms`);
    const recoveryMs = Math.max(...readRecoveries);
    world.must('reads are good again within 5 s', recoveryMs <= 5000, `slowest ${recoveryMs} ms`);
    world.must(
      'no process was restarted',
      units.every(unit => unit.isRunning() && unit.restarts() === 0),
    );
  },
};
