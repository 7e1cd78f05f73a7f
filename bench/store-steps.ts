import { randomBytes } from 'node:crypto';
import { v7 } from 'uuid';
import type { AcceptedAnswer } from '../src/domain/answers/answers.ts';
import { parseTypeId } from '../src/domain/ids.ts';
import { createLog } from '../src/platform/log.ts';
import { connectQueue, type QueueConnection } from '../src/queue/connection.ts';
import { KEPT_UNTIL_DONE } from '../src/queue/isolation.ts';
import type { RecordAnswers } from '../src/queue/jobs.ts';
import { entryOfFlush } from '../src/queue/pending.ts';
import { addCounted } from '../src/queue/pending-redis.ts';
import { type Flush, recordAnswers } from '../src/storage/answers/recording.ts';
import { openStorage } from '../src/storage/database/orm.ts';
import type { Bench, Measured } from './bench.ts';
import { awaitQuiet, peakMb, startMeter } from './cpu.ts';
import { copyAnswers } from './floor/copy.ts';
import { awaitStored, STORED } from './pipeline-steps.ts';
import { STEPPED_VALUES, steppedUsers } from './stepped-world.ts';
import { limitedUsers } from './targeted-world.ts';
import type { User } from './world.ts';

/** Answers in a flush of an API under load, and in a transaction of the worker. */
const FLUSH = 50;
const TRANSACTION = 1000;
const TRANSACTIONS_IN_FLIGHT = 2;
/** The share of a run used as warm-up. */
const WARM_UP_SHARE = 0.1;

/** Answers as the API enqueues them, rotating over the users and their cards; by default with scores. */
export function makeAnswers(users: User[], count: number, values?: AcceptedAnswer['values']): AcceptedAnswer[] {
  return Array.from({ length: count }, (_, number) => {
    const user = users[number % users.length] as User;
    const card = user.cards[Math.floor(number / users.length) % user.cards.length] as User['cards'][number];
    const now = new Date().toISOString();
    return {
      tenant_id: user.tenant.uuid,
      id: v7(),
      identity: user.identity,
      identity_verified: true,
      card_id: parseTypeId('card', card.id) as string,
      question_id: parseTypeId('question', card.question_id) as string,
      question_version: card.question_version,
      revision: 1,
      state: 'completed',
      values: values ?? { main: 1 + (number % 5) },
      comment: 'Quick and friendly',
      displayed_at: now,
      answered_at: now,
      duration_ms: 1500,
      metadata: { platform: 'ios', app_version: '4.2.1' },
      content_hash: randomBytes(32).toString('base64url'),
      clock_skew_ms: 12,
      received_at: now,
      once_per_card: true,
    };
  });
}

const slices = <T>(items: T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));

const toFlushes = (answers: AcceptedAnswer[]): Flush[] =>
  slices(answers, FLUSH).map(part => ({ flush: v7(), answers: part }));

/** Processes the parts with up to `lanes` at a time. */
async function inLanes<T>(parts: T[], lanes: number, work: (part: T) => Promise<unknown>): Promise<void> {
  const waiting = [...parts];
  const lane = async () => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) await work(part);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** The worker's store function with all of its writes, called as the worker does under load. */
export async function storeAnswers(databaseUrl: string, answers: AcceptedAnswer[]): Promise<void> {
  const log = createLog('warn', 'bench');
  const storage = openStorage({ url: databaseUrl, role: 'parley_worker', connections: TRANSACTIONS_IN_FLIGHT, log });
  try {
    await inLanes(slices(toFlushes(answers), TRANSACTION / FLUSH), TRANSACTIONS_IN_FLIGHT, flushes =>
      recordAnswers(storage, flushes),
    );
  } finally {
    await storage.close();
  }
}

async function checkRows(bench: Bench, table: string, wanted: number): Promise<void> {
  const [row] = await bench.query<{ count: number }>(`select count(*)::int as count from ${table}`);
  if (row?.count !== wanted) throw new Error(`${table} holds ${row?.count} rows and not ${wanted}`);
}

/** The users and values of answers that are stored. */
interface StoredAnswers {
  usersOf(bench: Bench): Promise<User[]>;
  values?: AcceptedAnswer['values'];
  /** Whether each answer is counted, however many a card has. */
  countsEach?: boolean;
}

/** Stores the same number of rows with one implementation, after a warm-up, on empty tables and a fresh checkpoint. */
const measureStore =
  (
    figure: string,
    program: string,
    table: string,
    store: (url: string, answers: AcceptedAnswer[]) => Promise<void>,
    { usersOf, values, countsEach = false }: StoredAnswers = { usersOf: async bench => bench.users },
  ) =>
  async (bench: Bench): Promise<Measured> => {
    const rows = bench.settings.storeRows;
    const users = await usersOf(bench);
    await bench.empty();
    const make = (count: number) =>
      makeAnswers(users, count, values).map(answer => ({ ...answer, once_per_card: !countsEach }));
    const warmUp = make(rows * WARM_UP_SHARE);
    await store(bench.databaseUrl, warmUp);
    const answers = make(rows);
    await bench.query('checkpoint');
    const roles = bench.roles({});
    await awaitQuiet(roles);
    const stopMeter = startMeter(roles);
    await store(bench.databaseUrl, answers);
    const cost = stopMeter();
    await checkRows(bench, table, warmUp.length + rows);
    // The storing runs in this process, so the time counted as load generator elsewhere belongs to the worker here.
    const worker = { ...cost, cpu: { ...cost.cpu, worker: cost.load }, load: 0 };
    return {
      figures: { [figure]: rows / cost.seconds },
      costs: [{ program, count: rows, per: 'answer', cost: worker }],
    };
  };

export const measureRecord = measureStore('record', "worker's store function", 'answers', storeAnswers);
export const measureCopy = measureStore('copy', 'one COPY', 'floor.answers', copyAnswers);
export const measureLimitsCopy = measureStore('limits copy', 'one COPY, for limits', 'floor.answers', copyAnswers);

const STEPPED: StoredAnswers = {
  usersOf: async bench => (await steppedUsers(bench)).stepped,
  values: STEPPED_VALUES as unknown as AcceptedAnswer['values'],
};
export const measureSteppedRecord = measureStore(
  'stepped record',
  "worker's store function, five steps",
  'answers',
  storeAnswers,
  STEPPED,
);
export const measureSteppedCopy = measureStore(
  'stepped copy',
  'one COPY, five steps',
  'floor.answers',
  copyAnswers,
  STEPPED,
);

const limited = (figure: string, how: 'each' | 'one', program: string) =>
  measureStore(figure, program, 'answers', storeAnswers, {
    usersOf: bench => limitedUsers(bench, how),
    countsEach: true,
  });
export const measureLimitedRecord = limited('limited record', 'each', "worker's store function, limits");
export const measureOneLimit = limited('one limit', 'one', "worker's store function, one limited question");

const JOB = { removeOnComplete: true, attempts: 5 };

/** Adds answers to the queue as flushes, without the API. */
export async function addToQueue(
  queue: ReturnType<QueueConnection['queue']>,
  answers: AcceptedAnswer[],
): Promise<void> {
  const jobs = toFlushes(answers).map(flush => ({
    name: 'answers.record',
    data: { v: 1, ...flush } satisfies RecordAnswers,
    opts: JOB,
  }));
  for (const part of slices(jobs, 100)) await queue.addBulk(part);
}

/** Adds jobs of one answer each as a producer does, counted for their tenants. */
export async function addBacklog(connection: QueueConnection, users: User[], jobs: number): Promise<void> {
  const { queue, redis } = connection;
  if (!redis) throw new Error('a backlog needs Valkey');
  for (const part of slices(makeAnswers(users, jobs), 50)) {
    const counted = part.map(answer => {
      const data: RecordAnswers = { v: 1, flush: v7(), answers: [answer] };
      const opts = { ...KEPT_UNTIL_DONE, jobId: data.flush };
      return { name: 'answers.record', data, opts, entry: entryOfFlush(data) };
    });
    await addCounted(redis, queue(), counted);
  }
}

/** A worker process that drains a full queue. */
export async function measureDrain(bench: Bench): Promise<Measured> {
  await bench.empty();
  const target = { databaseUrl: bench.databaseUrl, redisUrl: bench.stores.valkeyUrl };
  const connection = connectQueue(target, createLog('warn', 'bench'));
  try {
    await new Promise<void>(done => connection.redis?.once('ready', () => done()));
    const queue = connection.queue();
    const add = (count: number) => addToQueue(queue, makeAnswers(bench.users, count));
    const rows = bench.settings.queuedAnswers;
    const warmUp = rows * WARM_UP_SHARE;
    await using worker = await bench.parley('work', 'valkey', { profile: 'goal-9-work' });
    await add(warmUp);
    await awaitStored(bench, STORED, warmUp);
    await queue.pause();
    await add(rows);
    await bench.query('checkpoint');
    const roles = bench.roles({ worker: worker.pid });
    await awaitQuiet(roles);
    const stopMeter = startMeter(roles);
    await queue.resume();
    await awaitStored(bench, STORED, warmUp + rows);
    const cost = stopMeter();
    return {
      figures: { drain: rows / cost.seconds, 'drain peak MB': peakMb(worker.pid) },
      costs: [{ program: 'worker from the queue', count: rows, per: 'answer', cost }],
    };
  } finally {
    await connection.close();
  }
}
