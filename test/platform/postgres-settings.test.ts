import { readFileSync } from 'node:fs';
import { GenericContainer, Wait } from 'testcontainers';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { withClient } from '../../src/platform/postgres-client.ts';
import { findSettingHints, RECOMMENDED_SETTINGS } from '../../src/platform/postgres-settings.ts';
import { backends } from '../support/api.ts';
import { createOwnServer } from '../support/own-server.ts';

const RECOMMENDED = Object.fromEntries(RECOMMENDED_SETTINGS.map(({ name, value }) => [name, value]));

const readYaml = (path: string) => parse(readFileSync(path, 'utf8'), { merge: true });

/** The settings in arguments of `postgres`: `-c name=value`. */
const settingsOf = (args: string[]): Record<string, string> =>
  Object.fromEntries(args.flatMap((arg, place) => (args[place - 1] === '-c' ? [arg.split('=')] : [])));

const BYTES: Record<string, number> = { m: 2 ** 20, g: 2 ** 30, Mi: 2 ** 20, Gi: 2 ** 30, MB: 2 ** 20, GB: 2 ** 30 };
const bytesOf = (size: string): number => Number.parseInt(size, 10) * (BYTES[size.replace(/\d+/, '')] ?? Number.NaN);

test('Compose has the recommended settings, within the memory of its container', () => {
  const { postgres } = readYaml('docker-compose.yml').services;
  expect(settingsOf(postgres.command)).toEqual({ max_connections: '200', ...RECOMMENDED });
  expect(bytesOf(RECOMMENDED.shared_buffers as string)).toBeLessThanOrEqual(bytesOf(postgres.mem_limit) / 4);
});

test('the chart has the recommended settings, within the memory and the volume of its pod', () => {
  const { settings, resources, persistence } = readYaml('helm/values.yaml').postgresql;
  expect(settings).toEqual({ max_connections: 200, ...RECOMMENDED });
  const sharedBuffers = bytesOf(RECOMMENDED.shared_buffers as string);
  expect(sharedBuffers).toBeLessThanOrEqual(bytesOf(resources.limits.memory) / 4);
  expect(sharedBuffers).toBeLessThan(bytesOf(resources.requests.memory));
  expect(bytesOf(RECOMMENDED.max_wal_size as string)).toBeLessThanOrEqual(bytesOf(persistence.size) / 4);
});

test('the embedded PostgreSQL has the recommended settings, and safe durability settings', async () => {
  await using server = await createOwnServer();
  expect(await withClient(server.url, findSettingHints)).toEqual([]);
  const names = [...Object.keys(RECOMMENDED), 'fsync', 'full_page_writes', 'synchronous_commit'];
  const values = await Promise.all(names.map(name => server.query<Record<string, string>>(`show ${name}`)));
  expect(Object.assign({}, ...values.flat())).toEqual({
    ...RECOMMENDED,
    wal_compression: 'pglz',
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
  });
});

test.runIf(backends().includes('valkey'))('a setting that is larger than recommended needs no hint', async () => {
  const settings = [
    'shared_buffers=300MB',
    'max_wal_size=512MB',
    'checkpoint_timeout=1h',
    'wal_compression=lz4',
    'autovacuum=off',
  ];
  const container = await new GenericContainer('postgres:18')
    .withEnvironment({ POSTGRES_PASSWORD: 'test' })
    .withCommand(['postgres', ...settings.flatMap(setting => ['-c', setting])])
    .withTmpFs({ '/var/lib/postgresql': 'rw' })
    .withExposedPorts(5432)
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
    .start();
  try {
    const url = `postgresql://postgres:test@${container.getHost()}:${container.getMappedPort(5432)}/postgres`;
    expect(await withClient(url, findSettingHints)).toEqual([
      {
        detail: 'max_wal_size is 512MB; at least 2GB is recommended',
        hint: expect.stringMatching(/^ALTER SYSTEM SET max_wal_size = '2GB', then reload PostgreSQL/),
      },
      { detail: expect.stringMatching(/^autovacuum does not run/), hint: expect.stringMatching(/^Set both to on/) },
    ]);
  } finally {
    await container.stop();
  }
});
