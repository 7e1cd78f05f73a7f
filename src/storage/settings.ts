import { DURABLE_COMMIT, SERVER_DURABILITY_COLUMNS } from '../platform/postgres-durability.ts';
import type { NamedStatement } from './scoped-query.ts';
import type { RowScope } from './transaction.ts';

/**
 * The database role of a process, under the default prefix. It determines which rows row-level security shows.
 */
export type StorageRole = 'parley_app' | 'parley_worker';

/** As long as a worker's job locks: a worker that stalls for longer loses its jobs, and should lose its transaction. */
const IDLE_TRANSACTION_TIMEOUT_MS = 10_000;
const LOCK_TIMEOUT_MS = 5000;

/** Settings that are the same in all transactions. */
const FIXED = {
  lock_timeout: String(LOCK_TIMEOUT_MS),
  idle_in_transaction_session_timeout: String(IDLE_TRANSACTION_TIMEOUT_MS),
  timezone: 'UTC',
  plan_cache_mode: 'force_generic_plan',
};

const SETTINGS = `select set_config('role', $1, true), set_config('parley.tenant', $2, true),
  set_config('parley.account', $3, true), set_config('statement_timeout', $4, true),
  ${Object.entries(FIXED)
    .map(([name, value]) => `set_config('${name}', '${value}', true)`)
    .join(', ')},
  set_config('synchronous_commit', ${DURABLE_COMMIT}, true), ${SERVER_DURABILITY_COLUMNS}`;

/**
 * Turns reading of whole tables off, for the rest of a transaction that looks rows up by key.
 *
 * A connection keeps the plan of its first use until the table is analyzed. One that was made while a table was empty reads
 * all of the table's rows, however many there are by then.
 */
export const BY_KEY = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin']
  .map(name => `set_config('${name}', 'off', true)`)
  .join(', ');

/**
 * The single statement with all settings of a transaction: role, tenant, person, time-outs, plan mode, and a commit
 * that waits for the disk.
 *
 * All of them are local to the transaction, and independent of the connection's session, which a pooler in transaction
 * mode reassigns. It returns the server's durability settings (`ServerDurability`).
 */
export const transactionSettings = (
  role: string,
  { tenantId, accountId }: RowScope,
  statementTimeoutMs: number,
): NamedStatement => ({
  name: 'parley_settings',
  text: SETTINGS,
  values: [role, tenantId, accountId, String(statementTimeoutMs)],
});
