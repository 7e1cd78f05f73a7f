import { Client } from 'pg';
import { withClient } from '../../src/platform/postgres-client.ts';
import { type Column, readColumns } from './rows.ts';

/** A database with two tenants of unlike size, next to the template of the test databases. */
const DATABASE = 'parley_unlike_tenants';

const LARGE = '00000000-0000-7000-8000-000000000001';
const SMALL = '00000000-0000-7000-8000-000000000002';
const ROWS = { [LARGE]: 2000, [SMALL]: 10 };

const urlOf = (postgresUrl: string): string => new URL(DATABASE, postgresUrl).href;

/** SQL for the value of a column in row `n` of a tenant or an account (`$1`). */
function sqlFor({ table, column, type }: Column): string {
  const isOwner = ['tenant_id', 'account_id'].includes(column) || (table === 'tenants' && column === 'id');
  if (isOwner) return '$1::uuid';
  const values: Record<string, string> = {
    text: `'x' || n`,
    uuid: `md5($1::text || n)::uuid`,
    bytea: `decode(md5($1::text || n), 'hex')`,
    boolean: 'n % 2 = 0',
    jsonb: `'{}'`,
    tsvector: `''`,
    ARRAY: `'{}'`,
    date: `date '2026-01-01' + n`,
    'timestamp with time zone': `timestamptz '2026-01-01' + n * interval '1 minute'`,
  };
  return values[type] ?? 'n';
}

/** Creates the database, with statistics of all tables that belong to tenants or accounts. */
export async function makeUnlikeTenants(postgresUrl: string, template: string): Promise<void> {
  await withClient(postgresUrl, async client => {
    await client.query(`drop database if exists ${DATABASE}`);
    await client.query(`create database ${DATABASE} template ${template}`);
  });
  await withClient(urlOf(postgresUrl), async client => {
    await client.query('set session_replication_role = replica'); // no triggers
    const columns = await readColumns({ query: async sql => (await client.query(sql)).rows });
    const owned = columns.filter(({ table, column }) => sqlFor({ table, column } as Column) === '$1::uuid');
    for (const table of new Set(owned.map(owner => owner.table))) {
      const filled = columns.filter(column => column.table === table && (!column.nullable || owned.includes(column)));
      const names = filled.map(({ column }) => `"${column}"`).join(', ');
      for (const [owner, rows] of Object.entries(ROWS))
        await client.query(
          `insert into "${table}" (${names}) select ${filled.map(sqlFor).join(', ')} from generate_series(1, $2::int) as n on conflict do nothing`,
          [owner, rows],
        );
    }
    await client.query('vacuum analyze');
  });
}

const UNPREPARED = /^(42|22|0A)/;

async function explainFor(client: Client, owner: string, sql: string): Promise<string> {
  const count = Math.max(0, ...[...sql.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
  const params = count > 0 ? `(${Array(count).fill('null').join(', ')})` : '';
  await client.query("select set_config('parley.tenant', $1, true), set_config('parley.account', $1, true)", [owner]);
  await client.query(`prepare explained as ${sql}`);
  const { rows } = await client.query<Record<'QUERY PLAN', string>>(`explain execute explained${params}`);
  await client.query('deallocate explained');
  return rows.map(row => row['QUERY PLAN']).join('\n');
}

/** Returns the plans of a statement for the first tenant of a connection; undefined if the role may not run it. */
async function plansAs(client: Client, role: string, sql: string): Promise<string[] | undefined> {
  await client.query(
    `begin; set local role ${role}; set local plan_cache_mode = force_generic_plan; set local jit = off`,
  );
  try {
    return [await explainFor(client, SMALL, sql), await explainFor(client, LARGE, sql)];
  } catch (error) {
    if (!UNPREPARED.test((error as { code?: string }).code ?? '')) throw error;
    return undefined;
  } finally {
    await client.query('rollback; deallocate all');
  }
}

/** Returns those of some statements whose plan depends on the tenant that uses a connection first, with both plans. */
export async function findTenantPlans(postgresUrl: string, statements: readonly string[]): Promise<string[]> {
  const client = new Client({ connectionString: urlOf(postgresUrl) });
  await client.connect();
  const found: string[] = [];
  for (const sql of statements) {
    const plans = (await plansAs(client, 'parley_app', sql)) ?? (await plansAs(client, 'parley_worker', sql));
    if (plans && plans[0] !== plans[1]) found.push([sql, ...plans].join('\n\n'));
  }
  await client.end();
  return found;
}
