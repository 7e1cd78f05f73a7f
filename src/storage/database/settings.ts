import { DURABLE_COMMIT, SERVER_DURABILITY_COLUMNS } from '../../platform/postgres-durability.ts';
import { POOLED_SETTINGS } from '../../platform/postgres-session.ts';
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
  jit: 'off', // to compile a statement takes longer than to run it
};

const setAll = (settings: Record<string, string>): string =>
  Object.entries(settings)
    .map(([name, value]) => `set_config('${name}', '${value}', true)`)
    .join(', ');

const settingsText = (fixed: Record<string, string>): string =>
  `select set_config('role', $1, true), set_config('parley.tenant', $2, true),
  set_config('parley.account', $3, true), set_config('statement_timeout', $4, true), ${setAll(fixed)},
  set_config('synchronous_commit', ${DURABLE_COMMIT}, true), ${SERVER_DURABILITY_COLUMNS}`;

const USUAL = { name: 'parley_settings', text: settingsText(FIXED) };

/** How PostgreSQL plans a statement, instead of by a generic plan with any method. */
export interface Planning {
  /** Applies it to the rest of an open transaction. */
  sql: string;
  /** The settings of a transaction, with those of the planning. */
  transaction: { name: string; text: string };
}

/**
 * Returns a planning without reading of whole tables and without these methods. `custom` plans each statement for its values.
 * `storage/database/lists.ts` has all of them; other modules call its functions.
 */
export function definePlanning(name: string, mode: 'custom' | 'generic', disabled: readonly string[]): Planning {
  const off = Object.fromEntries(['enable_seqscan', ...disabled].map(method => [method, 'off']));
  const settings = { plan_cache_mode: `force_${mode}_plan`, ...off };
  return {
    sql: `select ${setAll(settings)}`,
    transaction: { name: `parley_settings_${name}`, text: settingsText({ ...FIXED, ...settings }) },
  };
}

/**
 * Turns reading of whole tables off, for the rest of a transaction that looks rows up by key.
 *
 * A connection keeps the plan of its first use until the table is analyzed. One that was made while a table was empty reads
 * all of the table's rows, however many there are by then.
 */
export const BY_KEY = setAll({ enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off' });

/**
 * The single statement with all settings of a transaction: role, tenant, person, time-outs, planning, and a commit
 * that waits for the disk.
 *
 * All of them are local to the transaction, and independent of the connection's session, which a pooler in transaction
 * mode reassigns. `isPooled` adds those that a direct connection has set once (`SESSION_SETTINGS`). It returns the server's
 * durability settings (`ServerDurability`).
 */
export function transactionSettings(
  role: string,
  { tenantId, accountId }: RowScope,
  statementTimeoutMs: number,
  planning?: Planning,
  isPooled = false,
): NamedStatement {
  const { name, text } = planning?.transaction ?? USUAL;
  return {
    name: isPooled ? `${name}_pooled` : name,
    text: isPooled ? `${text}, ${POOLED_SETTINGS}` : text,
    values: [role, tenantId, accountId, String(statementTimeoutMs)],
  };
}
