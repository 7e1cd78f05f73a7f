import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { toTypeId } from '../../src/domain/ids.ts';
import { backends } from '../support/api.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { freePort, runCommand, startProcess } from '../support/process.ts';
import { insertSample, readColumns } from '../support/rows.ts';

const SECRET_KEY = randomBytes(32).toString('base64');

/** What the command prints, as text and as an object. */
async function makeBundle(environment: Record<string, string>) {
  const { code, stdout, stderr } = await runCommand(['support-bundle'], { SECRET_KEY, ...environment });
  if (code !== 0) throw new Error(stderr);
  return { text: stdout, bundle: JSON.parse(stdout) };
}

/** A row in every table of ours, in which every column that can holds the text. */
async function markEveryTable(database: TestDatabase, text: string): Promise<{ tables: string[]; ids: string[] }> {
  const columns = await readColumns(database);
  const left = ['schema_state', 'schema_migrations', 'deleted_tenants']; // whose rows mean something to the command
  const tables = [...new Set(columns.map(({ table }) => table))].filter(table => !left.includes(table));
  const tenantId = randomUUID();
  for (const table of tables)
    await database.query(
      ...insertSample(columns, table, { tenant_id: tenantId, ...(table === 'tenants' && { id: tenantId }) }, text),
    );
  return { tables, ids: [tenantId, toTypeId('tenant', tenantId)] };
}

describe('the support bundle', () => {
  test.each(backends())(
    'has nothing that anybody wrote and no secret, with the queue in %s',
    async backend => {
      await using database = await createDatabase();
      const marker = 'marker7f3a';
      const { tables, ids } = await markEveryTable(database, marker);
      for (const table of tables.filter(
        name =>
          ![
            'flush_producers',
            'lost_flushes',
            'vanished_answers',
            'deleted_answers',
            'recorded_flushes',
            'ingestion_totals',
          ].includes(name),
      ))
        expect([
          table,
          (await database.query<{ row: string }>(`select t::text as row from ${table} t`))[0]?.row,
        ]).toEqual([table, expect.stringMatching(new RegExp(`${marker}|${Buffer.from(marker).toString('hex')}`))]);
      const environment = {
        DATABASE_URL: database.url,
        METRICS_PORT: String(await freePort()),
        SMTP_URL: `smtp://${marker}:${marker}@mail.example`,
        MAIL_FROM: `${marker} <${marker}@mail.example>`,
        OIDC_ISSUER: `https://${marker}.example`,
        OIDC_CLIENT_ID: marker,
        OIDC_CLIENT_SECRET: marker,
        BASE_URL: `https://${marker}.example`,
        ...(backend === 'valkey' ? { REDIS_URL: `${inject('valkeyUrl')}/${process.env.VITEST_POOL_ID ?? '0'}` } : {}),
      };
      await using server = await startProcess('start', { ...environment, SECRET_KEY });
      await server.awaitProbe('/readyz');
      await fetch(`${server.baseUrl}/v1/questions?${marker}=1`, { headers: { Authorization: `Bearer ${marker}` } });

      const { text, bundle } = await makeBundle(environment);
      expect(text).not.toContain(marker);
      expect(text).not.toContain(Buffer.from(marker).toString('hex'));
      for (const secret of [...ids, SECRET_KEY, database.url, new URL(database.url).host])
        expect(text).not.toContain(secret);

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
      expect(bundle.database.migrations.length).toBeGreaterThan(5);
      expect(bundle.database.quarantine).toEqual([expect.objectContaining({ reason: 'other', entries: 1 })]);
      expect(bundle.database.conservation).toEqual([expect.objectContaining({ lost_flushes: 1, vanished_answers: 1 })]);
      expect(bundle.queue.queues.answers.jobs).toMatchObject({ waiting: 0, failed: 0 });
      expect(bundle.queue.durability.reasons).toEqual([]);
      if (backend === 'valkey')
        expect(bundle.queue.settings).toMatchObject({ appendonly: 'yes', appendfsync: 'always' });
      expect(bundle.metrics).toContainEqual(expect.stringMatching(/^parley_build_info\{.*role="start"\} 1$/));
      for (const look of Object.values(bundle.database)) expect(look).not.toHaveProperty('error');
    },
    60_000,
  );

  test('says which store can not be reached, and tells the rest', async () => {
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
  }, 60_000);

  test('says what is wrong with the settings where these are', async () => {
    const { bundle } = await makeBundle({ PORT: 'x' });
    expect(bundle.doctor).toMatchObject({ ok: false, checks: [{ detail: expect.stringMatching(/^PORT:/) }] });
    expect(bundle).not.toHaveProperty('database');
  });

  test('is written to a file that its owner alone may read', async () => {
    await using database = await createDatabase();
    const folder = mkdtempSync(join(tmpdir(), 'parley-support-'));
    const file = join(folder, 'bundle.json');
    const { stdout } = await runCommand(['support-bundle', '--out', file], { SECRET_KEY, DATABASE_URL: database.url });
    expect(JSON.parse(stdout)).toEqual({ file });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveProperty('database');
    rmSync(folder, { recursive: true });
  }, 30_000);
});
