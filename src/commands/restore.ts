import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BackupDescription } from '../domain/backups.ts';
import type { Config } from '../platform/config.ts';
import { openDatabase } from '../platform/database.ts';
import type { Log } from '../platform/log.ts';
import { withDirectClient } from '../platform/postgres-client.ts';
import { type RunTool, ToolError, toolsIn } from '../platform/run-tool.ts';
import { type DatabaseUrl, rolePrefixOf } from '../platform/store-urls.ts';
import { ensureRoles, MissingRights } from '../storage/database/database-roles.ts';
import { ensureServiceUsers } from '../storage/database/service-user.ts';
import { forLibpq } from './backup.ts';
import { DATABASE_FILE, findBackup, fingerprint, QUEUE_FILE, readDescription } from './backup-files.ts';
import { UsageError } from './usage-error.ts';

async function verify(backup: string, { files }: BackupDescription): Promise<void> {
  for (const [name, { sha256 }] of Object.entries(files)) {
    const file = join(backup, name);
    if (!existsSync(file) || (await fingerprint(file)).sha256 !== sha256)
      throw new UsageError(`${file} is missing or was changed since the backup. Nothing was restored.`);
  }
}

async function refuseUsedDatabase(database: DatabaseUrl): Promise<void> {
  const { rows } = await withDirectClient(database, client =>
    client.query<{ used: boolean }>(
      "select exists(select from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')) as used",
    ),
  );
  if (rows[0]?.used)
    throw new UsageError('The database is not empty. Restore into a new one: nothing was changed in this one.');
}

/** Places the queue's dump as the base of an append-only file, because a store with `appendonly yes` ignores others. */
function placeQueue(backup: string, folder: string): void {
  const files = join(folder, 'appendonlydir');
  mkdirSync(files);
  copyFileSync(join(backup, QUEUE_FILE), join(files, 'appendonly.aof.1.base.rdb'));
  writeFileSync(join(files, 'appendonly.aof.manifest'), 'file appendonly.aof.1.base.rdb seq 1 type b\n');
}

/**
 * `restore --from DIR [--queue-data D]`: restores the newest backup in DIR, or the one that DIR is, into an empty
 * database.
 *
 * The database is restored in one transaction, so a failure leaves it empty. The queue's dump is placed in D, the empty
 * data folder of a Valkey or Redis that is stopped.
 */
export async function restore(
  config: Config,
  log: Log,
  environment: NodeJS.ProcessEnv,
  options: { from: string; 'queue-data'?: string | undefined },
) {
  const backup = findBackup(options.from);
  if (!backup) throw new UsageError(`${options.from} contains no complete backup.`);
  const description = readDescription(backup);
  await verify(backup, description);
  const queueData = options['queue-data'];
  const hasQueue = description.files[QUEUE_FILE] !== undefined;
  if (queueData && !hasQueue) throw new UsageError('The backup has no queue of its own: it is in the database.');
  if (queueData && (!existsSync(queueData) || readdirSync(queueData).length > 0))
    throw new UsageError(`${queueData} must be an existing empty folder.`);
  const database = await openDatabase(config, true, log);
  try {
    await restoreDatabase(toolsIn(environment), database.url, config, join(backup, DATABASE_FILE));
  } catch (error) {
    if (error instanceof ToolError || error instanceof MissingRights) throw new UsageError(error.message);
    throw error;
  } finally {
    await database.stop();
  }
  if (queueData) placeQueue(backup, queueData);
  const { parley, schema, complete_until } = description;
  const next = [
    ...(hasQueue && !queueData ? ['place queue.rdb in the data folder of the queue: docs/backup.md'] : []),
    'run `parley migrate`, then start API and worker with the SECRET_KEY of that time',
    'after some minutes run `parley losses list`: acknowledged answers that are in neither store',
  ];
  return { restored: backup, parley, schema, complete_until, next };
}

async function restoreDatabase(runTool: RunTool, url: DatabaseUrl, config: Config, dump: string): Promise<void> {
  await refuseUsedDatabase(url);
  const prefix = rolePrefixOf(url);
  await withDirectClient(url, client => ensureRoles(client, prefix));
  const { url: target, secrets } = forLibpq(url);
  const how = ['--no-owner', '--exit-on-error', '--single-transaction', '--no-password'];
  await runTool('pg_restore', [...how, `--dbname=${target}`, dump], secrets);
  await withDirectClient(url, client => ensureServiceUsers(client, config, prefix));
}
