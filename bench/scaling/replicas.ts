import { setTimeout as sleep } from 'node:timers/promises';
import type { BATCH, Bench } from '../bench.ts';
import { type Program, readSeries } from '../children.ts';
import { awaitQuiet, type Cost, peakMb, residentMb, startMeter } from '../cpu.ts';
import { sendLoad } from '../load.ts';
import { awaitStill, awaitStored, STORED } from '../pipeline-steps.ts';
import { sampleWaits, type Waits } from './waits.ts';

/** A number of API and worker processes on the same stores. */
export interface Formation {
  apis: number;
  workers: number;
  /** Answers per request. */
  sync: 1 | typeof BATCH;
}

/** The cost of a formation under the load that all formations get. */
export interface FormationCost extends Formation {
  answers: number;
  seconds: number;
  /** CPU µs per answer of all processes of a kind together. */
  micros: { api: number; worker: number; queue: number; database: number };
  answersAFlush: number;
  answersATransaction: number;
  /** Wait states of the workers' connections to PostgreSQL, as shares of their time in transactions. */
  waits: Waits;
  /** Connections to PostgreSQL by application name. */
  connections: Record<string, number>;
  /** Connections to Valkey. */
  queueConnections: number;
  /** Peak memory of a process of the kind, in MB. */
  peakMb: { api: number; worker: number };
  /** Usage by other programs, in cores. */
  other: number;
}

/** The cost of an idle process, in CPU µs per second. */
export interface RestCost {
  apis: number;
  micros: { api: number; queue: number; database: number };
  residentMb: number;
}

const REST_SECONDS = 15;

/** Starts programs that end together with the stack. */
async function startAll(howMany: number, start: () => Promise<Program>, stack: AsyncDisposableStack) {
  const programs: Program[] = [];
  for (let number = 0; number < howMany; number++) programs.push(stack.use(await start()));
  return programs;
}

const numbered = (kind: string, programs: Program[]) =>
  Object.fromEntries(programs.map(({ pid }, index) => [`${kind} ${index}`, pid]));

/** The CPU seconds of all processes of a kind. */
const secondsOf = (cost: Cost, kind: string): number =>
  Object.entries(cost.cpu).reduce((sum, [role, seconds]) => (role.split(' ')[0] === kind ? sum + seconds : sum), 0);

const sumSeries = async (programs: Program[], name: string): Promise<number> =>
  (await Promise.all(programs.map(program => readSeries(program, name)))).reduce((sum, value) => sum + value, 0);

const CONNECTIONS = `select application_name as name, count(*)::int as count from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and application_name like 'parley%' group by 1`;

async function countConnections(bench: Bench): Promise<Record<string, number>> {
  const rows = await bench.query<{ name: string; count: number }>(CONNECTIONS);
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

/** Sends answers over 64 connections spread over the APIs, and waits until every acknowledged answer is stored. */
export async function measureFormation(bench: Bench, { apis, workers, sync }: Formation): Promise<FormationCost> {
  await bench.empty();
  await using stack = new AsyncDisposableStack();
  const working = await startAll(workers, () => bench.parley('work', 'valkey'), stack);
  const serving = await startAll(apis, () => bench.parley('serve', 'valkey'), stack);
  const roles = bench.roles({ ...numbered('api', serving), ...numbered('worker', working) });
  const set = bench.loadSet(sync === 1 ? 'answers' : 'batches');
  const connections = Math.floor(bench.plan.connections / apis);
  const load = (seconds: number) =>
    Promise.all(serving.map(({ url }) => sendLoad(url, set, { connections, warmUpSeconds: 0, seconds }, {})));
  await load(bench.plan.warmUpSeconds * Math.max(apis, workers)); // each process gets only its share of the load
  const before = await awaitStill(bench, STORED);
  const flushesBefore = await sumSeries(serving, 'parley_queue_flushes_total{outcome="written"}');
  const batchesBefore = await sumSeries(working, 'parley_worker_batch_rows_count');
  await bench.query('checkpoint');
  await awaitQuiet(roles);

  const waiting = await sampleWaits(bench.databaseUrl);
  const stopMeter = startMeter(roles);
  const results = await load(bench.settings.storedSeconds);
  const answers = results.reduce((sum, { requests }) => sum + requests * sync, 0);
  const atWork = await countConnections(bench);
  await awaitStored(bench, STORED, before + answers);
  const cost = stopMeter();
  const waits = await waiting.stop();

  const flushes = (await sumSeries(serving, 'parley_queue_flushes_total{outcome="written"}')) - flushesBefore;
  const batches = (await sumSeries(working, 'parley_worker_batch_rows_count')) - batchesBefore;
  const micros = (kind: string) => (secondsOf(cost, kind) / answers) * 1e6;
  return {
    apis,
    workers,
    sync,
    answers,
    seconds: cost.seconds,
    micros: { api: micros('api'), worker: micros('worker'), queue: micros('queue'), database: micros('database') },
    answersAFlush: answers / flushes,
    answersATransaction: answers / batches,
    waits,
    connections: atWork,
    queueConnections: await bench.countQueueClients(),
    peakMb: {
      api: Math.max(...serving.map(({ pid }) => peakMb(pid))),
      worker: Math.max(...working.map(({ pid }) => peakMb(pid))),
    },
    other: Math.max(0, cost.other),
  };
}

/** Measures that many idle APIs and one idle worker. */
export async function measureRest(bench: Bench, apis: number): Promise<RestCost> {
  await bench.empty();
  await using stack = new AsyncDisposableStack();
  await startAll(1, () => bench.parley('work', 'valkey'), stack);
  const serving = await startAll(apis, () => bench.parley('serve', 'valkey'), stack);
  await sleep(bench.plan.warmUpSeconds * 1000);
  const stopMeter = startMeter(bench.roles(numbered('api', serving)));
  await sleep(REST_SECONDS * 1000);
  const cost = stopMeter();
  const micros = (kind: string) => (secondsOf(cost, kind) / cost.seconds) * 1e6;
  return {
    apis,
    micros: { api: micros('api') / Math.max(1, apis), queue: micros('queue'), database: micros('database') },
    residentMb: Math.max(...serving.map(({ pid }) => residentMb(pid))),
  };
}
