import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLog } from '../src/platform/log.ts';
import { ensureRoles } from '../src/storage/database-roles.ts';
import { isCompatible, migrate, readSchemaState } from '../src/storage/migrate.ts';
import { MIGRATIONS, NEEDED_SCHEMA, OLDEST_COMPATIBLE } from '../src/storage/migrations/index.ts';
import { openOrm } from '../src/storage/orm.ts';
import { createDatabase, createEmptyDatabase, type TestDatabase } from './support/database.ts';
import { connect, createUncounted } from './support/migrations.ts';
import { SRC } from './support/modules.ts';
import { partition } from './support/partitions.ts';

const log = createLog('silent', 'test');

test('the schema after all migrations matches the entities', async () => {
  await using database = await createEmptyDatabase(); // the queue's own tables would be counted too
  await migrate(database.url, log);
  const orm = await openOrm(database.url, log);
  const statements = async () =>
    (await orm.schema.getUpdateSchemaSQL({ wrap: false, safe: false }))
      .split('\n')
      .filter(line => line.trim() !== '' && !line.startsWith('set names'));
  expect(await statements()).toEqual([]);
  await using owner = await connect(database.url);
  await owner.query('alter table members add column nickname text');
  expect(await statements()).toHaveLength(1);
  await orm.close(true);
});

test('migrate records the schema version', async () => {
  await using database = await createDatabase();
  expect(await readSchemaState(database.url)).toEqual({
    version: NEEDED_SCHEMA,
    oldest_compatible: OLDEST_COMPATIBLE,
  });
  const applied = await database.query<{ name: string }>('select name from schema_migrations order by id');
  expect(applied.map(({ name }) => name)).toEqual(MIGRATIONS.map(({ name }) => name));
});

/** The functions of the database that a migration replaces or creates. */
const functionsOf = (name: string): string[] =>
  [
    ...readFileSync(join(SRC, `storage/migrations/${name}.ts`), 'utf8').matchAll(
      /create (?:or replace )?function (\w+)/g,
    ),
  ].map(([, found]) => found as string);

test('a function is replaced in the order of the dates of migrations, so that none brings an earlier version back', () => {
  const names = MIGRATIONS.map(({ name }) => name);
  const order = (name: string) => names.filter(each => functionsOf(each).includes(name));
  const functions = new Set(names.flatMap(functionsOf));
  expect(functions.size).toBeGreaterThan(40);
  for (const name of functions) expect([name, order(name)]).toEqual([name, order(name).toSorted()]);
});

/** The functions whose changes are events of the feed. */
const WITH_EVENTS = [
  'expire_answers',
  'expire_conversations',
  'move_scheduled_questions',
  'note_full_limit',
  'resolve_pending_conversations',
  'wake_conversations',
];

test('the last version of each function that makes changes without a request writes their events', async () => {
  await using database = await createDatabase();
  const rows = await database.query<{ name: string }>(
    "select proname as name from pg_proc where prosrc ~ 'insert into events' and proname = any($1) order by 1",
    [WITH_EVENTS],
  );
  expect(rows.map(({ name }) => name)).toEqual(WITH_EVENTS);
});

test('processes of this version wait until the last migration is applied', async () => {
  await using database = await createEmptyDatabase();
  await using lock = await connect(database.url);
  await ensureRoles(lock, 'parley');
  const orm = await openOrm(database.url, log);
  const isReady = async () => isCompatible(await readSchemaState(database.url));
  for (const { name } of MIGRATIONS.slice(-10)) {
    await orm.migrator.up({ to: name });
    expect(await isReady(), name).toBe(false);
  }
  await orm.close(true);
  expect(await migrate(database.url, log)).toEqual([]);
  expect(await isReady()).toBe(true);
});

const VACUUM_SOONER = [
  'autovacuum_analyze_scale_factor=0.02',
  'autovacuum_vacuum_insert_scale_factor=0.05',
  'autovacuum_vacuum_scale_factor=0.05',
];

/** The storage parameters of tables whose names have this prefix. */
async function optionsOf(database: TestDatabase, start: string): Promise<Record<string, string[] | null>> {
  const rows = await database.query<{ relname: string; options: string[] | null }>(
    `select relname, array(select unnest(reloptions) order by 1) as options from pg_class
     where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace and starts_with(relname, $1)`,
    [start],
  );
  return Object.fromEntries(rows.map(({ relname, options }) => [relname, options]));
}

test('large tables are vacuumed and analyzed after smaller changes than by default', async () => {
  await using database = await createDatabase();
  expect(await optionsOf(database, 'answers')).toEqual({ answers: VACUUM_SOONER });
  expect(await optionsOf(database, 'messages')).toEqual({ messages: VACUUM_SOONER });
  expect(await optionsOf(database, 'card_records')).toEqual({ card_records: [...VACUUM_SOONER, 'fillfactor=70'] });
  expect(await optionsOf(database, 'questions')).toEqual({ questions: [] });
});

test("partitions of a large table are vacuumed sooner too, and an operator's own factor is kept", async () => {
  await using database = await createDatabase();
  await partition(database, 'answers');
  await database.query('alter table messages set (autovacuum_vacuum_scale_factor = 0.5)');
  await database.query('alter table messages reset (autovacuum_analyze_scale_factor)');
  await database.query("delete from schema_migrations where name = '20261213-vacuum-sooner'");
  expect(await migrate(database.url, log)).toEqual(['20261213-vacuum-sooner']);
  const options = await optionsOf(database, 'answers');
  expect(Object.keys(options)).toHaveLength(5);
  for (const [table, set] of Object.entries(options)) expect(set).toEqual(table === 'answers' ? [] : VACUUM_SOONER);
  expect(await optionsOf(database, 'messages')).toEqual({
    messages: [...VACUUM_SOONER.slice(0, 2), 'autovacuum_vacuum_scale_factor=0.5'],
  });
});

test('members of the previous version become persons, one per address, and it can still add some', async () => {
  await using database = await createEmptyDatabase();
  const orm = await openOrm(database.url, log);
  await orm.migrator.up({ to: '20261123-conservation' });
  await using owner = await connect(database.url);
  const tenants = [randomUUID(), randomUUID()];
  const insert = (tenant: string, email: string, hash: string, day: number) =>
    owner.query(
      'insert into members (tenant_id, id, email, role, password_hash, created_at) values ($1, $2, $3, $4, $5, $6)',
      [tenant, randomUUID(), email, 'owner', hash, new Date(Date.UTC(2026, 0, day))],
    );
  await insert(tenants[0] as string, 'ada@x.example', 'older', 1);
  await insert(tenants[1] as string, 'ada@x.example', 'newer', 2);
  await insert(tenants[1] as string, 'bob@x.example', 'his', 3);
  await orm.migrator.up();
  await orm.close(true);
  await insert(tenants[0] as string, 'bob@x.example', 'ignored', 4);
  await insert(tenants[0] as string, 'eve@x.example', 'hers', 5);
  const { rows } = await owner.query(
    `select accounts.email, accounts.password_hash, count(*)::int as tenants from accounts
     join members on members.account_id = accounts.id group by 1, 2 order by 1`,
  );
  expect(rows).toEqual([
    { email: 'ada@x.example', password_hash: 'newer', tenants: 2 },
    { email: 'bob@x.example', password_hash: 'his', tenants: 2 },
    { email: 'eve@x.example', password_hash: 'hers', tenants: 1 },
  ]);
});

test('a count of stored answers continues where it stopped, and counts nothing twice', async () => {
  await using database = await createUncounted(['2026-01-01', '2026-11-19', '2026-11-19', '2026-11-21']);
  await migrate(database.url, log);
  const all = [
    { day: '2026-01-01', completed: 1 },
    { day: '2026-11-19', completed: 2 },
    { day: '2026-11-21', completed: 1 },
  ];
  expect(await database.counts()).toEqual(all);
  const stopAfter = async (day: string) => {
    await database.owner.query('delete from question_results where day < $1', [day]);
    await database.owner.query("delete from schema_migrations where name = '20261202-counts'");
  };
  await stopAfter('2026-11-21');
  expect(await migrate(database.url, log)).toEqual(['20261202-counts']);
  expect(await database.counts()).toEqual(all);
  await stopAfter('2000-01-01');
  await migrate(database.url, log);
  expect(await database.counts()).toEqual(all);
});

test('an invalid index of an earlier attempt is created again', async () => {
  await using database = await createDatabase();
  const isValid = async () =>
    (
      await database.query<{ valid: boolean }>(
        "select indisvalid as valid from pg_index where indexrelid = 'answers_tagged'::regclass",
      )
    )[0]?.valid;
  await database.query("update pg_index set indisvalid = false where indexrelid = 'answers_tagged'::regclass");
  await database.query("delete from schema_migrations where name = '20261202-indexes'");
  expect(await isValid()).toBe(false);
  expect(await migrate(database.url, log)).toEqual(['20261202-indexes']);
  expect(await isValid()).toBe(true);
});

test('the index of answers by identity stores each identity once, and replaces the one that did not', async () => {
  await using database = await createEmptyDatabase();
  const orm = await openOrm(database.url, log);
  await orm.migrator.up({ to: '20261201-card-record-room' });
  await using owner = await connect(database.url);
  await owner.query(
    `insert into answers (tenant_id, id, identity, identity_verified, card_id, question_id, question_version, revision, state,
       "values", metadata, content_hash, tags, received_at, stored_at, updated_at)
     select $1, gen_random_uuid(), 'user|' || n % 400, true, $1, $1, 1, 1, 'completed', '{}', '{}', 'x', '{}',
       now() + n * interval '1 second', now(), now() from generate_series(1, 10000) as n`,
    [randomUUID()],
  );
  const sizeOf = async (name: string) =>
    Number((await owner.query('select pg_relation_size(to_regclass($1)) as size', [name])).rows[0]?.size);
  const before = await sizeOf('answers_of_identity');
  await orm.migrator.up();
  await orm.close(true);
  expect(await sizeOf('answers_of_identity')).toBe(0);
  expect(before / (await sizeOf('answers_by_identity'))).toBeGreaterThan(4);
});

test('merges into conversations that are gone are ended, and no others', async () => {
  await using database = await createEmptyDatabase();
  const orm = await openOrm(database.url, log);
  await orm.migrator.up({ to: '20270106-event-numbers' });
  await using owner = await connect(database.url);
  const [target, kept, orphan] = [randomUUID(), randomUUID(), randomUUID()];
  const insert = (id: string, into: string | null) =>
    owner.query(
      `insert into conversations (tenant_id, id, identity, identity_verified, subject, status, priority, tags, source_type,
         last_seq, last_note_seq, last_preview, last_author_type, user_read_seq, team_read_seq, user_unread, team_unread,
         created_at, updated_at, team_updated_at, last_activity_at, merged_into_id)
       values ($1, $2, 'ada', true, '', 'resolved', 'none', '{}', 'user', 1, 0, '', 'user', 1, 1, 0, 0, now(), now(), now(), now(), $3)`,
      [target, id, into],
    );
  await insert(target, null);
  await insert(kept, target);
  await insert(orphan, randomUUID());
  await orm.migrator.up();
  await orm.close(true);
  const { rows } = await owner.query('select id from conversations where merged_into_id is not null');
  expect(rows).toEqual([{ id: kept }]);
  const events = await owner.query("select object_id from events where type = 'conversation.updated'");
  expect(events.rows).toEqual([{ object_id: orphan }]);
});

test('events that have numbers keep them, and the others get the next ones', async () => {
  await using database = await createEmptyDatabase();
  const orm = await openOrm(database.url, log);
  await orm.migrator.up({ to: '20270112-locked-objects' });
  await using owner = await connect(database.url);
  const tenants = [randomUUID(), randomUUID()];
  const kept = Array.from({ length: 130 }, (_, index) => index + 21); // retention has deleted those before
  for (const tenant of tenants) {
    await owner.query(
      `insert into events (tenant_id, type, object_type, object_id, sequence, ordinal)
       select $1, 'answer.stored', 'answer', gen_random_uuid(), number, number from unnest($2::int[]) as number`,
      [tenant, kept],
    );
    await owner.query('insert into event_sequences values ($1, 150)', [tenant]);
    await owner.query(
      `insert into events (tenant_id, type, object_type, object_id)
       select $1, 'answer.updated', 'answer', gen_random_uuid() from generate_series(1, 3)`,
      [tenant],
    );
  }
  const { rows: before } = await owner.query<{ id: string }>(
    'select id from events where sequence > 0 order by tenant_id, sequence',
  );
  await orm.migrator.up();
  await orm.close(true);
  const feed = (columns: string) =>
    owner.query(
      `select ${columns} from event_batches, unnest(ids, types) with ordinality as listed (id, type, place) order by tenant_id, last, place`,
    );
  const { rows } = await feed('listed.id, type, last - cardinality(ids) + place as sequence');
  const all = [...kept, 151, 152, 153];
  expect(rows.map(({ sequence }) => Number(sequence))).toEqual([...all, ...all]);
  expect(rows.filter(({ type }) => type === 'answer.stored').map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  expect((await owner.query('select last::int from event_sequences')).rows).toEqual([{ last: 153 }, { last: 153 }]);
  await owner.query(
    `insert into events (id, written_at, tenant_id, type, object_type, object_id, ordinal)
     values (gen_random_uuid(), time_of_write(), $1, 'answer.stored', 'answer', gen_random_uuid(), 0)`,
    [tenants[0]],
  ); // as an earlier build does
  const { rows: numbered } = await owner.query('select numbered, remain from number_events(100)');
  expect(numbered).toEqual([{ numbered: 1, remain: false }]);
});

test('stored texts are marked for indexing, for tenants that have some', async () => {
  await using database = await createEmptyDatabase();
  const orm = await openOrm(database.url, log);
  await orm.migrator.up({ to: '20261201-card-record-room' });
  await using owner = await connect(database.url);
  const [busy, idle] = [randomUUID(), randomUUID()];
  for (const id of [busy, idle])
    await owner.query("insert into tenants (id, name, created_at) values ($1, 'x', now())", [id]);
  await owner.query(
    `insert into answers (tenant_id, id, identity, identity_verified, card_id, question_id, question_version, revision, state,
       "values", comment, metadata, content_hash, tags, received_at, stored_at, updated_at)
     values ($1, $1, 'ada', true, $1, $1, 1, 1, 'completed', '{}', 'words', '{}', 'x', '{}', now(), now(), now())`,
    [busy],
  );
  await orm.migrator.up();
  await orm.close(true);
  const { rows } = await owner.query('select tenant_id, kind from search_backlog');
  expect(rows).toEqual([{ tenant_id: busy, kind: 'answer' }]);
});
