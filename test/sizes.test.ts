import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { LOADS, needsTable, sizeFor } from '../bench/scaling/sizes.ts';
import { ROOT } from './support/documents.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const SIZING = read('docs/sizing.md');

/** The bytes of a quantity: 256mb, 2GB, 16Gi. */
function bytesOf(quantity: string): number {
  const [, number = '', unit = ''] = /^([0-9.]+)\s*([kmgt])i?b?$/i.exec(quantity) ?? [];
  return Number(number) * 1024 ** ('kmgt'.indexOf(unit.toLowerCase()) + 1);
}

const millicores = (cpu: string): number => (cpu.endsWith('m') ? Number.parseInt(cpu, 10) : Number(cpu) * 1000);

test('the table of docs/sizing.md is that of the committed run', () => {
  expect(SIZING).toContain(needsTable());
});

describe.each(Object.entries(LOADS))('helm/sizes/%s.yaml', (name, load) => {
  const values = parse(read(`helm/sizes/${name}.yaml`));
  const size = sizeFor(load);
  const { api, worker, postgresql, valkey, config } = values;

  test('has the processes that the load needs, and requests their CPU', () => {
    expect([api.replicas, worker.replicas]).toEqual([size.apis, size.workers]);
    expect(((size.apis - 1) * millicores(api.resources.requests.cpu)) / 1000).toBeGreaterThan(size.apiCores);
    expect(((size.workers - 1) * millicores(worker.resources.requests.cpu)) / 1000).toBeGreaterThan(size.workerCores);
  });

  test('keeps the answers of an outage', () => {
    expect(config?.settings.QUEUE_MAX_JOBS ?? 100_000).toBeGreaterThanOrEqual(size.queueJobs);
    const maxmemory = valkey.maxmemory ?? /maxmemory (\w+)/.exec(read(`helm/sizes/${name}.yaml`))?.[1];
    expect(bytesOf(maxmemory)).toBeGreaterThan(size.queueMb * 2 ** 20);
  });

  test.runIf(postgresql.settings)(
    'has bundled stores with room for connections, tables, WAL and the append-only file',
    () => {
      const { settings, persistence, resources } = postgresql;
      expect(settings.max_connections).toBeGreaterThanOrEqual(size.connections);
      expect(bytesOf(persistence.size)).toBeGreaterThan(size.tablesGb * 1e9 + bytesOf(settings.max_wal_size) * 1.5);
      expect(bytesOf(settings.max_wal_size)).toBeGreaterThan(size.walMbPerSecond * 15 * 60 * 1e6);
      expect(bytesOf(resources.limits.memory)).toBeGreaterThanOrEqual(bytesOf(settings.shared_buffers) * 4);
      expect(bytesOf(valkey.persistence.size)).toBeGreaterThanOrEqual(bytesOf(valkey.maxmemory) * 3);
      expect(bytesOf(valkey.resources.limits.memory)).toBeGreaterThan(bytesOf(valkey.maxmemory) * 1.5);
    },
  );
});
