import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { expect, test } from 'vitest';
import { createLog } from '../../../src/platform/log.ts';
import { withClient } from '../../../src/platform/postgres-client.ts';
import { findMissingQueuePrivileges } from '../../../src/queue/privileges.ts';
import { migrate, readSchemaState } from '../../../src/storage/database/migrate.ts';
import { findMissingPrivileges, neededPrivileges, type Privilege } from '../../../src/storage/database/privileges.ts';
import { NEEDED_SCHEMA } from '../../../src/storage/migrations/index.ts';
import { createDatabase } from '../../support/database.ts';

const log = createLog('silent', 'test');
const NEEDED = neededPrivileges('parley');

/** Functions without a grant that are not triggers: those that only functions of the owner call. */
const INTERNAL = ['separate_conversations'];

/** Every privilege that the catalogue has for the roles in the schema `public`. */
const GRANTED = `
with acl as (
  select 'table' as kind, relname as name, '' as field, relacl as acl from pg_class
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
  union all select 'sequence', relname, '', relacl from pg_class where relnamespace = 'public'::regnamespace and relkind = 'S'
  union all select 'table', relname, attname, attacl from pg_attribute join pg_class on pg_class.oid = attrelid
  where relnamespace = 'public'::regnamespace
  union all select 'function', proname, '', proacl from pg_proc where pronamespace = 'public'::regnamespace
  union all select 'schema', nspname, '', nspacl from pg_namespace where nspname = 'public'
)
select distinct concat_ws(' ', pg_get_userbyid(grantee), lower(privilege_type), kind, name, field) as granted
from acl, aclexplode(acl) where pg_get_userbyid(grantee) in ('parley_app', 'parley_worker') order by 1`;

const rowsOf = async (client: Client, sql: string): Promise<string[]> =>
  (await client.query({ text: sql, rowMode: 'array' })).rows.map(([value]) => value);

const readGranted = async (client: Client): Promise<string[]> => (await rowsOf(client, GRANTED)).toSorted();

const textOf = ({ role, privilege, kind, name, field = '' }: Privilege): string =>
  [role, privilege, kind, name, field].join(' ');

const OBJECTS = `select relname from pg_class union select proname from pg_proc union select 'public'`;

test('the needed privileges are those that the roles have in a migrated database', async () => {
  await using database = await createDatabase();
  await withClient(database.url, async client => {
    const existing = new Set(await rowsOf(client, OBJECTS));
    const needed = NEEDED.filter(({ name }) => existing.has(name)).map(textOf);
    expect(needed.length).toBeGreaterThan(300);
    expect([...new Set(needed)].toSorted()).toEqual(await readGranted(client));
  });
});

test('no role needs what PUBLIC may do: a function is granted to the roles that call it, and to both if it has the rights of its caller', async () => {
  await using database = await createDatabase();
  await withClient(database.url, async client => {
    const functions = (condition: string) =>
      rowsOf(
        client,
        `select distinct proname from pg_proc where pronamespace = 'public'::regnamespace and prorettype <> 'trigger'::regtype
         and ${condition} order by 1`,
      );
    const may = (role: string) => `has_function_privilege('${role}', oid, 'execute')`;
    expect(await functions(may('public'))).toEqual([]); // the database was hardened before the migrations
    expect(await functions('not prosecdef')).toContain('place_of_write');
    expect(await functions(`not prosecdef and not (${may('parley_app')} and ${may('parley_worker')})`)).toEqual([]);
    expect(await functions(`not (${may('parley_app')} or ${may('parley_worker')})`)).toEqual(INTERNAL);
  });
});

test('all privileges that are revoked are reported as statements, which restore them', async () => {
  await using database = await createDatabase();
  await withClient(database.url, async client => {
    const before = await readGranted(client);
    for (const kind of ['all tables in schema', 'all sequences in schema', 'all functions in schema', 'schema'])
      await client.query(`revoke all on ${kind} public from parley_app, parley_worker`); // with those for single columns
    expect(await readGranted(client)).toEqual([]);
    const statements = await findMissingPrivileges(client, NEEDED);
    expect(statements.every(each => /^GRANT .+ TO parley_(app|worker)$/.test(each))).toBe(true);
    await client.query(statements.join(';'));
    expect(await readGranted(client)).toEqual(before);
    expect(await findMissingPrivileges(client, NEEDED)).toEqual([]);
  });
});

test('migrate ends with the statements for privileges that an administrator has revoked', async () => {
  await using database = await createDatabase();
  await database.query('revoke select on sessions, questions from parley_app');
  await database.query('revoke usage on schema public from parley_worker');
  const run = () => migrate(database.url, log);
  const error: Error = await run().then(
    () => expect.unreachable(),
    failure => failure,
  );
  expect(error.message).toMatch(
    /Run as the owner of the tables: GRANT USAGE ON SCHEMA public TO parley_worker; GRANT SELECT ON TABLE public.questions, public.sessions TO parley_app;$/,
  );
  await database.query(error.message.replace(/.*tables: /, ''));
  expect(await run()).toEqual([]);
});

test.each([
  ['revoke usage on schema bullmq from parley_worker', 'GRANT USAGE ON SCHEMA bullmq TO parley_worker'],
  ['revoke insert on bullmq.job from parley_worker', 'GRANT INSERT ON ALL TABLES IN SCHEMA bullmq TO parley_worker'],
  [
    'revoke all on all sequences in schema bullmq from parley_worker',
    'GRANT USAGE ON ALL SEQUENCES IN SCHEMA bullmq TO parley_worker',
  ],
  [
    'revoke execute on function bullmq.next_delay(text) from parley_worker',
    'GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA bullmq TO parley_worker',
  ],
])('in the queue, %s is reported, and the statement restores it', async (revoke, statement) => {
  await using database = await createDatabase();
  expect(await findMissingQueuePrivileges(database.url)).toEqual([]);
  await database.query(revoke);
  expect(await findMissingQueuePrivileges(database.url)).toEqual([statement]);
  await database.query(statement);
  expect(await findMissingQueuePrivileges(database.url)).toEqual([]);
});

test('a user with no right of its own reads the schema version as a role of Parley', async () => {
  await using database = await createDatabase();
  const user = `plain_${randomUUID().slice(0, 8)}`;
  const url = new URL(database.url);
  url.username = url.password = user;
  await database.query(`create role ${user} login noinherit password '${user}' in role parley_app, parley_worker`);
  try {
    expect(await readSchemaState(url.href)).toMatchObject({ version: NEEDED_SCHEMA });
  } finally {
    await database.query(`drop role ${user}`);
  }
});
