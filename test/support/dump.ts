import type { TestDatabase } from './database.ts';
import { runTool } from './tools.ts';

/** Every table, and its schema. */
const TABLES = `select format('%I.%I', nspname, relname) as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  where relkind = 'r' and nspname not in ('pg_catalog', 'information_schema') order by 1`;

/** Returns all rows of a database as text: by `pg_dump`, or table by table where it is missing or older than the server. */
export async function dumpDatabase({ url, query }: TestDatabase): Promise<string> {
  try {
    return await runTool('pg_dump', ['--data-only', url]);
  } catch (error) {
    if (!/ENOENT|version mismatch/.test(String(error))) throw error;
  }
  const rows: string[] = [];
  for (const { name } of await query<{ name: string }>(TABLES))
    rows.push(...(await query<{ row: string }>(`select one::text as row from ${name} as one`)).map(({ row }) => row));
  return rows.join('\n');
}
