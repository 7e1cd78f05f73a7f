import { resolve } from 'node:path';
import type { Bench } from './bench.ts';
import type { Program } from './children.ts';
import { sendLoad } from './load.ts';
import { median, short } from './numbers.ts';
import { toTable } from './report.ts';

const SETS = ['cards', 'answers', 'batches'] as const;
const WARM_UP_SECONDS = 4;
const SECONDS = 2;
const PAIRS = 8;

interface Sample {
  rate: number;
  apiMicroseconds: number;
}

async function measure(bench: Bench, api: Program, set: (typeof SETS)[number], seconds: number): Promise<Sample> {
  await bench.empty();
  const { rate, requests, cost } = await sendLoad(
    api.url,
    bench.loadSet(set),
    { ...bench.plan, seconds },
    bench.roles({ api: api.pid }),
  );
  return { rate, apiMicroseconds: ((cost.cpu.api ?? 0) / requests) * 1e6 };
}

/**
 * Measures two versions of the API in alternation, two seconds each, eight times. Returns the median ratio of adjacent
 * measurements, so that a slow drift of the machine's speed cancels out.
 *
 * `folder` holds the other version, with its `node_modules`.
 */
export async function measureAgainst(bench: Bench, folder: string, log: (text: string) => void): Promise<string> {
  if (!bench.stores.valkeyUrl) throw new Error('--against needs Valkey, and no Docker Engine was found');
  const table = [
    ['requests', 'pairs', 'API µs there', 'here', 'here ÷ there', 'a second there', 'here', 'here ÷ there'],
  ];
  for (const set of SETS) {
    await using there = await bench.parley('serve', 'valkey', { folder: resolve(folder) });
    await using here = await bench.parley('serve', 'valkey');
    for (const api of [there, here]) await measure(bench, api, set, WARM_UP_SECONDS);
    const pairs: [Sample, Sample][] = [];
    while (pairs.length < PAIRS)
      pairs.push([await measure(bench, there, set, SECONDS), await measure(bench, here, set, SECONDS)]);
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
