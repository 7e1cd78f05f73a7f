import { withClient } from '../../platform/postgres-client.ts';
import type { DatabaseUrl } from '../../platform/store-urls.ts';
import type { Storage } from '../database/orm.ts';

/** Records a complete backup, as the owner of the tables. Only the newest one is kept. */
export const recordBackup = (
  database: DatabaseUrl,
  { complete_until, finished_at }: { complete_until: string; finished_at: string },
): Promise<unknown> =>
  withClient(database, client =>
    client.query(
      `insert into last_backup values (true, $1, $2)
       on conflict (is_only) do update set complete_until = excluded.complete_until, finished_at = excluded.finished_at`,
      [complete_until, finished_at],
    ),
  );

/** Returns the time until which the newest backup is complete; undefined before the first one. */
export const readLastBackup = async (storage: Storage): Promise<Date | undefined> =>
  (await storage.query<{ complete_until: Date }>('select complete_until from last_backup'))[0]?.complete_until;
