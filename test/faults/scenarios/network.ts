import { setTimeout as sleep } from 'node:timers/promises';
import type { TestProxy } from '../../support/proxy.ts';
import type { Load } from '../load.ts';
import { BOTH, mustTakeOrRefuse, type Scenario } from '../scenario.ts';
import { slowest } from '../watch.ts';
import type { World } from '../world.ts';

/** The duration of each silence of the network, at full size. */
const SILENT_MS = 30_000;
/** The time before that in which only replies are lost: requests are executed without a reply. */
const DEAF_MS = 2000;

/** Drops replies for a while, then all packets, without a reset; then restores the network. */
async function cutSilently(world: World, line: TestProxy, load: Load): Promise<void> {
  line.dropReplies(true);
  world.fault('cut');
  await sleep(DEAF_MS);
  line.freeze();
  await sleep(world.sized(SILENT_MS, 3000));
  line.dropReplies(false);
  line.reset(); // a stream with a gap cannot continue
  line.thaw();
  world.recovered(await world.awaitIntake(load, Date.now()));
}

export const silentNetwork: Scenario = {
  id: 'R13',
  title: 'a network that swallows packets',
  load: '300 answers/s in requests of 10',
  faults:
    '3 × 32 s each between API and queue, worker and queue, worker and PostgreSQL: replies lost for 2 s, then everything',
  backends: BOTH,
  async run(world) {
    const { postgres, valkey } = world.stores;
    const queueUrl = valkey?.url ?? postgres.url;
    const [apiQueue, workerQueue, workerDatabase] = [
      await world.proxy(queueUrl),
      await world.proxy(queueUrl),
      await world.proxy(postgres.url),
    ];
    const through = (queue: TestProxy, database: TestProxy | undefined): Record<string, string> =>
      valkey
        ? { REDIS_URL: queue.through(valkey.url), DATABASE_URL: database?.through(postgres.url) ?? postgres.url }
        : { DATABASE_URL: queue.through(postgres.url) };
    const units = [
      await world.start('serve', { environment: through(apiQueue, undefined) }),
      await world.start('work', { environment: through(workerQueue, workerDatabase) }),
      await world.start('work'), // one with a working network takes over
    ];
    await world.addTenant();
    const load = world.load({ batch: 10, lanes: 30, perSecond: 30, timeoutMs: 10_000 });
    const lines = valkey ? [apiQueue, workerQueue, workerDatabase] : [apiQueue, workerQueue]; // one address for both
    for (let round = 0; round < 3; round++)
      for (const line of lines) {
        await sleep(world.random.between(500, 1500));
        await cutSilently(world, line, load);
      }
    await sleep(1000);
    await load.stop();
    const drainMs = await world.drained();
    mustTakeOrRefuse(world, load);
    world.must(
      'a silent store is found out within 10 s',
      slowest(load.replies) <= 10_000,
      `slowest ${slowest(load.replies)} ms`,
    );
    const recoveryMs = Math.max(...world.recoveriesMs);
    world.must('answers are taken again within 10 s', recoveryMs <= 10_000, `slowest ${recoveryMs} ms`);
    world.must('the backlog is worked off within 30 s', drainMs <= 30_000, `${drainMs} ms`);
    world.must(
      'no process was restarted',
      units.every(unit => unit.isRunning() && unit.restarts() === 0),
    );
  },
};
