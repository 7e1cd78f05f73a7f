import { setTimeout as sleep } from 'node:timers/promises';
import { tally } from '../load.ts';
import { BOTH, type Scenario } from '../scenario.ts';

/** Commits return before they are on disk, and the WAL writer rarely runs. */
const LAX = { synchronous_commit: 'off', wal_writer_delay: '10s' };

/** The database confirms writes that it may lose: with a strict Valkey, and as the queue itself. */
export const laxPostgres: Scenario = {
  id: 'R42',
  title: 'kill -9 of a PostgreSQL with synchronous_commit off',
  load: '300 answers/s in requests of 10',
  faults: '10 × SIGKILL of PostgreSQL, a second after its last start or more',
  backends: BOTH,
  quick: BOTH,
  stores: () => ({ postgres: { settings: LAX } }),
  async run(world) {
    await world.start('serve');
    await world.start('work');
    await world.addTenant();
    await world.query('checkpoint'); // only answers may be lost, not the tenant
    const load = world.load({ batch: 10, lanes: 30, perSecond: 30 });
    for (let kills = world.sized(10, 3); kills > 0; kills--) {
      await sleep(world.random.between(1000, 3000));
      await world.stores.postgres.kill('SIGKILL');
      world.fault('kill');
      const downAt = Date.now();
      await world.stores.postgres.start();
      world.recovered(await world.awaitIntake(load, downAt, 60_000));
    }
    await load.stop();
    await world.drained();
    const [row] = await world.query<{ setting: string }>("select current_setting('synchronous_commit') as setting");
    world.must('the database is set to lose commits', row?.setting === 'off', row?.setting);
    world.note(`replies ${tally(load.replies)}`);
  },
};
