import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { withClient } from '../../src/platform/postgres-client.ts';
import { scramVerifier } from '../../src/storage/database/service-user.ts';
import { valkeyUrl } from '../support/api.ts';
import { runHere } from '../support/command-line.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { runCommand } from '../support/process.ts';
import { diagnose, startRoles } from '../support/roles.ts';
import { stores } from '../support/stores.ts';

const SECRET_KEY = randomBytes(32).toString('base64');
const PASSWORD = 'of this test: 100 % & more';

/** A user of a database administrator: no superuser, and may neither bypass row-level security nor, by default, create roles. */
const PLAIN = `nosuperuser nocreatedb nobypassrls password '${scramVerifier(PASSWORD)}'`;

let prefix: string;
let owner: string;
let login: string;
let database: Awaited<ReturnType<typeof createEmptyDatabase>>;

const urlAs = (user: string, password = PASSWORD, url = database.url): string => {
  const changed = new URL(url);
  [changed.username, changed.password] = [user, encodeURIComponent(password)];
  return changed.href;
};

/** Executes statements as the superuser of the server, in the database of the test. */
const asAdministrator = (...statements: string[]) =>
  withClient(database.url, async client => {
    for (const statement of statements) await client.query(statement);
  });

const environmentOf = (user: string, more: Record<string, string> = {}) => ({
  DATABASE_URL: urlAs(user),
  DATABASE_ROLE_PREFIX: prefix,
  SECRET_KEY,
  ...more,
});

/** Makes `to` the owner of the database, as an administrator does. */
const handOver = async (to: string, url = database.url) => {
  const name = new URL(url).pathname.slice(1);
  await asAdministrator(`alter database ${name} owner to ${to}`, `revoke connect on database ${name} from public`);
  await asAdministrator(`grant connect on database ${name} to ${login}`);
};

beforeEach(async () => {
  prefix = `p${randomBytes(4).toString('hex')}`;
  [owner, login] = [`${prefix}_owner`, `${prefix}_login`];
  database = await createEmptyDatabase();
});

afterEach(async () => {
  await database[Symbol.asyncDispose]();
  await withClient((await stores()).postgresUrl, async client => {
    const { rows } = await client.query<{ name: string }>(
      "select rolname as name from pg_roles where rolname like $1 || '%'",
      [prefix],
    );
    await client.query(`drop role ${rows.map(({ name }) => name).join(', ')}`);
  });
});

describe('with roles of a database administrator', () => {
  beforeEach(async () => {
    await asAdministrator(`create role ${owner} login ${PLAIN}`, `create role ${login} login noinherit ${PLAIN}`);
    await handOver(owner);
  });

  test('migrate reports in one line the statements that are missing, which are sufficient', async () => {
    const refused = await runCommand(['migrate'], environmentOf(owner));
    expect(refused.code).toBe(1);
    const line = refused.stderr.trimEnd().split('\n').at(-1) as string;
    expect(line).toMatch(/^parley: The database user may not create the roles .* Have an administrator run: /);
    expect(refused.stderr).not.toContain('    at ');
    await asAdministrator(
      ...line
        .replace(/.*administrator run: /, '')
        .split(';')
        .slice(0, -1),
    );
    expect(await runHere(['migrate'], environmentOf(owner))).toMatchObject({ code: 0 });
    expect(await diagnose(environmentOf(owner))).toMatchObject({ ok: true });
    const again = await runHere(['migrate'], environmentOf(owner));
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('"applied": []') });
  });

  test('a user who may not create tables gets one line', async () => {
    await asAdministrator(`create role ${prefix}_app nologin`, `create role ${prefix}_worker nologin`);
    await asAdministrator(`grant ${prefix}_app, ${prefix}_worker to ${login}`);
    const refused = await runHere(['migrate'], environmentOf(login));
    expect(refused.stderr).toMatch(/parley: The database user may not migrate the database: permission denied for/);
    expect(refused.stderr).not.toContain('    at ');
  });

  test('API and worker run as a mere member of the two roles, with the queue in PostgreSQL', async () => {
    await asAdministrator(
      `create role ${prefix}_app nologin`,
      `create role ${prefix}_worker nologin`,
      `grant ${prefix}_app, ${prefix}_worker to ${login}`,
      `grant ${login} to ${owner}`,
    );
    const migrated = await runHere(['migrate'], environmentOf(owner));
    expect(migrated).toMatchObject({ code: 0 });
    const environment = environmentOf(login, { RATE_LIMITS: 'on', INGESTION_CHECK_S: '1' });
    await using roles = await startRoles(environment);
    await roles.runDemo();
    const diagnosis = await diagnose(environment);
    expect(diagnosis).toMatchObject({ ok: true });
    expect(diagnosis.checks).toContainEqual(
      expect.objectContaining({ name: 'secret key', detail: expect.stringContaining('sampled') }),
    );
    expect(diagnosis.checks.find(({ name }) => name === 'row-level security')).not.toHaveProperty('hint');
    expect(roles.output()).not.toMatch(/"level":"error"|permission denied/);
    expect(await roles.degraded()).toEqual([]);

    const bundle = JSON.parse((await runHere(['support-bundle'], environment)).stdout);
    expect(JSON.stringify(bundle.database)).not.toMatch(/"error"|permission denied/);
    expect(bundle.database.conservation).toEqual([expect.objectContaining({ lost_flushes: 0, vanished_answers: 0 })]);
    expect(bundle.database.migrations).toMatch(/^omitted: the user of DATABASE_URL does not own/);

    // An injected `reset role` would read no table.
    for (const table of ['answers', 'api_keys', 'bullmq.job', 'lasting_keys', 'rate_counters'])
      await expect(withClient(urlAs(login), client => client.query(`select from ${table}`))).rejects.toThrow(
        /permission denied/,
      );

    const next = randomBytes(32).toString('base64');
    const rotating = { SECRET_KEY: next, SECRET_KEY_OTHERS: SECRET_KEY };
    const refused = await runHere(['secrets', 'rotate'], { ...environment, ...rotating });
    expect(refused.stderr).toMatch(/^parley: Only the owner of the tables .*\n$/);
    const rotated = await runHere(['secrets', 'rotate'], environmentOf(owner, rotating));
    expect(rotated, rotated.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse(rotated.stdout)).toMatchObject({ unreadable: 0, renewed: expect.any(Number) });
    const after = await diagnose({ ...environment, ...rotating });
    expect(after.checks.filter(({ name }) => name === 'former secret key')).toEqual([
      expect.objectContaining({ ok: true, detail: expect.stringContaining('no sampled secret') }),
    ]);
  }, 300_000);
});

describe('with an owner who may create roles', () => {
  beforeEach(async () => {
    await asAdministrator(`create role ${owner} login ${PLAIN} createrole`);
  });

  test('migrate creates the user of DATABASE_SERVICE_URL, and sets its password when that changes', async () => {
    await asAdministrator(`alter database ${new URL(database.url).pathname.slice(1)} owner to ${owner}`);
    for (const password of ['first', 'second / 2']) {
      const service = { DATABASE_SERVICE_URL: urlAs(login, password) };
      expect(await runHere(['migrate'], environmentOf(owner, service))).toMatchObject({ code: 0 });
      const environment = { ...environmentOf(owner), DATABASE_URL: urlAs(login, password) };
      expect(await diagnose(environment)).toMatchObject({ ok: true });
    }
    const { rows } = await withClient(database.url, client =>
      client.query('select rolinherit, rolsuper, rolcreaterole, rolbypassrls from pg_roles where rolname = $1', [
        login,
      ]),
    );
    expect(rows).toEqual([{ rolinherit: false, rolsuper: false, rolcreaterole: false, rolbypassrls: false }]);
    await expect(withClient(urlAs(login, 'first'), async () => undefined)).rejects.toThrow(/password/);
  });

  test('the owner cannot also be the user of DATABASE_SERVICE_URL', async () => {
    await asAdministrator(`alter database ${new URL(database.url).pathname.slice(1)} owner to ${owner}`);
    const refused = await runHere(['migrate'], environmentOf(owner, { DATABASE_SERVICE_URL: urlAs(owner) }));
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('same user as DATABASE_URL') });
  });

  test('the API runs as a user of its own, which cannot act as the worker', async () => {
    await asAdministrator(`alter database ${new URL(database.url).pathname.slice(1)} owner to ${owner}`);
    const REDIS_URL = await valkeyUrl();
    const ofApi = urlAs(`${prefix}_api`, 'of the API');
    const users = { DATABASE_SERVICE_URL: urlAs(login), DATABASE_API_URL: ofApi };
    const withoutQueue = await runHere(['migrate'], environmentOf(owner, users));
    expect(withoutQueue).toMatchObject({ code: 1, stderr: expect.stringContaining('requires REDIS_URL') });
    const shared = { ...users, DATABASE_API_URL: urlAs(login) };
    const refused = await runHere(['migrate'], environmentOf(owner, { REDIS_URL, ...shared }));
    expect(refused.stderr).toContain('DATABASE_API_URL has the same user as DATABASE_SERVICE_URL');

    // A user that could act as the worker until now loses that right.
    await asAdministrator(
      `create role ${prefix}_api login noinherit ${PLAIN}`,
      `grant ${prefix}_api to ${owner} with admin option`,
    );
    await withClient(urlAs(owner), client => client.query(`grant ${prefix}_worker to ${prefix}_api`));
    for (let times = 0; times < 2; times++)
      expect(await runHere(['migrate'], environmentOf(owner, { REDIS_URL, ...users }))).toMatchObject({ code: 0 });
    await withClient(ofApi, async client => {
      await expect(client.query(`set role ${prefix}_worker`)).rejects.toThrow(/permission denied/);
      await expect(client.query('select from answers')).rejects.toThrow(/permission denied/);
    });

    const environment = environmentOf(login, { REDIS_URL, RATE_LIMITS: 'on' });
    await using roles = await startRoles(environment, { DATABASE_URL: ofApi });
    await roles.runDemo();
    expect(roles.output()).not.toMatch(/"level":"error"|permission denied/);
    expect(await roles.degraded()).toEqual([]);

    const asApi = { ...environment, DATABASE_URL: ofApi };
    const diagnosis = await diagnose(asApi);
    expect(diagnosis).toMatchObject({ ok: true });
    expect(diagnosis.checks.find(({ name }) => name === 'row-level security')?.hint).toMatch(/only as the API/);
    const inPostgres = environmentOf(`${prefix}_api`, { DATABASE_URL: ofApi });
    expect((await diagnose(inPostgres)).checks).toContainEqual(
      expect.objectContaining({ ok: false, detail: `the database user is not a member of ${prefix}_worker` }),
    );
    const bundle = JSON.parse((await runHere(['support-bundle'], asApi)).stdout);
    expect(bundle.database.ingestion).toBe('omitted: the user of DATABASE_URL may act only as the API');
    expect(bundle.database.conservation).toHaveLength(1);
  }, 300_000);

  test('a second installation on the server has roles of its own, which the first cannot assume', async () => {
    await asAdministrator(`alter database ${new URL(database.url).pathname.slice(1)} owner to ${owner}`);
    expect(await runHere(['migrate'], environmentOf(owner))).toMatchObject({ code: 0 });
    await using staging = await createEmptyDatabase();
    const other = `${prefix}_staging_owner`;
    await asAdministrator(
      `create role ${other} login ${PLAIN} createrole`,
      `alter database ${new URL(staging.url).pathname.slice(1)} owner to ${other}`,
    );
    const environment = {
      DATABASE_URL: urlAs(other, PASSWORD, staging.url),
      DATABASE_ROLE_PREFIX: `${prefix}_staging`,
      SECRET_KEY,
    };
    expect(await runHere(['migrate'], environment)).toMatchObject({ code: 0 });
    expect(await diagnose(environment)).toMatchObject({ ok: true });
    for (const [user, foreign] of [
      [owner, `${prefix}_staging_app`],
      [other, `${prefix}_app`],
    ] as const)
      await expect(withClient(urlAs(user), client => client.query(`set role ${foreign}`))).rejects.toThrow(
        /permission denied/,
      );

    // With the prefix of the first installation, the roles exist, belong to another owner and have no privileges here.
    const shared = await runCommand(['migrate'], { ...environment, DATABASE_ROLE_PREFIX: prefix }); // logs to its standard error
    expect(shared).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/cannot assume these roles[\s\S]*the roles of Parley lack privileges/),
    });
  }, 300_000);

  test('an installation changes its prefix by renaming the roles', async () => {
    await asAdministrator(`alter database ${new URL(database.url).pathname.slice(1)} owner to ${owner}`);
    expect(await runHere(['migrate'], environmentOf(owner))).toMatchObject({ code: 0 });
    for (const role of ['app', 'worker'])
      await asAdministrator(`alter role ${prefix}_${role} rename to ${prefix}_renamed_${role}`);
    const renamed = environmentOf(owner, { DATABASE_ROLE_PREFIX: `${prefix}_renamed` });
    expect(await runHere(['migrate'], renamed)).toMatchObject({ code: 0 });
    expect(await diagnose(renamed)).toMatchObject({ ok: true });
    expect(await runHere(['tenant', 'create', '--name', 'x'], renamed)).toMatchObject({ code: 0 });
  });
});
