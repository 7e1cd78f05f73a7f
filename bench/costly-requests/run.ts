import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { openApi } from '../../src/api/server.ts';
import { migrateAll } from '../../src/commands/migrate.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { openDatabase } from '../../src/platform/database.ts';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { toTable } from '../report.ts';
import { createDatabase, openStores } from '../stores.ts';
import { makeTenants } from '../world.ts';
import { type CostlyRequest, costlyRequests, type Send } from './requests.ts';

/** CPU time that one request may take in the thread of the API, and the number of requests whose median counts. */
const LIMIT_MS = 20;
const TURNS = Number(process.argv[2] ?? 20);

/** Returns the CPU time of this thread, in which the API runs; the client has one of its own. */
const threadMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** Starts to watch the loop. Returns a function that returns its longest turn since then, in ms. */
function watchTurns(): () => number {
  let last = performance.now();
  let longest = 0;
  let isWatching = true;
  const tick = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (isWatching) setImmediate(tick);
  };
  setImmediate(tick);
  return () => {
    isWatching = false;
    return longest;
  };
}

/** Measures one request: the median of its CPU time, and the least of its longest turns, which other programs lengthen. */
async function measure(costly: CostlyRequest, send: Send): Promise<string[]> {
  const spent: number[] = [];
  const turns: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const request = await costly.make(turn);
    const before = threadMs();
    const reply = await send(request);
    spent.push(threadMs() - before);
    if (reply.status !== costly.status) return [costly.operation, costly.input, '', '', reply.text.slice(0, 300)];
  }
  for (let turn = TURNS; turn < TURNS + 3; turn++) {
    const request = await costly.make(turn);
    const stop = watchTurns();
    await send(request);
    turns.push(stop());
  }
  const held = Math.min(...turns);
  return [costly.operation, costly.input, median(spent).toFixed(1), held.toFixed(1), held > LIMIT_MS ? 'over' : ''];
}

const log = createLog('warn', 'bench');
await using stores = await openStores();
const url = await createDatabase(stores, 'parley_costly_requests');
const secretKey = randomBytes(32).toString('base64');
const config = loadConfig({
  DATABASE_URL: url,
  SECRET_KEY: secretKey,
  PORT: '0',
  RATE_LIMITS: 'off',
  LOG_LEVEL: 'warn',
});
const database = await openDatabase(config, false, log);
await migrateAll(database.url, config, log);
const [tenant] = await makeTenants(url, secretKey, 1);
const api = await openApi({
  databaseUrl: database.url,
  secretKeys: { current: secretKey, others: [] },
  config,
  log,
  metrics: createMetrics('serve'),
});
const client = new Worker(new URL('./client.ts', import.meta.url), {
  workerData: { url: `http://127.0.0.1:${api.port}` },
});
const send: Send = async request => {
  const replied = once(client, 'message');
  client.postMessage(request);
  return (await replied)[0];
};
if (!tenant) throw new Error('There is no tenant.');
while (!api.isReady()) await new Promise(setImmediate);
const rows = [['operation', 'input', 'thread CPU, ms', 'longest turn, ms', '']];
for (const costly of costlyRequests(tenant, send)) {
  rows.push(await measure(costly, send));
  process.stderr.write(`${rows.at(-1)?.join(' | ')}\n`);
}
process.stdout.write(`${toTable(rows)}\n`);
await client.terminate();
await api.close();
process.exit();
