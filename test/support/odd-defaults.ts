import type { TestDatabase } from './database.ts';

/** Defaults that an administrator may have set, each unlike PostgreSQL's own. */
const ODD_DEFAULTS = {
  array_nulls: 'off',
  backslash_quote: 'off',
  bytea_output: 'escape',
  client_min_messages: 'debug1',
  datestyle: 'German, DMY',
  default_transaction_deferrable: 'on',
  default_transaction_isolation: 'serializable',
  enable_indexscan: 'off',
  extra_float_digits: '-15',
  gin_fuzzy_search_limit: '1',
  idle_in_transaction_session_timeout: '1s',
  idle_session_timeout: '500ms',
  intervalstyle: 'iso_8601',
  jit_above_cost: '0',
  lock_timeout: '100ms',
  plan_cache_mode: 'force_custom_plan',
  quote_all_identifiers: 'on',
  row_security: 'off',
  search_path: 'pg_catalog',
  standard_conforming_strings: 'off',
  statement_timeout: '1s',
  timezone: 'Asia/Kathmandu',
  transform_null_equals: 'on',
  work_mem: '64kB',
  xmloption: 'document',
};

/** Makes all later connections to a database start with odd settings. */
export async function setOddDefaults({ url, query }: Pick<TestDatabase, 'url' | 'query'>): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  for (const [setting, value] of Object.entries(ODD_DEFAULTS))
    await query(`alter database ${name} set ${setting} = '${value}'`);
}
