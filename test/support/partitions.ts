import type { TestDatabase } from './database.ts';

/** Tables that grow with use and whose row type is not the result type of a function. */
export const GROWING = [
  'answers',
  'audit_log',
  'card_records',
  'conversations',
  'deleted_answers',
  'idempotency_keys',
  'identities',
  'messages',
  'quarantined_answers',
];

const PARTITIONS = 4;

const column = async (database: TestDatabase, sql: string, table: string): Promise<string[]> =>
  (await database.query<{ value: string }>(sql, [table])).map(({ value }) => value);

/** Statements that copy a table's properties other than columns and indexes: triggers, row-level security, grants. */
async function describeRest(database: TestDatabase, table: string): Promise<string[]> {
  return [
    ...(await column(
      database,
      'select pg_get_triggerdef(oid) as value from pg_trigger where tgrelid = $1::regclass and not tgisinternal',
      table,
    )),
    `alter table ${table} enable row level security`,
    ...(await column(
      database,
      `select format('create policy %I on %I to %s using (%s)', policyname, tablename, array_to_string(roles, ', '), qual) as value
       from pg_policies where tablename = $1`,
      table,
    )),
    ...(await column(
      database,
      `select format('grant %s on %I to %I', privilege_type, table_name, grantee) as value
       from information_schema.role_table_grants where table_name = $1 and grantee like 'parley%'`,
      table,
    )),
  ];
}

/** Splits a table into hash partitions by tenant. The database must not be in use. */
export async function partition(database: TestDatabase, table: string): Promise<void> {
  const rest = await describeRest(database, table);
  await database.query(`alter table ${table} rename to ${table}_whole`);
  await database.query(`create table ${table} (like ${table}_whole including all) partition by hash (tenant_id)`);
  for (let number = 0; number < PARTITIONS; number++)
    await database.query(
      `create table ${table}_${number} partition of ${table} for values with (modulus ${PARTITIONS}, remainder ${number})`,
    );
  const columns = await column(
    database,
    `select string_agg(format('%I', attname), ', ' order by attnum) as value from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    table,
  );
  await database.query(`insert into ${table} (${columns[0]}) select ${columns[0]} from ${table}_whole`);
  await database.query(`drop table ${table}_whole`);
  for (const statement of rest) await database.query(statement);
}
