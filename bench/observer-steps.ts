import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { createLog } from '../src/platform/log.ts';
import { connectQueue } from '../src/queue/connection.ts';
import type { Bench, Measured } from './bench.ts';
import type { Program } from './children.ts';
import { sendLoad } from './load.ts';
import { mean, median } from './numbers.ts';
import { addBacklog } from './store-steps.ts';

/** Jobs that wait: below `QUEUE_MAX_JOBS`, beyond which answers are refused. */
const BACKLOG = 90_000;
const DASHBOARDS = 10;
const PAIRS = 8;
/** Long enough for each dashboard to read. */
const SLICE_SECONDS = 3;
/** How often the dashboard reads the ingestion. */
const EVERY_MS = 2000;

/** Dashboards of ten tenants that read `GET /v1/ingestion` every 2 s; ends with how long the reads took. */
function openDashboards(bench: Bench, api: Program) {
  const ending = new AbortController();
  const tookMs: number[] = [];
  const open = async (number: number) => {
    await sleep((number * EVERY_MS) / DASHBOARDS);
    while (!ending.signal.aborted) {
      const startedAt = performance.now();
      const headers = { Authorization: `Bearer ${bench.tenants[number % bench.tenants.length]?.apiKey}` };
      const reply = await fetch(`${api.url}/v1/ingestion`, { headers });
      const body = (await reply.json()) as { queued?: number };
      if (!body.queued) throw new Error(`a dashboard got ${reply.status}: ${JSON.stringify(body)}`);
      tookMs.push(performance.now() - startedAt);
      await sleep(EVERY_MS, undefined, { signal: ending.signal }).catch(() => undefined); // the end
    }
  };
  const opened = Promise.all(Array.from({ length: DASHBOARDS }, (_, number) => open(number)));
  return {
    async close(): Promise<number> {
      ending.abort();
      await opened;
      return mean(tookMs);
    },
  };
}

/** Valkey rewrites its file after such growth; that belongs to the filling. */
async function awaitRewritten(redis: Redis): Promise<void> {
  await redis.bgrewriteaof();
  while (!/aof_rewrite_in_progress:0/.test(await redis.info('persistence'))) await sleep(200);
}

async function fill(bench: Bench): Promise<void> {
  await bench.empty();
  const target = { databaseUrl: bench.databaseUrl, redisUrl: bench.stores.valkeyUrl };
  const connection = connectQueue(target, createLog('warn', 'bench'));
  try {
    await new Promise<void>(done => connection.redis?.once('ready', () => done()));
    await addBacklog(connection, bench.users, BACKLOG);
    await awaitRewritten(connection.redis as Redis);
  } finally {
    await connection.close();
  }
}

/**
 * Intake on a backlog that dashboards watch, and intake on an empty queue of the same store, in turn: each ratio is of two
 * neighbours in time, and the median counts.
 */
export async function measureWatched(bench: Bench): Promise<Measured> {
  await fill(bench);
  await using full = await bench.parley('serve', 'valkey');
  await using empty = await bench.parley('serve', 'valkey', { valkeyDatabase: 1 });
  const send = async ({ url, pid }: Program, seconds = SLICE_SECONDS) =>
    (await sendLoad(url, bench.loadSet('answers'), { ...bench.plan, seconds }, bench.roles({ api: pid }))).rate;
  for (const api of [full, empty]) await send(api, bench.plan.warmUpSeconds);
  const pairs: { watched: number; alone: number }[] = [];
  const looksMs: number[] = [];
  while (pairs.length < PAIRS) {
    const alone = await send(empty);
    const dashboards = openDashboards(bench, full);
    const watched = await send(full);
    looksMs.push(await dashboards.close());
    pairs.push({ watched, alone });
  }
  await bench.empty();
  const figures = {
    watched: median(pairs.map(({ watched, alone }) => watched / alone)),
    'dashboard ms': median(looksMs),
  };
  return { figures, costs: [] };
}
