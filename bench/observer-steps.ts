import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createLog } from '../src/platform/log.ts';
import { connectQueue } from '../src/queue/connection.ts';
import type { Bench, Measured } from './bench.ts';
import type { Program } from './children.ts';
import { sendLoad } from './load.ts';
import { mean, median } from './numbers.ts';
import { addBacklog } from './store-steps.ts';

/** Waiting jobs. The load adds some 12,000, so that the default of `QUEUE_MAX_JOBS` would reject its answers. */
const BACKLOG = 90_000;
const LARGE_QUEUE = { QUEUE_MAX_JOBS: '200000' };
const DASHBOARDS = 10;
const PAIRS = 8;
/** Long enough for each dashboard to send a request. */
const SLICE_SECONDS = 3;
/** The dashboard's polling interval for ingestion. */
const EVERY_MS = 2000;

/** Dashboards of ten tenants that read `GET /v1/ingestion` every 2 s. Returns the response times at the end. */
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
      await sleep(EVERY_MS, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  };
  const opened = Promise.all(Array.from({ length: DASHBOARDS }, (_, number) => open(number)));
  opened.catch(() => undefined); // `close` rejects with it, unless the measurement has failed before
  return {
    async close(): Promise<number> {
      ending.abort();
      await opened;
      return mean(tookMs);
    },
  };
}

/**
 * Rewrites Valkey's append-only file, which such growth triggers, before the measurement starts. It has a connection
 * without a time limit for commands: the end of a rewrite can block the store for seconds.
 */
async function rewriteAof(valkeyUrl: string): Promise<void> {
  const redis = new Redis(valkeyUrl);
  try {
    await redis.bgrewriteaof().catch(error => {
      if (!/already in progress/.test(error.message)) throw error; // the growth has triggered it
    });
    while (!/aof_rewrite_in_progress:0/.test(await redis.info('persistence'))) await sleep(200);
  } finally {
    redis.disconnect();
  }
}

async function fill(bench: Bench): Promise<void> {
  await bench.empty();
  const target = { databaseUrl: bench.databaseUrl, redisUrl: bench.stores.valkeyUrl };
  const connection = connectQueue(target, createLog('warn', 'bench'));
  try {
    await new Promise<void>(done => connection.redis?.once('ready', () => done()));
    await addBacklog(connection, bench.users, BACKLOG);
  } finally {
    await connection.close();
  }
  await rewriteAof(bench.stores.valkeyUrl as string);
}

/**
 * Intake with a backlog watched by dashboards, in alternation with intake on an empty queue of the same store. Returns
 * the median ratio of adjacent measurements.
 */
export async function measureWatched(bench: Bench): Promise<Measured> {
  await fill(bench);
  await using full = await bench.parley('serve', 'valkey', { environment: LARGE_QUEUE });
  await using empty = await bench.parley('serve', 'valkey', { valkeyDatabase: 1 });
  const send = async ({ url, pid }: Program, seconds = SLICE_SECONDS) =>
    (await sendLoad(url, bench.loadSet('answers'), { ...bench.plan, seconds }, bench.roles({ api: pid }))).rate;
  for (const api of [full, empty]) await send(api, bench.plan.warmUpSeconds);
  const pairs: { watched: number; idle: number }[] = [];
  const readsMs: number[] = [];
  while (pairs.length < PAIRS) {
    const idle = await send(empty);
    const dashboards = openDashboards(bench, full);
    const watched = await send(full);
    readsMs.push(await dashboards.close());
    pairs.push({ watched, idle });
  }
  await bench.empty();
  const figures = {
    watched: median(pairs.map(({ watched, idle }) => watched / idle)),
    'dashboard ms': median(readsMs),
  };
  return { figures, costs: [] };
}
