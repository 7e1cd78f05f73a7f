import { resolve } from 'node:path';
import type { Bench } from './bench.ts';
import { type Program, readSeries } from './children.ts';
import { messageRequests, writersOf } from './event-steps.ts';
import { LoadRejected, type LoadSet, sendLoad } from './load.ts';
import { median, short } from './numbers.ts';
import { toTable } from './report.ts';
import { startConversations } from './world.ts';

/** Requests, and the connections that send them. */
interface Load {
  name: string;
  set: LoadSet;
  connections: number;
}

const WARM_UP_SECONDS = 4;
const SECONDS = 2;
const PAIRS = 8;
/** How often a measurement is repeated because requests were rejected, as while the disk stalls for 0.75 s. */
const MAX_REPEATS = 3;

interface Sample {
  rate: number;
  apiMicroseconds: number;
}

/** The loads that both versions get in turn. */
async function loadsOf(bench: Bench): Promise<Load[]> {
  const { connections } = bench.plan;
  const loads: Load[] = (['cards', 'unchanged', 'answers', 'batches'] as const).map(name => ({
    name,
    set: bench.loadSet(name),
    connections,
  }));
  await using api = await bench.parley('serve', 'valkey');
  for (const [name, tenants] of Object.entries(writersOf(bench))) {
    const set = bench.createLoadSet(messageRequests(await startConversations(api.url, tenants)));
    loads.push({ name, set, connections: tenants.length });
  }
  return loads;
}

async function measureOnce(bench: Bench, api: Program, { set, connections }: Load, seconds: number): Promise<Sample> {
  await bench.empty();
  const { rate, requests, cost } = await sendLoad(
    api.url,
    set,
    { ...bench.plan, connections, seconds },
    bench.roles({ api: api.pid }),
  );
  return { rate, apiMicroseconds: ((cost.cpu.api ?? 0) / requests) * 1e6 };
}

/** Returns a measurement in which no request was rejected. Reports each other one, with the API's last log lines. */
async function measure(
  { bench, log }: { bench: Bench; log: (text: string) => void },
  api: Program,
  load: Load,
  seconds: number,
): Promise<Sample> {
  for (let repeats = 0; ; repeats++) {
    try {
      return await measureOnce(bench, api, load, seconds);
    } catch (error) {
      if (!(error instanceof LoadRejected)) throw error;
      const shed = await readSeries(api, 'parley_requests_shed_total');
      log(`${load.name}: ${error.message} (${shed} shed since the start). The API's last lines:\n${api.lastLines()}`);
      if (repeats >= MAX_REPEATS) throw error;
    }
  }
}

/**
 * Measures two versions of the API in alternation, two seconds each, eight times. Returns the median ratio of adjacent
 * measurements, so that a slow drift of the machine's speed cancels out.
 *
 * `folder` holds the other version, with its `node_modules`. It has a queue of its own: next to a version without the
 * registry of pending answers, this one would repair the registry.
 */
export async function measureAgainst(bench: Bench, folder: string, log: (text: string) => void): Promise<string> {
  if (!bench.stores.valkeyUrl) throw new Error('--against needs Valkey, and no Docker Engine was found');
  const table = [
    ['requests', 'pairs', 'API µs there', 'here', 'here ÷ there', 'a second there', 'here', 'here ÷ there'],
  ];
  for (const load of await loadsOf(bench)) {
    await using there = await bench.parley('serve', 'valkey', { folder: resolve(folder), valkeyDatabase: 1 });
    await using here = await bench.parley('serve', 'valkey');
    for (const api of [there, here]) await measure({ bench, log }, api, load, WARM_UP_SECONDS);
    await bench.query('vacuum (analyze) conversations, messages'); // as autovacuum does within minutes
    const pairs: [Sample, Sample][] = [];
    while (pairs.length < PAIRS)
      pairs.push([
        await measure({ bench, log }, there, load, SECONDS),
        await measure({ bench, log }, here, load, SECONDS),
      ]);
    const middle = (of: (pair: [Sample, Sample]) => number) => short(median(pairs.map(of)));
    table.push([
      load.name,
      String(PAIRS),
      middle(([other]) => other.apiMicroseconds),
      middle(([, own]) => own.apiMicroseconds),
      middle(([other, own]) => own.apiMicroseconds / other.apiMicroseconds),
      middle(([other]) => other.rate),
      middle(([, own]) => own.rate),
      middle(([other, own]) => own.rate / other.rate),
    ]);
    log(`${load.name}: ${PAIRS} pairs`);
  }
  return toTable(table);
}
