import type { Client } from 'pg';

/**
 * Settings on which results depend, with the values that Parley needs. A database or a user may have other defaults, such
 * as by `alter database … set datestyle = german`.
 */
const NEEDED = {
  array_nulls: 'on',
  bytea_output: 'hex',
  datestyle: 'ISO, MDY',
  extra_float_digits: '1',
  gin_fuzzy_search_limit: '0',
  intervalstyle: 'postgres',
  quote_all_identifiers: 'off',
  row_security: 'on',
  search_path: 'public',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
};

/** Those that a transaction cannot change once it has begun, or that apply between transactions. */
const OF_SESSION = {
  default_transaction_deferrable: 'off',
  default_transaction_isolation: 'read committed',
  idle_session_timeout: '0',
  statement_timeout: '0',
};

const setAll = (settings: Record<string, string>, isLocal: boolean): string =>
  [
    ...Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', ${isLocal})`),
    // PostgreSQL 17 and newer
    `case when current_setting('transaction_timeout', true) is not null then set_config('transaction_timeout', '0', ${isLocal}) end`,
  ].join(', ');

/** A default that no connection of Parley can replace, and its remedy. */
export interface FirmDefault {
  detail: string;
  remedy: string;
}

/** The settings whose defaults stay in effect, with the required value and the consequence of any other. */
const FIRM: [name: string, required: string, consequence: string][] = [
  [
    'default_transaction_read_only',
    'off',
    'PostgreSQL refuses every write. Your provider may have set it because the disk is full: free space first, then reset it',
  ],
  ['session_replication_role', 'origin', 'triggers do not run, so that changes are not announced. Reset it'],
];
const FIRM_BEHIND_POOLER: typeof FIRM = [
  [
    'default_transaction_isolation',
    'read committed',
    'statements fail that change a row at the same time. A pooler keeps Parley from replacing it. Reset it',
  ],
];

/** Returns the defaults of the connection's database and user that change how Parley behaves; empty when there are none. */
export async function findFirmDefaults(client: Client, isPooled: boolean): Promise<FirmDefault[]> {
  const firm = isPooled ? [...FIRM, ...FIRM_BEHIND_POOLER] : FIRM;
  const { rows } = await client.query<{ name: string; reset_val: string }>(
    'select name, reset_val from pg_settings where name = any($1)',
    [firm.map(([name]) => name)],
  );
  const defaults = new Map(rows.map(row => [row.name, row.reset_val]));
  return firm
    .filter(([name, required]) => defaults.get(name) !== required)
    .map(([name, required, consequence]) => ({
      detail: `${name} is ${defaults.get(name)} and must be ${required}`,
      remedy: `${consequence}: ALTER DATABASE or ALTER ROLE … RESET ${name}.`,
    }));
}

/** A statement that replaces the defaults of a session, for each connection that does not lead to a pooler. */
export const SESSION_SETTINGS = `select ${setAll({ ...NEEDED, ...OF_SESSION }, false)}`;

/** Columns of a `select` that replace the defaults of a transaction behind a pooler, as far as a transaction can. */
export const POOLED_SETTINGS = setAll(NEEDED, true);

/** Begins a transaction, independent of the default isolation level. */
export const BEGIN = 'begin isolation level read committed';
