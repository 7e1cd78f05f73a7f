import { setTimeout as sleep } from 'node:timers/promises';
import { tally } from '../load.ts';
import { BOTH, type Scenario } from '../scenario.ts';
import type { Unit } from '../units.ts';
import type { World } from '../world.ts';

/** Kills one of the processes at random moments, after a pause of up to 3 s or `longestMs`, and restarts it at once. */
export async function killInTurns(world: World, victims: Unit[], kills: number, longestMs = 3000): Promise<void> {
  for (let done = 0; done < kills; done++) {
    await sleep(world.random.between(500, longestMs));
    const victim = world.random.pick(victims);
    await victim.end('SIGKILL');
    world.fault('kill');
    await victim.restart();
    if (done % 5 === 4) world.progress(`${done + 1} of ${kills} kills`);
  }
}

export const workerKills: Scenario = {
  id: 'R1',
  title: 'kill -9 of workers',
  load: '40,000 answers at 500/s in requests of 20, two workers',
  faults: '20 × SIGKILL of either worker, 0.5 to 3 s apart',
  backends: BOTH,
  async run(world) {
    await world.start('serve');
    const workers = [await world.start('work'), await world.start('work')];
    await world.addTenant();
    const load = world.load({ batch: 20, lanes: 20, perSecond: 25, requests: world.sized(2000) });
    await killInTurns(world, workers, world.sized(20, 3));
    const lastKill = Date.now();
    await load.finished;
    await world.drained();
    const backlogMs = Date.now() - Math.max(lastKill, load.replies.at(-1)?.at ?? 0);
    world.recovered(backlogMs);
    world.must('no backlog within 30 s of the last kill', backlogMs <= 30_000, `${backlogMs} ms`);
    world.must(
      'every request was acknowledged at once',
      tally(load.replies) === `202: ${load.replies.length}`,
      tally(load.replies),
    );
  },
};

export const apiKills: Scenario = {
  id: 'R2',
  title: 'kill -9 of APIs under clients that send again',
  load: '40,000 answers from 100 clients in requests of 20, two APIs',
  faults: '20 × SIGKILL of either API, 0.5 to 3 s apart',
  backends: BOTH,
  quick: BOTH,
  async run(world) {
    const apis = [await world.start('serve'), await world.start('serve')];
    await world.start('work');
    await world.addTenant();
    const addresses = apis.map(api => api.baseUrl); // including stopped ones, because clients do not notice
    const load = world.load({
      batch: 20,
      lanes: 100,
      perSecond: 60,
      requests: world.sized(2000),
      addresses: () => addresses,
    });
    await killInTurns(world, apis, world.sized(20, 3));
    await Promise.all(apis.map(api => api.awaitReady()));
    await load.finished;
    world.recovered(await world.drained());
    world.must(
      'clients met broken connections',
      load.replies.some(reply => reply.status === 'broken'),
      tally(load.replies),
    );
    world.must(
      'nothing but 202 and 503 was replied',
      load.replies.every(({ status }) => status === 'broken' || status === 202 || status === 503),
    );
  },
};
