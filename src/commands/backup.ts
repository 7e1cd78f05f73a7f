import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BackupDescription } from '../domain/backups.ts';
import { BUILD } from '../platform/build-info.ts';
import type { Config } from '../platform/config.ts';
import { withDirectClient } from '../platform/postgres-client.ts';
import { type RunTool, ToolError, toolsIn } from '../platform/run-tool.ts';
import { type DatabaseUrl, directUrlOf } from '../platform/store-urls.ts';
import { isOwner } from '../storage/database/database-roles.ts';
import { readSchemaState } from '../storage/database/migrate.ts';
import { recordBackup } from '../storage/upkeep/backups.ts';
import {
  DATABASE_FILE,
  descriptionOf,
  fingerprint,
  isCompleteRdb,
  nameOf,
  PART_PREFIX,
  prune,
  QUEUE_FILE,
  sync,
} from './backup-files.ts';
import type { CommandContext } from './command.ts';
import { UsageError } from './usage-error.ts';

const DEFAULT_KEEP = 7;
/** Readable only to the user that runs the command. */
const PRIVATE = 0o077;
const OWNER_ONLY = 0o600;

/** The stores' tools, and the environment in which they run. */
interface Tools {
  environment: NodeJS.ProcessEnv;
  runTool: RunTool;
}

/** A URL for PostgreSQL's own programs, and its password for their environment. */
export function forLibpq(database: DatabaseUrl): { url: string; secrets: Record<string, string> } {
  const url = new URL(directUrlOf(database));
  const secrets: Record<string, string> = url.password ? { PGPASSWORD: decodeURIComponent(url.password) } : {};
  url.password = '';
  url.searchParams.delete('uselibpqcompat'); // of node-postgres
  return { url: url.href, secrets };
}

async function dumpDatabase(runTool: RunTool, database: DatabaseUrl, file: string): Promise<void> {
  const { url, secrets } = forLibpq(database);
  await runTool('pg_dump', ['--format=custom', '--no-owner', '--no-password', `--file=${file}`, url], secrets);
  const contents = await runTool('pg_restore', ['--list', file]);
  if (!/TABLE DATA public answers /.test(contents)) throw new ToolError('the dump does not contain the answers');
  await runTool('pg_restore', ['--file=/dev/null', file]); // reads and decompresses everything
}

/** `valkey-cli`, or `redis-cli` where that is installed instead. */
async function findQueueTool(runTool: RunTool): Promise<string> {
  try {
    await runTool('valkey-cli', ['--version']);
    return 'valkey-cli';
  } catch {
    return 'redis-cli';
  }
}

async function dumpQueue(
  { environment, runTool }: Tools,
  address: NonNullable<Config['redis']>,
  file: string,
): Promise<void> {
  const url = new URL(address.readUrl());
  if (url.searchParams.has('sentinels'))
    throw new UsageError('backup needs the address of the primary or of a replica: set REDIS_URL without Sentinels.');
  const password = decodeURIComponent(url.password);
  const args = [
    ...['-h', url.hostname.replace(/^\[|\]$/g, ''), '-p', url.port || '6379', '--no-auth-warning'],
    ...(url.username ? ['--user', decodeURIComponent(url.username)] : []),
    ...(url.protocol === 'rediss:' ? ['--tls', '--sni', url.hostname] : []),
    ...(environment.NODE_EXTRA_CA_CERTS ? ['--cacert', environment.NODE_EXTRA_CA_CERTS] : []),
  ];
  const secrets: Record<string, string> = password ? { REDISCLI_AUTH: password, VALKEYCLI_AUTH: password } : {};
  await runTool(await findQueueTool(runTool), [...args, '--rdb', file], secrets);
  if (!isCompleteRdb(file)) throw new ToolError('the dump of the queue is incomplete');
}

/** Writes the queue first, then the database: an answer leaves the queue only when it is in the database. */
async function writeBackup(
  { databaseUrl, config, now }: CommandContext,
  tools: Tools,
  folder: string,
): Promise<BackupDescription> {
  const state = await readSchemaState(databaseUrl);
  const files = [];
  if (config.redis) {
    await dumpQueue(tools, config.redis, join(folder, QUEUE_FILE));
    files.push(QUEUE_FILE);
  }
  await dumpDatabase(tools.runTool, databaseUrl, join(folder, DATABASE_FILE));
  files.push(DATABASE_FILE);
  const prints: BackupDescription['files'] = {};
  for (const file of files) {
    chmodSync(join(folder, file), OWNER_ONLY); // whatever the tool has set
    await sync(join(folder, file));
    prints[file] = await fingerprint(join(folder, file));
  }
  const description: BackupDescription = {
    parley: BUILD.version,
    schema: state?.version ?? 0,
    started_at: now.toISOString(),
    finished_at: new Date().toISOString(),
    complete_until: now.toISOString(),
    queue: config.redis ? 'in queue.rdb' : 'in the database',
    files: prints,
  };
  writeFileSync(descriptionOf(folder), `${JSON.stringify(description, null, 2)}\n`);
  await sync(descriptionOf(folder));
  await sync(folder);
  return description;
}

/** Returns the number of backups to keep. */
function readKeep(keep: string | undefined): number {
  if (keep !== undefined && !/^[1-9]\d{0,4}$/.test(keep)) throw new UsageError('--keep must be a number from 1 on');
  return Number(keep ?? DEFAULT_KEEP);
}

/**
 * `backup --to DIR [--keep N]`: backs up the queue and the database with their own tools, while everything runs.
 *
 * It writes to a hidden folder, verifies what it has written, and renames the folder; only then it deletes the oldest
 * backups beyond N. A failure at any moment leaves the earlier ones as they are. It contains no secret key.
 *
 * Throws `UsageError` where a tool is missing or fails, and for users who may not read all rows.
 */
export async function backUp(
  context: CommandContext,
  environment: NodeJS.ProcessEnv,
  options: { to: string; keep?: string | undefined },
) {
  process.umask(PRIVATE);
  const { to } = options;
  const keep = readKeep(options.keep);
  if (!(await withDirectClient(context.databaseUrl, isOwner)))
    throw new UsageError('Only the owner of the tables can back up: use the DATABASE_URL of `parley migrate`.');
  mkdirSync(to, { recursive: true });
  const name = nameOf(context.now);
  const part = join(to, `${PART_PREFIX}${name}-${process.pid}`);
  mkdirSync(part);
  let description: BackupDescription;
  try {
    description = await writeBackup(context, { environment, runTool: toolsIn(environment) }, part);
    renameSync(part, join(to, name));
    await sync(to);
  } catch (error) {
    rmSync(part, { recursive: true, force: true });
    throw error instanceof ToolError ? new UsageError(`No backup was made: ${error.message}`) : error;
  }
  await recordBackup(context.databaseUrl, description);
  return { backup: join(to, name), ...description, deleted: prune(to, keep, context.now) };
}
