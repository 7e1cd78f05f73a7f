import type { Client } from 'pg';
import { withClient, withDirectClient } from '../../platform/postgres-client.ts';
import type { Seals } from '../../platform/secrets.ts';
import { type DatabaseUrl, rolePrefixOf } from '../../platform/store-urls.ts';
import { isOwner, MissingRights, queryAs, roleName } from './database-roles.ts';

/** A column with sealed (AES-GCM encrypted) values, in SQL. */
interface SealedColumn {
  table: string;
  /** The primary key. */
  key: string;
  /** The context that a value is bound to. */
  context: string;
  /** The value as bytes, or null. */
  value: string;
  /** The assignment that writes `$1`. */
  assignment: string;
}

const bytes = (table: string, key: string, context: string, column: string): SealedColumn => ({
  table,
  key,
  context,
  value: column,
  assignment: `${column} = $1`,
});

/**
 * Every sealed column. The cookies of a login at the identity provider are sealed as well, but live only ten minutes.
 */
const COLUMNS: SealedColumn[] = [
  bytes('lasting_keys', 'purpose', "'lasting-key:' || purpose", 'key_sealed'),
  bytes('api_keys', 'tenant_id, id', 'id::text', 'secret_sealed'),
  bytes('api_keys', 'tenant_id, id', 'id::text', 'previous_secret_sealed'),
  bytes('webhooks', 'tenant_id, id', 'id::text', 'secret_sealed'),
  bytes('webhooks', 'tenant_id, id', 'id::text', 'previous_secret_sealed'),
  bytes('accounts', 'id', 'id::text', 'totp_sealed'),
  bytes('mails', 'tenant_id, id', 'id::text', 'letter_sealed'),
  {
    table: 'idempotency_keys',
    key: 'tenant_id, credential_id, key',
    context: 'credential_id::text',
    value: "case when body like 'sealed:%' then decode(substr(body, 8), 'base64') end",
    assignment: String.raw`body = 'sealed:' || translate(encode($1, 'base64'), E'\n', '')`,
  },
];

const BATCH = 200;

interface SealedRow {
  /** The values of the primary key. */
  place: string[];
  context: string;
  sealed: Buffer;
}

/** How many values each secret key decrypts, `SECRET_KEY` first, and how many none does. */
export interface SealedTally {
  byKey: number[];
  unreadable: number;
  /** Whether all values were read. Only the owner of the tables can; for other users it is a sample. */
  isComplete: boolean;
}

/** Counts sealed values by the key that decrypts them: all of them as the owner of the tables, otherwise a sample. */
export async function tallySealed(url: DatabaseUrl, seals: Seals): Promise<SealedTally> {
  const isComplete = await withClient(url, isOwner);
  const tally: SealedTally = { byKey: Array.from({ length: seals.keyCount }, () => 0), unreadable: 0, isComplete };
  const count = ({ sealed, context }: Pick<SealedRow, 'sealed' | 'context'>) => {
    const keyNumber = seals.keyOf(sealed, context);
    if (keyNumber < 0) tally.unreadable++;
    else tally.byKey[keyNumber] = (tally.byKey[keyNumber] as number) + 1;
  };
  if (isComplete) await forEachSealed(url, async (_, row) => count(row));
  else for (const sample of await readSamples(url)) count(sample);
  return tally;
}

const SAMPLES = 1000;

/** Returns the derived keys and the oldest of the other values. */
const readSamples = (url: DatabaseUrl): Promise<Pick<SealedRow, 'sealed' | 'context'>[]> =>
  withClient(url, client =>
    queryAs(
      client,
      roleName('parley_app', rolePrefixOf(url)),
      `select 'lasting-key:' || purpose as context, key_sealed as sealed from lasting_keys
       union all select context, sealed from sealed_samples($1)`,
      [SAMPLES],
    ),
  );

/** The result of a rotation. */
export interface Renewal {
  renewed: number;
  /** Values already under the current key. */
  untouched: number;
  /** Values that no key decrypts; left unchanged. */
  unreadable: number;
}

/**
 * Re-encrypts every value that is not under the current key.
 *
 * Each value is a separate statement, which locks a single row briefly and cannot deadlock. Values changed concurrently
 * are skipped.
 */
export async function renewSealed(url: DatabaseUrl, seals: Seals): Promise<Renewal> {
  if (!(await withClient(url, isOwner)))
    throw new MissingRights(
      'Only the owner of the tables can re-encrypt all secrets: run this command with the DATABASE_URL of `parley migrate`.',
    );
  const renewal: Renewal = { renewed: 0, untouched: 0, unreadable: 0 };
  await forEachSealed(url, async (write, { sealed, context }) => {
    const keyNumber = seals.keyOf(sealed, context);
    if (keyNumber < 0) renewal.unreadable++;
    else if (keyNumber === 0) renewal.untouched++;
    else renewal.renewed += await write(seals.seal(seals.unseal(sealed, context), context));
  });
  return renewal;
}

/** Replaces the visited value if it is unchanged. Returns the number of rows. */
type Write = (sealed: Buffer) => Promise<number>;

/** Visits every sealed value of all tenants, in batches without locks in between. */
const forEachSealed = (url: DatabaseUrl, visit: (write: Write, row: SealedRow) => Promise<void>): Promise<void> =>
  withDirectClient(url, async client => {
    await client.query('set row_security = off'); // a user who may not see every row gets an error, not a part of them
    for (const column of COLUMNS)
      for await (const row of rowsOf(client, column)) await visit(sealed => replace(client, column, row, sealed), row);
  });

async function* rowsOf(client: Client, column: SealedColumn): AsyncGenerator<SealedRow> {
  let rows = await readBatch(client, column);
  while (rows.length > 0) {
    yield* rows;
    rows = await readBatch(client, column, rows.at(-1));
  }
}

async function readBatch(
  client: Client,
  { table, key, context, value }: SealedColumn,
  after?: SealedRow,
): Promise<SealedRow[]> {
  const params = after?.place.map((_, index) => `$${index + 1}`).join(', ');
  const { rows } = await client.query<SealedRow>(
    `select array[${key.replaceAll(/\w+/g, '$&::text')}] as place, ${context} as context, ${value} as sealed from ${table}
     where ${value} is not null ${params === undefined ? '' : `and (${key}) > (${params})`} order by ${key} limit ${BATCH}`,
    after?.place,
  );
  return rows;
}

async function replace(
  client: Client,
  { table, key, value, assignment }: SealedColumn,
  { place, sealed }: SealedRow,
  renewed: Buffer,
): Promise<number> {
  const params = place.map((_, index) => `$${index + 3}`).join(', ');
  const { rowCount } = await client.query(
    `update ${table} set ${assignment} where (${key}) = (${params}) and ${value} = $2`,
    [renewed, sealed, ...place],
  );
  return rowCount ?? 0;
}
