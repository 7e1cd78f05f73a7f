import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toTypeId } from '../../src/domain/ids.ts';
import { createLog } from '../../src/platform/log.ts';
import { connectQueue, type QueueTarget } from '../../src/queue/connection.ts';
import { KEPT_UNTIL_DONE } from '../../src/queue/isolation.ts';
import { MIGRATIONS } from '../../src/storage/migrations/index.ts';
import { backends, valkeyUrl, waitFor } from '../support/api.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { anAcceptedAnswer } from '../support/make.ts';
import { freePort, runCommand, startProcess } from '../support/process.ts';
import { insertSample, readColumns } from '../support/rows.ts';

const SECRET_KEY = randomBytes(32).toString('base64');
const FORMER_KEY = randomBytes(32).toString('base64');

/** The output of the command, as text and as an object. */
async function makeBundle(environment: Record<string, string>) {
  const { code, stdout, stderr } = await runCommand(['support-bundle'], { SECRET_KEY, ...environment });
  if (code !== 0) throw new Error(stderr);
  return { text: stdout, bundle: JSON.parse(stdout) };
}

const MARKER = 'marker7f3a';
const MARKED = new RegExp(`${MARKER}|${Buffer.from(MARKER).toString('hex')}`);
/** Tables whose rows affect the commands, and one that always has its row. */
const OF_THE_SCHEMA = ['schema_state', 'schema_migrations', 'deleted_tenants', 'event_numbering'];
/** Tables without text columns. */
const NUMERIC_TABLES = [
  ...['deleted_answers', 'deleted_conversations', 'vanished_answers', 'ingestion_totals'],
  ...['flush_producers', 'lost_flushes', 'recorded_flushes', 'last_backup', 'event_sequences', 'held_events'],
];

/** Inserts a row into each of our tables, with the marker in every column that can hold it. */
async function markEveryTable(database: TestDatabase, tenantId: string): Promise<string[]> {
  const columns = await readColumns(database);
  const tables = [...new Set(columns.map(({ table }) => table))].filter(table => !OF_THE_SCHEMA.includes(table));
  for (const table of tables) {
    const given = {
      tenant_id: tenantId,
      ...(table === 'tenants' ? { id: tenantId } : {}),
      ...(table === 'processes' ? { seen_at: '9999-01-01' } : {}), // old ones are removed
    };
    await database.query(...insertSample(columns, table, given, MARKER));
  }
  return tables.filter(table => !NUMERIC_TABLES.includes(table));
}

/** Adds a flush with the marker to the queue. */
async function markQueue(target: QueueTarget): Promise<void> {
  const connection = connectQueue(target, createLog('silent', 'test'));
  if (connection.redis) await waitFor(() => connection.redis?.status === 'ready');
  const answers = [anAcceptedAnswer({ identity: MARKER, comment: MARKER })];
  await connection.queue().add('answers.record', { v: 1, flush: randomUUID(), answers }, KEPT_UNTIL_DONE);
  await connection.close();
}

const tablesWithMarker = async (database: TestDatabase, tables: string[]): Promise<string[]> => {
  const found = [];
  for (const table of tables) {
    const rows = await database.query<{ row: string }>(`select t::text as row from ${table} t`);
    if (rows.some(({ row }) => MARKED.test(row))) found.push(table);
  }
  return found;
};

describe.each(backends())('the support bundle, with the queue in %s', backend => {
  test('contains no user content and no secrets, but all figures', async () => {
    await using database = await createDatabase();
    const redisUrl = backend === 'valkey' ? await valkeyUrl() : undefined;
    const environment = {
      DATABASE_URL: database.url,
      METRICS_PORT: String(await freePort()),
      SMTP_URL: `smtp://${MARKER}:${MARKER}@mail.example`,
      MAIL_FROM: `${MARKER} <${MARKER}@mail.example>`,
      OIDC_ISSUER: `https://${MARKER}.example`,
      OIDC_CLIENT_ID: MARKER,
      OIDC_CLIENT_SECRET: MARKER,
      BASE_URL: `https://${MARKER}.example`,
      SECRET_KEY_OTHERS: FORMER_KEY,
      ...(redisUrl ? { REDIS_URL: redisUrl } : {}),
    };
    await using server = await startProcess('serve', { ...environment, SECRET_KEY });
    await server.awaitProbe('/readyz');
    await fetch(`${server.baseUrl}/v1/questions?${MARKER}=1`, { headers: { Authorization: `Bearer ${MARKER}` } });
    const tenantId = randomUUID();
    const tables = await markEveryTable(database, tenantId);
    await markQueue({ databaseUrl: database.url, redisUrl });

    const { text, bundle } = await makeBundle(environment);
    expect(await tablesWithMarker(database, tables)).toEqual(tables);
    expect(text).not.toMatch(MARKED);
    const { host } = new URL(database.url);
    for (const one of [tenantId, toTypeId('tenant', tenantId), SECRET_KEY, FORMER_KEY, database.url, host])
      expect(text).not.toContain(one);

    expect(bundle.doctor.checks).toContainEqual(expect.objectContaining({ name: 'database', ok: true }));
    expect(bundle.settings).toMatchObject({
      SMTP_URL: 'set',
      REDIS_URL: backend === 'valkey' ? 'set' : 'absent',
      DATABASE_POOL: 10,
    });
    expect(bundle.database.tables.map(({ name }: { name: string }) => name)).toContain('public.answers');
    expect(bundle.database.indexes).toContainEqual(
      expect.objectContaining({ name: 'public.answers_newest', valid: true }),
    );
    expect(bundle.database.settings).toContainEqual(expect.objectContaining({ name: 'fsync' }));
    expect(bundle.database.migrations.map(({ name }: { name: string }) => name)).toEqual(
      MIGRATIONS.map(({ name }) => name),
    );
    expect(bundle.database.quarantine).toEqual([expect.objectContaining({ reason: 'other', entries: 1 })]);
    expect(bundle.database.conservation).toEqual([expect.objectContaining({ lost_flushes: 1, vanished_answers: 1 })]);
    expect(bundle.queue.queues.answers.jobs).toMatchObject({ waiting: 1, failed: 0 });
    expect(bundle.queue.durability.reasons).toEqual([]);
    if (backend === 'valkey') expect(bundle.queue.settings).toMatchObject({ appendonly: 'yes', appendfsync: 'always' });
    expect(bundle.metrics).toContainEqual(expect.stringMatching(/^parley_build_info\{.*role="serve"\} 1$/));
    for (const look of Object.values(bundle.database)) expect(look).not.toHaveProperty('error');
  }, 300_000);
});

describe('the support bundle', () => {
  test('reports which store is unreachable, and the rest', async () => {
    await using database = await createDatabase();
    const REDIS_URL = `redis://:a-long-password@127.0.0.1:${await freePort()}`;
    const { text, bundle } = await makeBundle({ DATABASE_URL: database.url, REDIS_URL });
    expect(bundle.queue.error).toMatch(/./);
    expect(bundle.metrics.error).toMatch(/./);
    expect(bundle.database.tables.length).toBeGreaterThan(20);
    expect(bundle.doctor.checks).toContainEqual(expect.objectContaining({ name: 'queue', ok: false }));
    expect(text).not.toContain('a-long-password');

    const away = await makeBundle({
      DATABASE_URL: `postgresql://nobody:secret-word@127.0.0.1:${await freePort()}/none`,
    });
    expect(away.bundle.database.error).toMatch(/ECONNREFUSED/);
    expect(away.bundle.build.version).toMatch(/./);
    expect(away.text).not.toContain('secret-word');
  }, 300_000);

  test('hides a secret in a database error message', async () => {
    await using database = await createDatabase();
    const url = new URL(database.url);
    url.username = url.password = 'one%20word'; // as short as a secret may be
    const { text, bundle } = await makeBundle({ DATABASE_URL: url.href });
    expect(bundle.database.error).toContain('"[secret]"');
    expect(text).not.toContain('one word');
  }, 300_000);

  test('reports invalid settings', async () => {
    const { bundle } = await makeBundle({ PORT: 'x' });
    expect(bundle.doctor).toMatchObject({ ok: false, checks: [{ detail: expect.stringMatching(/^PORT:/) }] });
    expect(bundle).not.toHaveProperty('database');
  });

  test('is written to a file readable only by its owner', async () => {
    await using database = await createDatabase();
    const folder = mkdtempSync(join(tmpdir(), 'parley-support-'));
    const file = join(folder, 'bundle.json');
    const { stdout } = await runCommand(['support-bundle', '--out', file], { SECRET_KEY, DATABASE_URL: database.url });
    expect(JSON.parse(stdout)).toEqual({ file });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveProperty('database');
    rmSync(folder, { recursive: true });
  }, 300_000);
});
