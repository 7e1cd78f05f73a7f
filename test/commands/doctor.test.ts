import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { GenericContainer } from 'testcontainers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Diagnosis } from '../../src/commands/doctor.ts';
import { examineClock } from '../../src/commands/doctor-database.ts';
import { backends } from '../support/api.ts';
import { makeCertificate } from '../support/certificates.ts';
import { runHere } from '../support/command-line.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createMailServer } from '../support/mail.ts';
import { createProvider } from '../support/oidc.ts';
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

  test('hints at a variable that may be a misspelt setting', async () => {
    await using database = await createDatabase();
    const { ok, checks } = await diagnose({ DATABASE_URL: database.url, SECRET_KEY, BASE_URI: 'https://x' });
    expect({ ok, hint: checks.find(({ name }) => name === 'configuration')?.hint }).toEqual({
      ok: true,
      hint: expect.stringContaining('If you mean BASE_URL'),
    });
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

  test('reads the metadata of the identity provider', async () => {
    await using provider = await createProvider('https://parley.test/v1/oidc/callback');
    const checkOf = async (settings: Record<string, string>) => {
      const environment = { DATABASE_URL: `postgresql://nobody@127.0.0.1:1/none`, SECRET_KEY, ...settings };
      return (await diagnose(environment)).checks.filter(({ name }) => name === 'identity provider');
    };
    expect(await checkOf({})).toEqual([]);
    const { OIDC_ISSUER: issuer = '' } = provider.settings;
    expect(await checkOf(provider.settings)).toEqual([
      { name: 'identity provider', ok: true, detail: `${issuer} replies with its metadata` },
    ]);
    const away = `http://127.0.0.1:${await freePort()}`;
    expect(await checkOf({ ...provider.settings, OIDC_ISSUER: away })).toMatchObject([
      { ok: false, detail: expect.stringContaining('ECONNREFUSED') },
    ]);
    const path = '/.well-known/openid-configuration';
    const reply = (metadata: object) =>
      provider.interceptions.set(path, (_, response) =>
        response.setHeader('Content-Type', 'application/json').end(JSON.stringify(metadata)),
      );
    reply({ issuer, claims_supported: ['sub', 'email'] });
    expect(await checkOf(provider.settings)).toMatchObject([
      { ok: true, hint: expect.stringContaining('OIDC_TRUST_EMAIL=issuer') },
    ]);
    expect((await checkOf({ ...provider.settings, OIDC_TRUST_EMAIL: 'issuer' }))[0]?.hint).toBeUndefined();
    reply({ issuer: 'https://elsewhere.example' });
    expect(await checkOf(provider.settings)).toMatchObject([
      { ok: false, detail: expect.stringContaining('the issuer of the provider is https://elsewhere.example') },
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

describe('the doctor, outside of the stores,', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const checkOf = async (name: string, settings: Record<string, string>) => {
    const { checks } = await diagnose({ DATABASE_URL: database.url, SECRET_KEY, ...settings });
    return checks.find(check => check.name === name);
  };
  const checkMail = (SMTP_URL: string) => checkOf('mail', { SMTP_URL, MAIL_FROM: 'parley@acme.example' });

  test('greets the mail server, and names an unreachable or refusing one with the remedy', async () => {
    await using server = await createMailServer();
    expect(await checkMail(server.url)).toMatchObject({ ok: true });
    expect(server.commands[0]).toBe('EHLO localhost');
    server.react(command =>
      command.startsWith('EHLO')
        ? '250-hello\r\n250 AUTH PLAIN'
        : command.startsWith('AUTH')
          ? '535 5.7.8 no'
          : undefined,
    );
    const url = server.url.replace('//', '//user:wrong@');
    expect(await checkMail(`${url}?requireTLS=false`)).toMatchObject({
      ok: false,
      detail: 'the mail server cannot be used: 535 5.7.8 no',
      mend: expect.stringContaining('password in SMTP_URL'),
    });
    server.react(command => (command === 'STARTTLS' ? '502 5.5.1 no' : undefined));
    expect(await checkMail(url)).toMatchObject({
      ok: false,
      detail: 'the mail server cannot be used: STARTTLS: 502 5.5.1 no',
      mend: expect.stringContaining('?requireTLS=false'),
    });
    expect(await checkMail(`smtp://127.0.0.1:${await freePort()}`)).toMatchObject({
      ok: false,
      detail: expect.stringContaining('ECONNREFUSED'),
      mend: expect.stringContaining('worker'),
    });
    expect(await checkMail('smtp://mail.invalid:25')).toMatchObject({
      ok: false,
      mend: expect.stringContaining('no address'),
    });
    expect(await checkOf('mail', {})).toMatchObject({ ok: true, detail: expect.stringContaining('not mailed') });
  });

  test('reports a certificate that is not trusted', async () => {
    await using certificate = await makeCertificate();
    await using server = await createMailServer(0, certificate);
    expect(await checkMail(server.url)).toMatchObject({
      ok: false,
      detail: expect.stringContaining('DEPTH_ZERO_SELF_SIGNED_CERT'),
      mend: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    });
  });

  test('reports an http BASE_URL if the host serves https, and hints at an unknown proxy', async () => {
    await using certificate = await makeCertificate();
    const server = createTlsServer(certificate).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const checkAt = (BASE_URL: string) => checkOf('base url', { BASE_URL });
    expect(await checkAt(`http://0.0.0.0:${port}`)).toMatchObject({
      ok: false,
      detail: expect.stringContaining('serves https'),
      mend: expect.stringContaining('cross-site-request'),
    });
    server.close();
    expect(await checkAt(`http://0.0.0.0:${await freePort()}`)).toMatchObject({
      ok: true,
      hint: expect.stringContaining('unencrypted'),
    });
    expect(await checkAt('http://localhost:3000')).toEqual({
      name: 'base url',
      ok: true,
      detail: 'http://localhost:3000',
    });
    expect((await checkAt('https://feedback.acme.example'))?.hint).toContain('TRUSTED_PROXY_HOPS');
  });

  test("reports a clock that differs from the database's by more than 30 s", async () => {
    const storage = database.storage();
    const at = (ms: number) => examineClock(storage, new Date(Date.now() + ms));
    expect(await at(25_000)).toMatchObject({ ok: true });
    expect(await at(40_000)).toMatchObject({ ok: false, detail: expect.stringMatching(/^is (39|40) s ahead of/) });
    expect(await at(-90_000)).toMatchObject({ ok: false, detail: expect.stringMatching(/^is (90|91) s behind/) });
  });

  test('reports a role that does not run, unless none does', async () => {
    const running = async (...roles: string[]) => {
      await database.query('delete from processes');
      for (const role of roles)
        await database.query("insert into processes values (gen_random_uuid(), $1, '0.2.0', 59, clock_timestamp())", [
          role,
        ]);
      return checkOf('processes', {});
    };
    expect(await running()).toMatchObject({ ok: true });
    expect(await running('start')).toMatchObject({ ok: true });
    expect(await running('serve', 'work')).toMatchObject({ ok: true });
    expect(await running('serve')).toMatchObject({ ok: false, detail: expect.stringContaining('no worker') });
    expect(await running('work')).toMatchObject({ ok: false, detail: expect.stringContaining('no API') });
  });
});
