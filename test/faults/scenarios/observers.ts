import { setTimeout as sleep } from 'node:timers/promises';
import { type Load, percentile, tally } from '../load.ts';
import { BOTH, type Scenario } from '../scenario.ts';
import { slowest, startProbe } from '../watch.ts';

/** The dashboard's polling interval for ingestion. */
const EVERY_MS = 2000;
const OBSERVERS = 5;

const p50 = ({ replies }: Load): number =>
  percentile(
    replies.map(({ ms }) => ms),
    0.5,
  );

const isSum = (body: Record<string, number>): boolean =>
  body.accepted === (body.stored ?? 0) + (body.repeated ?? 0) + (body.quarantined ?? 0) + (body.queued ?? 0);

export const observedBacklog: Scenario = {
  id: 'R44',
  title: 'a backlog that five dashboards watch',
  load: '20,000 requests of one answer, four at a time, with no worker, then 20 requests/s for 60 s without, with and without observers',
  faults: 'five observers that read GET /v1/ingestion every 2 s',
  backends: BOTH,
  exclusive: true,
  async run(world) {
    const api = await world.start('serve');
    const second = await world.start('serve');
    const tenant = await world.addTenant();
    const first = world.load({ batch: 1, lanes: 4, requests: world.sized(20_000, 2000) });
    await first.finished;
    const steadily = { batch: 1, lanes: 10, perSecond: 20, addresses: () => [api.baseUrl] };
    const measure = async () => {
      const load = world.load(steadily);
      await sleep(world.sized(60_000, 8000));
      await load.stop();
      return load;
    };
    const before = await measure();
    const observers = Array.from({ length: OBSERVERS }, (_, number) =>
      startProbe(world, `${number % 2 === 0 ? api.baseUrl : second.baseUrl}/v1/ingestion`, {
        everyMs: EVERY_MS,
        as: tenant.apiKey,
      }),
    );
    const watched = await measure();
    const looks = (await Promise.all(observers.map(observer => observer.stop()))).flat();
    const after = await measure();

    const read = async () => {
      const { body } = await world.request(`${second.baseUrl}/v1/ingestion`, { as: tenant.apiKey });
      return JSON.parse(body) as Record<string, number>;
    };
    const acknowledged = [first, before, watched, after].reduce((sum, load) => sum + load.acknowledged(), 0);
    const waiting = await read();
    await world.start('work');
    await world.drained(300_000);
    const atRest = await read();

    const baseline = (p50(before) + p50(after)) / 2;
    const slowestLook = slowest(looks);
    world.note(`p50 ${baseline} ms without observers, ${p50(watched)} ms watched; replies ${tally(watched.replies)}`);
    world.must(
      'no request is refused while observers read',
      watched.replies.every(({ status }) => status === 202),
    );
    const slower = p50(watched) / Math.max(1, baseline);
    world.must('intake is at most twice as slow (p50)', slower <= 2, `${slower.toFixed(2)} ×`);
    world.must(
      'every observer gets a reply within 2 s',
      looks.every(({ status }) => status === 200) && slowestLook <= 2000,
      `${looks.length} reads, slowest ${slowestLook} ms`,
    );
    // A request whose reply was lost is sent again and counted as repeated.
    world.must(
      'another process has every acknowledged answer in its figures',
      waiting.accepted === waiting.queued && waiting.accepted === atRest.accepted,
      `${waiting.accepted} of ${atRest.accepted}, ${acknowledged} of them acknowledged`,
    );
    world.must(
      'at rest all is accounted for and nothing is queued',
      atRest.queued === 0 && atRest.stored === acknowledged && isSum(atRest),
      `${atRest.stored} stored, ${atRest.repeated} repeated, ${atRest.queued} queued`,
    );
  },
};
