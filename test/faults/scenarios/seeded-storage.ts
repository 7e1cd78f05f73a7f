import { v7 } from 'uuid';
import type { AcceptedAnswer } from '../../../src/domain/answers/answers.ts';
import { createLog } from '../../../src/platform/log.ts';
import { createMetrics } from '../../../src/platform/metrics.ts';
import type { RecordAnswers } from '../../../src/queue/jobs.ts';
import { openStorage, type Storage } from '../../../src/storage/database/orm.ts';
import { createRecordAnswers } from '../../../src/worker/handlers/answers.ts';
import { anAcceptedAnswer } from '../../support/make.ts';
import { withFaults } from '../faulty-storage.ts';
import { createRandom, type Random } from '../random.ts';
import { POSTGRES_ONLY, type Scenario } from '../scenario.ts';
import type { World } from '../world.ts';

const RATE = 0.05;
const MOST_DELIVERIES = 500;
const log = createLog('silent', 'faults');

/** The tenant id contains the seed, so that a violation identifies it. */
const tenantOf = (seed: number): string => `00000000-0000-8000-8000-${seed.toString(16).padStart(12, '0')}`;

/** Flushes like those of an API. Some answers are in two of them, as after a retried request. */
function makeFlushes(seed: number, random: Random): RecordAnswers[] {
  const made: AcceptedAnswer[] = [];
  return Array.from({ length: random.whole(4, 10) }, () => {
    const fresh = Array.from({ length: random.whole(1, 12) }, () => {
      const id = v7();
      return anAcceptedAnswer({ tenant_id: tenantOf(seed), id, identity: `user|${id}`, content_hash: id });
    });
    const again = made.length > 0 && random.between(0, 1) < 0.3 ? [random.pick(made)] : [];
    made.push(...fresh);
    return { v: 1, flush: v7(), answers: [...fresh, ...again] };
  });
}

/** Records a seed's flushes in the ledger as acknowledged: from here on they count as queued. */
async function acknowledge(world: World, seed: number, flushes: RecordAnswers[]): Promise<void> {
  for (const { answers } of flushes) await world.ledger.after(await world.ledger.before(tenantOf(seed), answers), 202);
}

/** Delivers a job until its handler succeeds, like the queue, and sometimes a second time. */
async function deliver(
  handle: (job: RecordAnswers) => Promise<void>,
  job: RecordAnswers,
  random: Random,
): Promise<void> {
  for (let delivery = 0, twice = random.between(0, 1) < 0.2; delivery < MOST_DELIVERIES; delivery++) {
    const done = await handle(job).then(
      () => true,
      () => false, // the injected fault; the loop delivers the job again, as the queue does
    );
    if (done && !twice) return;
    if (done) twice = false;
  }
  throw new Error(`flush ${job.flush} was not recorded in ${MOST_DELIVERIES} deliveries`);
}

async function runSeed(world: World, storage: Storage, seed: number): Promise<number> {
  const random = createRandom(seed);
  const faulty = withFaults(storage, random, RATE);
  const handle = createRecordAnswers({ storage: faulty, metrics: createMetrics('faults'), log });
  const flushes = makeFlushes(seed, random);
  await acknowledge(world, seed, flushes);
  const outcomes = await Promise.allSettled(flushes.map(flush => deliver(handle, flush, random)));
  const failed = outcomes.find(outcome => outcome.status === 'rejected');
  if (failed) throw new Error(`seed ${seed}: ${failed.reason}`);
  return faulty.injected();
}

export const seededFaults: Scenario = {
  id: 'R28',
  title: 'seeded faults between worker and database',
  load: '1,000 seeds of 4 to 10 flushes each, delivered at once and some twice',
  faults:
    '5 % of all statements and commits: time-out, 40001, 40P01, 23505, 08006, 53300, before or after they were done',
  backends: POSTGRES_ONLY,
  quick: POSTGRES_ONLY,
  async run(world) {
    const { url } = world.stores.postgres;
    const storage = openStorage({ url, role: 'parley_worker', connections: 10, log });
    const seeds = world.sized(1000);
    const first = world.random.whole(0, 2 ** 30);
    try {
      for (let done = 0; done < seeds; done++) {
        world.fault('injected', await runSeed(world, storage, first + done));
        if (done % 250 === 249) world.progress(`${done + 1} of ${seeds} seeds`);
      }
    } finally {
      await storage.close();
    }
    world.note(`seeds ${first} to ${first + seeds - 1}; a violation names its seed in hexadecimal as the tenant`);
    const faults = world.faults.get('injected') ?? 0;
    world.must('faults were injected', faults > seeds, faults);
  },
};
