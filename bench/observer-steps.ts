import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { createLog } from '../src/platform/log.ts';
import { connectQueue } from '../src/queue/connection.ts';
import type { Bench, Measured } from './bench.ts';
import type { Program } from './children.ts';
import { measureLoad } from './load.ts';
import { mean } from './numbers.ts';
import { addBacklog } from './store-steps.ts';

/** Jobs that wait: below `QUEUE_MAX_JOBS`, beyond which answers are refused. */
const BACKLOG = 90_000;
const DASHBOARDS = 10;
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
      const { queued } = (await reply.json()) as { queued?: number };
      if (reply.status !== 200 || !queued) throw new Error(`a dashboard got ${reply.status}, queued ${queued}`);
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

/** Intake on an empty queue. */
async function measureAlone(bench: Bench): Promise<number> {
  await bench.empty();
  await using api = await bench.parley('serve', 'valkey');
  return (await measureLoad(api.url, bench.loadSet('answers'), bench.plan, bench.roles({ api: api.pid }))).rate;
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

/** Intake on a backlog that dashboards watch, between two runs of intake on an empty queue that none watches. */
export async function measureWatched(bench: Bench): Promise<Measured> {
  const before = await measureAlone(bench);
  await fill(bench);
  const { rate, looksMs } = await (async () => {
    await using api = await bench.parley('serve', 'valkey');
    const dashboards = openDashboards(bench, api);
    const result = await measureLoad(api.url, bench.loadSet('answers'), bench.plan, bench.roles({ api: api.pid }));
    return { rate: result.rate, looksMs: await dashboards.close() };
  })();
  const after = await measureAlone(bench);
  await bench.empty();
  return { figures: { watched: rate, unwatched: mean([before, after]), 'dashboard ms': looksMs }, costs: [] };
}
