import type { Client, Pool } from 'pg';

/** Server settings without which PostgreSQL may lose a commit that it has confirmed, whatever the commit waited for. */
const SERVER_SETTINGS = ['fsync', 'full_page_writes'] as const;

/** Columns of a `select` that return those settings as they are at this moment. */
export const SERVER_DURABILITY_COLUMNS = SERVER_SETTINGS.map(name => `current_setting('${name}') as ${name}`).join(
  ', ',
);

/** The values of `SERVER_DURABILITY_COLUMNS`. */
export type ServerDurability = Record<(typeof SERVER_SETTINGS)[number], string>;

/** The server settings that break the promise of a commit, as sentences; empty when there are none. */
export const findLaxSettings = (row: ServerDurability): string[] =>
  SERVER_SETTINGS.flatMap(name => (row[name] === 'off' ? [`${name} is off in PostgreSQL and must be on`] : []));

/**
 * SQL for the value of `synchronous_commit` under which a commit is on disk before it is confirmed.
 *
 * `on`, unless the operator chose `remote_apply`, which waits for more. `local` and `remote_write` become `on`: with
 * synchronous standbys they confirm a commit that the standby, the next primary, may not have on disk.
 */
export const DURABLE_COMMIT =
  "case current_setting('synchronous_commit') when 'remote_apply' then 'remote_apply' else 'on' end";

/** The server's lax settings, and whether this connection's commits wait for the disk. Rejects when it can't be reached. */
export async function readDurability(client: Client | Pool): Promise<{ server: string[]; commitsWait: boolean }> {
  const { rows } = await client.query<ServerDurability & { commit: string }>(
    `select ${SERVER_DURABILITY_COLUMNS}, current_setting('synchronous_commit') as commit`,
  );
  const [row] = rows;
  if (!row) throw new Error('PostgreSQL returned no settings.');
  return { server: findLaxSettings(row), commitsWait: row.commit !== 'off' };
}
