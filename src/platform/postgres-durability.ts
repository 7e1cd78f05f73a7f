import type { Client, Pool } from 'pg';

/** Server settings without which PostgreSQL may lose a confirmed commit in any commit mode. */
const SERVER_SETTINGS = ['fsync', 'full_page_writes'] as const;

/** Columns of a `select` that return the current values of those settings. */
export const SERVER_DURABILITY_COLUMNS = SERVER_SETTINGS.map(name => `current_setting('${name}') as ${name}`).join(
  ', ',
);

/** The values of `SERVER_DURABILITY_COLUMNS`. */
export type ServerDurability = Record<(typeof SERVER_SETTINGS)[number], string>;

/** Returns the server settings that make commits unsafe, as sentences; empty when all are safe. */
export const findLaxSettings = (row: ServerDurability): string[] =>
  SERVER_SETTINGS.flatMap(name => (row[name] === 'off' ? [`${name} is off in PostgreSQL and must be on`] : []));

/**
 * SQL for a value of `synchronous_commit` that puts a commit on disk before confirming it.
 *
 * `on`, or the operator's `remote_apply`, which waits for more. `local` and `remote_write` become `on`: with
 * synchronous standbys, they confirm a commit that the standby (the next primary) may not have on disk.
 */
export const DURABLE_COMMIT =
  "case current_setting('synchronous_commit') when 'remote_apply' then 'remote_apply' else 'on' end";

/**
 * Returns the server's unsafe settings, and whether this connection's commits wait for the disk. Rejects when the
 * server is unreachable.
 */
export async function readDurability(client: Client | Pool): Promise<{ server: string[]; commitsWait: boolean }> {
  const { rows } = await client.query<ServerDurability & { commit: string }>(
    `select ${SERVER_DURABILITY_COLUMNS}, current_setting('synchronous_commit') as commit`,
  );
  const [row] = rows;
  if (!row) throw new Error('PostgreSQL returned no settings.');
  return { server: findLaxSettings(row), commitsWait: row.commit !== 'off' };
}
