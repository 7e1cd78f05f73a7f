import { setTimeout as sleep } from 'node:timers/promises';
import { tally } from '../load.ts';
import { BOTH, type Scenario } from '../scenario.ts';
import type { World } from '../world.ts';

const LOAD = '300 answers/s in requests of 10, all data on file systems of their own';

/** Cuts the power of all stores at once, dropping unsynced writes, then starts everything again. */
async function cutPower(world: World): Promise<void> {
  // Stored answers are safe in PostgreSQL. Stopping the workers keeps answers in the queue at the time of the cut.
  for (const worker of world.units.filter(({ role }) => role === 'work')) worker.signal('SIGSTOP');
  await sleep(world.random.between(300, 1200));
  const stores = Object.values(world.stores).filter(store => store !== undefined);
  await Promise.all(stores.map(store => store.freeze()));
  for (const unit of world.units) unit.signal('SIGSTOP');
  await Promise.all(stores.map(store => store.cutPower()));
  world.fault('kill');
  await Promise.all(world.units.map(unit => unit.end('SIGKILL')));
  await Promise.all(stores.map(store => store.start()));
  await Promise.all(world.units.map(unit => unit.restart()));
}

async function cutAgainAndAgain(world: World, cuts: number, environment: Record<string, string> = {}): Promise<void> {
  const api = await world.start('serve', { environment });
  await world.start('work', { environment });
  await world.addTenant();
  await world.query('checkpoint'); // the control must lose answers, not the tenant
  const load = world.load({ batch: 10, lanes: 30, perSecond: 30, addresses: () => [api.baseUrl] });
  for (let done = 0; done < cuts; done++) {
    await sleep(world.random.between(1000, 3000));
    await cutPower(world);
    world.recovered(await world.awaitIntake(load, Date.now()));
    if (done % 5 === 4) world.progress(`${done + 1} of ${cuts} power cuts`);
  }
  await load.stop();
  world.note(`replies ${tally(load.replies)}`);
}

export const powerCuts: Scenario = {
  id: 'R36',
  title: 'power cuts',
  load: LOAD,
  faults: '20 power cuts of the whole machine: stores, API and worker',
  backends: BOTH,
  stores: () => ({ postgres: { diskMegabytes: 1000 }, valkey: { diskMegabytes: 300 } }),
  run: world => cutAgainAndAgain(world, world.sized(20, 3)),
};

const UNSYNCED = { synchronous_commit: 'off', wal_writer_delay: '2s' };

/** The same with replies before the write to disk. Losses here prove the method. */
export const powerCutsUnsynced: Scenario = {
  id: 'R36-control',
  title: 'power cuts with appendfsync everysec, or synchronous_commit off (control: it has to lose)',
  load: LOAD,
  faults: '5 power cuts of the whole machine, QUEUE_DURABILITY=relaxed',
  backends: BOTH,
  isControl: true,
  stores: backend => ({
    postgres: { diskMegabytes: 1000, ...(backend === 'postgres' ? { settings: UNSYNCED } : {}) },
    valkey: { diskMegabytes: 300, settings: { appendfsync: 'everysec' } },
  }),
  run: world => cutAgainAndAgain(world, world.sized(5, 3), { QUEUE_DURABILITY: 'relaxed' }),
};
