import { resolve } from 'node:path';
import type { Bench } from './bench.ts';
import { type Program, readSeries } from './children.ts';
import { LoadRejected, sendLoad } from './load.ts';
import { median, short } from './numbers.ts';
import { toTable } from './report.ts';

const SETS = ['cards', 'answers', 'batches'] as const;
const WARM_UP_SECONDS = 4;
const SECONDS = 2;
const PAIRS = 8;
/** How often a measurement is repeated because requests were rejected, as while the disk stalls for 0.75 s. */
const MAX_REPEATS = 3;

interface Sample {
  rate: number;
  apiMicroseconds: number;
}

async function measureOnce(bench: Bench, api: Program, set: (typeof SETS)[number], seconds: number): Promise<Sample> {
  await bench.empty();
  const { rate, requests, cost } = await sendLoad(
    api.url,
    bench.loadSet(set),
    { ...bench.plan, seconds },
    bench.roles({ api: api.pid }),
  );
  return { rate, apiMicroseconds: ((cost.cpu.api ?? 0) / requests) * 1e6 };
}

/** Returns a measurement in which no request was rejected. Reports each other one, with what the API logged. */
async function measure(
  { bench, log }: { bench: Bench; log: (text: string) => void },
  api: Program,
  set: (typeof SETS)[number],
  seconds: number,
): Promise<Sample> {
  for (let repeats = 0; ; repeats++) {
    try {
      return await measureOnce(bench, api, set, seconds);
    } catch (error) {
      if (!(error instanceof LoadRejected)) throw error;
      const shed = await readSeries(api, 'parley_requests_shed_total');
      log(`${set}: ${error.message} (${shed} shed since the start). The API's last lines:\n${api.lastLines()}`);
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
  for (const set of SETS) {
    await using there = await bench.parley('serve', 'valkey', { folder: resolve(folder), valkeyDatabase: 1 });
    await using here = await bench.parley('serve', 'valkey');
    for (const api of [there, here]) await measure({ bench, log }, api, set, WARM_UP_SECONDS);
    const pairs: [Sample, Sample][] = [];
    while (pairs.length < PAIRS)
      pairs.push([
        await measure({ bench, log }, there, set, SECONDS),
        await measure({ bench, log }, here, set, SECONDS),
      ]);
    const middle = (of: (pair: [Sample, Sample]) => number) => short(median(pairs.map(of)));
    table.push([
      set,
      String(PAIRS),
      middle(([other]) => other.apiMicroseconds),
      middle(([, own]) => own.apiMicroseconds),
      middle(([other, own]) => own.apiMicroseconds / other.apiMicroseconds),
      middle(([other]) => other.rate),
      middle(([, own]) => own.rate),
      middle(([other, own]) => own.rate / other.rate),
    ]);
    log(`${set}: ${PAIRS} pairs`);
  }
  return toTable(table);
}
