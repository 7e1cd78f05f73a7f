import { randomUUID } from 'node:crypto';
import type { TestDatabase } from './database.ts';

export interface Column {
  table: string;
  column: string;
  type: string;
  /** The type's name; for arrays that of the element with a leading underscore. */
  udt: string;
  nullable: boolean;
}

/** Every column of each of our tables. */
export const readColumns = (database: Pick<TestDatabase, 'query'>): Promise<Column[]> =>
  database.query<Column>(
    `select table_name as table, column_name as column, data_type as type, udt_name as udt,
       is_nullable = 'YES' as nullable
     from information_schema.columns where table_schema = 'public' order by table_name, ordinal_position`,
  );

/** A sample value for a column; text columns get `text`. */
function sampleOf({ table, column, type, udt }: Column, text: string): unknown {
  const samples: Record<string, unknown> = {
    text,
    uuid: randomUUID(),
    bytea: Buffer.from(`${text} ${randomUUID()}`),
    integer: 1,
    'double precision': 1,
    bigint: 1,
    boolean: true,
    date: '2026-11-21',
    tsvector: text,
    jsonb: JSON.stringify({ [text]: text }),
    ARRAY: udt === '_text' ? [text] : [],
    'timestamp with time zone': new Date(0),
  };
  const value = samples[type];
  if (value === undefined) throw new Error(`there is no sample of a ${type}, which ${table}.${column} needs`);
  return value;
}

/** An INSERT with the given values and samples in all other columns. */
export function insertSample(
  columns: Column[],
  table: string,
  given: Record<string, unknown>,
  text = 'x',
): [string, unknown[]] {
  const mine = columns.filter(column => column.table === table);
  const values = mine.map(column => (column.column in given ? given[column.column] : sampleOf(column, text)));
  const names = mine.map(({ column }) => `"${column}"`).join(', ');
  return [`insert into "${table}" (${names}) values (${values.map((_, index) => `$${index + 1}`).join(', ')})`, values];
}

/** Sample values in SQL, by the type of the column. */
const SAMPLES: Record<string, string> = {
  text: "'x'",
  uuid: 'gen_random_uuid()',
  integer: '1',
  bigint: '1',
  boolean: 'true',
  jsonb: "'{}'",
  ARRAY: "'{}'",
  'timestamp with time zone': 'now()',
};

/**
 * Inserts many rows in one statement. `given` are expressions in SQL, in which `n` counts the rows; other required columns get
 * samples.
 */
export async function insertMany(
  database: Pick<TestDatabase, 'query'>,
  table: string,
  given: Record<string, string>,
  count: number,
): Promise<void> {
  const columns = await database.query<{ name: string; type: string }>(
    `select column_name as name, data_type as type from information_schema.columns
     where table_schema = 'public' and table_name = $1 and (column_name = any($2) or is_nullable = 'NO' and column_default is null)
     order by 1`,
    [table, Object.keys(given)],
  );
  const names = columns.map(({ name }) => `"${name}"`).join(', ');
  const values = columns.map(({ name, type }) => given[name] ?? SAMPLES[type]).join(', ');
  await database.query(`insert into ${table} (${names}) select ${values} from generate_series(1, $1::int) as n`, [
    count,
  ]);
}
