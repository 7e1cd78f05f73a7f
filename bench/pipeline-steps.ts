import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, Measured } from './bench.ts';
import type { Program } from './children.ts';
import { startMeter } from './cpu.ts';
import { sendLoad } from './load.ts';

const DRAINED_WITHIN_MS = 120_000;
/** Short compared with what is measured. Every 5 ms, the queries would take 6 % of both cores. */
const POLL_MS = 20;

interface Design {
  name: string;
  /** The name of the rate, and the prefix of the share of acknowledged answers not yet stored when the load ends. */
  figure: string;
  set: 'answers' | 'naive';
  startApi(bench: Bench): Promise<Program>;
  startWorker(bench: Bench): Promise<Program>;
  /** A cheap count of stored answers, and an exact count of the rows. */
  countSql: string;
  rowsSql: string;
}

/** A cheap count of the answers that Parley has stored. */
export const STORED = 'select coalesce(sum(stored), 0)::int as count from ingestion_totals';

const PARLEY: Design = {
  name: 'acknowledged and stored',
  figure: 'stored',
  set: 'answers',
  startApi: bench => bench.parley('serve', 'valkey'),
  startWorker: bench => bench.parley('work', 'valkey'),
  countSql: STORED,
  rowsSql: 'select count(*)::int as count from answers',
};

const NAIVE: Design = {
  name: 'naive: queue.add an answer, INSERT a job',
  figure: 'naive',
  set: 'naive',
  startApi: bench => bench.floor('naive-api'),
  startWorker: bench => bench.floor('naive-worker'),
  countSql: 'select count(*)::int as count from floor.answers',
  rowsSql: 'select count(*)::int as count from floor.answers',
};

export const count = async (bench: Bench, sql: string): Promise<number> =>
  (await bench.query<{ count: number }>(sql))[0]?.count ?? 0;

/** Waits until that many answers are stored. Rejects after a timeout. */
export async function awaitStored(bench: Bench, sql: string, wanted: number): Promise<void> {
  for (const deadline = Date.now() + DRAINED_WITHIN_MS; (await count(bench, sql)) < wanted; await sleep(POLL_MS))
    if (Date.now() > deadline) throw new Error(`${wanted} answers were acknowledged, but not all are stored`);
}

/** Waits until the number of stored answers stops growing. */
export async function awaitStill(bench: Bench, sql: string): Promise<number> {
  for (let before = -1; ; await sleep(250)) {
    const now = await count(bench, sql);
    if (now === before) return now;
    before = now;
  }
}

/** API, worker, stores and load generator together, until every acknowledged answer is stored. */
const measureDesign =
  (design: Design) =>
  async (bench: Bench): Promise<Measured> => {
    await bench.empty();
    await using worker = await design.startWorker(bench);
    await using api = await design.startApi(bench);
    const roles = bench.roles({ api: api.pid, worker: worker.pid });
    const set = bench.loadSet(design.set);
    await sendLoad(api.url, set, { ...bench.plan, seconds: bench.plan.warmUpSeconds }, roles);
    const before = await awaitStill(bench, design.countSql);
    await bench.query('checkpoint');

    const stopMeter = startMeter(roles);
    const startedAt = performance.now();
    const load = await sendLoad(api.url, set, { ...bench.plan, seconds: bench.settings.storedSeconds }, roles);
    const atEnd = (await count(bench, design.countSql)) - before;
    await awaitStored(bench, design.countSql, before + load.requests);
    const seconds = (performance.now() - startedAt) / 1000;
    const cost = stopMeter();

    await awaitStill(bench, design.countSql);
    const rows = (await count(bench, design.rowsSql)) - before;
    if (rows < load.requests) throw new Error(`${load.requests} answers were acknowledged, ${rows} are stored`);
    return {
      figures: {
        [design.figure]: load.requests / seconds,
        [`${design.figure} acknowledged`]: load.rate,
        [`${design.figure} backlog`]: Math.max(0, load.requests - atEnd) / load.requests,
        [`${design.figure} p50 ms`]: load.p50Ms,
        [`${design.figure} p99 ms`]: load.p99Ms,
      },
      costs: [{ program: design.name, count: load.requests, per: 'answer', cost }],
    };
  };

/** Goal 6: checks that every acknowledged answer is stored. */
export const measureStored = measureDesign(PARLEY);

/** The floor of goal 7. */
export const measureNaive = measureDesign(NAIVE);
