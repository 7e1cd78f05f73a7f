import type { Client } from 'pg';
import { withDirectClient } from '../../platform/postgres-client.ts';
import { type DatabaseUrl, rolePrefixOf } from '../../platform/store-urls.ts';
import { isDenied, queryAs, roleName } from './database-roles.ts';
import type { StorageRole } from './settings.ts';

/** Limits for every query. */
const LIMITS = "set statement_timeout = '5s'; set lock_timeout = '1s'; set timezone = 'UTC'";

/** PostgreSQL settings relevant to speed, durability and connections. None of them contains names. */
const SETTINGS = [
  'autovacuum',
  'autovacuum_max_workers',
  'autovacuum_vacuum_scale_factor',
  'checkpoint_timeout',
  'data_checksums',
  'effective_cache_size',
  'fsync',
  'full_page_writes',
  'huge_pages',
  'idle_in_transaction_session_timeout',
  'io_method',
  'jit',
  'lock_timeout',
  'maintenance_work_mem',
  'max_connections',
  'max_wal_size',
  'max_worker_processes',
  'random_page_cost',
  'server_version',
  'shared_buffers',
  'statement_timeout',
  'synchronous_commit',
  'track_io_timing',
  'wal_compression',
  'wal_level',
  'work_mem',
];

/** The queries by name. They return counts and sizes, never user-written content. */
const QUERIES = {
  settings: `select name, setting, unit from pg_settings where name = any($1) order by name`,
  schema: 'select version, oldest_compatible from schema_state order by version',
  migrations: 'select name, executed_at from schema_migrations order by id',
  size: 'select pg_database_size(current_database()) as bytes',
  tables: `select schemaname || '.' || relname as name, pg_table_size(relid) as bytes, pg_indexes_size(relid) as index_bytes,
      n_live_tup as rows_estimate, n_dead_tup as dead_rows_estimate, seq_scan, idx_scan,
      greatest(last_vacuum, last_autovacuum) as vacuumed_at, greatest(last_analyze, last_autoanalyze) as analyzed_at
    from pg_stat_user_tables where schemaname in ('public', 'bullmq') order by 1`,
  indexes: `select schemaname || '.' || indexrelname as name, pg_relation_size(indexrelid) as bytes, idx_scan as scans,
      indisvalid as valid
    from pg_stat_user_indexes join pg_index using (indexrelid) where schemaname in ('public', 'bullmq') order by 1`,
  connections: `select case when application_name ~ '^parley_[a-z]+$' then application_name else 'other' end as of, state,
      wait_event_type as waits_for, count(*)::int as number, max(extract(epoch from clock_timestamp() - xact_start)) as
      longest_transaction_s
    from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() group by 1, 2, 3 order by 1, 2, 3`,
  tenants: `select (select count(*)::int from tenants) as present, (select count(*)::int from deleted_tenants) as deleted`,
  ingestion: `select sum(stored) as stored, sum(repeated) as repeated, sum(quarantined) as quarantined,
      sum(rejected) as rejected from ingestion_totals`,
  quarantine: `select case when reason in ('revision-conflict', 'unstorable', 'unprocessable', 'key-revoked') then reason else 'other' end
      as reason, count(*)::int as entries, min(quarantined_at) as oldest, max(quarantined_at) as newest
    from quarantined_answers group by 1 order by 1`,
  conservation: `select (select count(*)::int from lost_flushes) as lost_flushes,
      (select max(found_at) from lost_flushes) as last_found_at,
      count_vanished_answers()::int as vanished_answers,
      (select count(*)::int from flush_producers) as producers,
      (select coalesce(sum(written - settled), 0) from flush_producers) as unsettled_flushes,
      (select max(claimed_at) from flush_producers) as last_claim_at`,
} as const;

type Query = keyof typeof QUERIES;

/** Queries that a role of Parley can answer as completely as the owner of the tables, where the user itself may not. */
const ANSWERED_BY: Partial<Record<Query, StorageRole>> = {
  schema: 'parley_app',
  ingestion: 'parley_worker',
  quarantine: 'parley_worker',
  conservation: 'parley_app',
};

/** In place of rows that only the owner of the tables may read. */
const OWNER_ONLY = 'omitted: the user of DATABASE_URL does not own the tables';

/** In place of rows that the user of `DATABASE_API_URL` may not read. */
const NOT_OF_API = 'omitted: the user of DATABASE_URL may act only as the API';

async function runQuery(client: Client, query: Query, prefix: string): Promise<unknown> {
  try {
    const params = query === 'settings' ? [SETTINGS] : [];
    return (await client.query(QUERIES[query], params)).rows;
  } catch (error) {
    const role = ANSWERED_BY[query];
    if (!isDenied(error)) return { error: (error as Error).message }; // the table does not exist yet; other queries continue
    if (!role) return OWNER_ONLY;
    return queryAs(client, roleName(role, prefix), QUERIES[query]).catch((failure: Error) =>
      isDenied(failure) ? NOT_OF_API : { error: failure.message },
    );
  }
}

/** Returns figures about the database for diagnosis. Rejects when it is unreachable. */
export const describeDatabase = (url: DatabaseUrl): Promise<Record<string, unknown>> =>
  withDirectClient(url, async client => {
    await client.query(LIMITS);
    const seen: Record<string, unknown> = {};
    for (const query of Object.keys(QUERIES) as Query[]) seen[query] = await runQuery(client, query, rolePrefixOf(url));
    return seen;
  });
