import { randomBytes } from 'node:crypto';
import { GenericContainer } from 'testcontainers';
import { describe, expect, test } from 'vitest';
import type { Diagnosis } from '../../src/commands/doctor.ts';
import { backends } from '../support/api.ts';
import { runHere } from '../support/command-line.ts';
import { createDatabase } from '../support/database.ts';
import { freePort, runCommand } from '../support/process.ts';
import { stores } from '../support/stores.ts';

const SECRET_KEY = randomBytes(32).toString('base64');

/** Runs the doctor in this process; by `runCommand` it would take another second of CPU time. */
async function diagnose(
  environment: Record<string, string>,
  run: typeof runHere = runHere,
): Promise<Diagnosis & { code: number }> {
  const { code, stdout, stderr } = await run(['doctor'], environment);
  if (stdout === '') throw new Error(stderr);
  return { ...(JSON.parse(stdout) as Diagnosis), code };
}

const illOf = (diagnosis: Diagnosis) => diagnosis.checks.filter(check => !check.ok);

describe('the doctor', () => {
  test('reports no problems for a valid installation', async () => {
    await using database = await createDatabase();
    const diagnosis = await diagnose({ DATABASE_URL: database.url, SECRET_KEY }, runCommand);
    expect(illOf(diagnosis)).toEqual([]);
    expect(diagnosis).toMatchObject({ ok: true, code: 0 });
    expect(diagnosis.checks.map(check => check.name)).toContain('queue durability');
  });

  test.runIf(backends().includes('valkey'))('recommends larger settings of PostgreSQL without failing', async () => {
    await using database = await createDatabase(); // a server with PostgreSQL's defaults
    const { ok, code, checks } = await diagnose({ DATABASE_URL: database.url, SECRET_KEY });
    const found = checks.filter(({ name }) => name === 'database settings');
    expect(found.map(({ detail }) => detail)).toEqual([
      'shared_buffers is 128MB; at least 256MB is recommended',
      'max_wal_size is 1GB; at least 2GB is recommended',
      'checkpoint_timeout is 5min; at least 15min is recommended',
      'wal_compression is off; on is recommended',
    ]);
    expect(found.every(check => check.ok && check.hint !== undefined)).toBe(true);
    expect({ ok, code }).toEqual({ ok: true, code: 0 });
  });

  test('names the defaults of the database that Parley cannot replace', async () => {
    await using database = await createDatabase();
    const name = new URL(database.url).pathname.slice(1);
    for (const setting of ['default_transaction_read_only = on', 'session_replication_role = replica'])
      await database.query(`alter database ${name} set ${setting}`);
    const diagnosis = await diagnose({ DATABASE_URL: database.url, SECRET_KEY });
    const found = diagnosis.checks.filter(check => check.name === 'database defaults');
    expect(found).toMatchObject([
      {
        ok: false,
        detail: 'default_transaction_read_only is on and must be off',
        mend: expect.stringMatching(/RESET/),
      },
      { ok: false, detail: 'session_replication_role is replica and must be origin' },
    ]);
  });

  test('reports every fault of the configuration', async () => {
    const diagnosis = await diagnose({ PORT: 'x', DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' });
    expect(diagnosis).toMatchObject({ ok: false, code: 1 });
    expect(illOf(diagnosis).map(check => check.detail)).toEqual([
      expect.stringMatching(/^PORT:/),
      expect.stringMatching(/^SECRET_KEY:/),
    ]);
  });

  test('reports an unreachable or unmigrated database with the remedy', async () => {
    const port = await freePort();
    const away = await diagnose({ DATABASE_URL: `postgresql://nobody@127.0.0.1:${port}/none`, SECRET_KEY });
    expect(illOf(away)).toEqual([
      expect.objectContaining({
        name: 'database',
        detail: expect.stringContaining('cannot be reached'),
        mend: expect.any(String),
      }),
    ]);
    await using database = await createDatabase();
    await database.query('drop table schema_state');
    const bare = await diagnose({ DATABASE_URL: database.url, SECRET_KEY });
    expect(illOf(bare)).toEqual([
      expect.objectContaining({ name: 'schema', mend: expect.stringContaining('parley migrate') }),
    ]);
  });

  test('names the GRANT that a role or the user lacks, also for a user with no right of its own', async () => {
    await using database = await createDatabase();
    const [user, name] = [`plain_${randomBytes(4).toString('hex')}`, new URL(database.url).pathname.slice(1)];
    const url = new URL(database.url);
    url.username = url.password = user;
    const faults = async () => illOf(await diagnose({ DATABASE_URL: url.href, SECRET_KEY }));
    await database.query(`create role ${user} login noinherit password '${user}' in role parley_app, parley_worker`);
    try {
      expect(await faults()).toEqual([]); // although PUBLIC may not use the schema: see the template of the tests
      await database.query(
        'revoke usage on schema public from parley_app; revoke insert on bullmq.job from parley_worker',
      );
      expect(await faults()).toEqual([
        expect.objectContaining({
          name: 'privileges',
          mend: 'Run as the owner of the tables: GRANT USAGE ON SCHEMA public TO parley_app; GRANT INSERT ON ALL TABLES IN SCHEMA bullmq TO parley_worker;',
        }),
      ]);
      await database.query(`revoke connect on database ${name} from public`);
      expect(await faults()).toEqual([
        expect.objectContaining({ mend: expect.stringContaining(`GRANT CONNECT ON DATABASE "${name}" TO "${user}";`) }),
      ]);
    } finally {
      await database.query(`drop role ${user}`);
    }
  });

  test('reports missing accepted answers until they are acknowledged', async () => {
    await using database = await createDatabase();
    const environment = { DATABASE_URL: database.url, SECRET_KEY };
    await database.query('insert into lost_flushes values (gen_random_uuid(), now())');
    expect(illOf(await diagnose(environment))).toEqual([
      expect.objectContaining({ name: 'balance', detail: expect.stringMatching(/^1 flushes .* 0 stored answers/) }),
    ]);
    await database.query('delete from lost_flushes');
    expect((await diagnose(environment)).ok).toBe(true);
  });

  test('reports a secret key that does not match the stored secrets', async () => {
    await using database = await createDatabase();
    const environment = { DATABASE_URL: database.url, SECRET_KEY };
    const tenant = JSON.parse((await runHere(['tenant', 'create', '--name', 'Acme'], environment)).stdout);
    await runHere(['api-key', 'create', '--tenant', tenant.id, '--name', 'backend'], environment);
    expect((await diagnose(environment)).ok).toBe(true);
    const other = await diagnose({ ...environment, SECRET_KEY: randomBytes(32).toString('base64') });
    expect(illOf(other)).toEqual([
      expect.objectContaining({ name: 'secret key', mend: expect.stringContaining('former SECRET_KEY') }),
    ]);
  });

  test.runIf(backends().includes('valkey'))(
    'reports a queue that does not write to disk before it replies',
    async () => {
      await using database = await createDatabase();
      const forgetful = await new GenericContainer('valkey/valkey:9')
        .withCommand(['valkey-server', '--appendonly', 'yes', '--maxmemory-policy', 'allkeys-lru'])
        .withExposedPorts(6379)
        .start();
      try {
        const REDIS_URL = `redis://${forgetful.getHost()}:${forgetful.getMappedPort(6379)}`;
        const diagnosis = await diagnose({ DATABASE_URL: database.url, SECRET_KEY, REDIS_URL });
        expect(illOf(diagnosis).map(check => [check.name, check.detail])).toEqual([
          ['queue durability', 'appendfsync is "everysec" and must be "always"'],
          ['queue durability', 'maxmemory-policy is "allkeys-lru" and must be "noeviction"'],
          [
            'queue memory',
            'maxmemory is 0: the server may run out of memory and be killed before answers are rejected',
          ],
        ]);
      } finally {
        await forgetful.stop();
      }
    },
  );

  test.runIf(backends().includes('valkey'))('reports too few replicas of the queue', async () => {
    await using database = await createDatabase();
    const { valkeyUrl: REDIS_URL = '' } = await stores();
    const diagnosis = await diagnose({ DATABASE_URL: database.url, SECRET_KEY, REDIS_URL, QUEUE_REPLICAS: '1' });
    expect(illOf(diagnosis)).toEqual([
      expect.objectContaining({
        name: 'queue replicas',
        detail: '0 replicas are connected, but QUEUE_REPLICAS is 1',
      }),
    ]);
  });
});
