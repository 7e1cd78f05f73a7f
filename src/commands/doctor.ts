import { type Config, ConfigError, loadConfig } from '../platform/config.ts';
import { type Database, openDatabase } from '../platform/database.ts';
import type { Log } from '../platform/log.ts';
import { withClient } from '../platform/postgres-client.ts';
import { readDurability } from '../platform/postgres-durability.ts';
import { findSettingHints } from '../platform/postgres-settings.ts';
import { createSeals, type SecretKeys } from '../platform/secrets.ts';
import { CLUSTERED, type Inspection, inspectQueue, MAX_MEMORY_RATIO, memoryLimit } from '../queue/durability.ts';
import { checkReplicas } from '../queue/replicas.ts';
import { checkRoles, isCompatible, readSchemaState } from '../storage/migrate.ts';
import { NEEDED_SCHEMA } from '../storage/migrations/index.ts';
import { isPooledByTransaction } from '../storage/pooling.ts';
import { tallySealed } from '../storage/sealed.ts';

/** A diagnosed item: whether it is healthy, and the remedy if not. */
interface Check {
  name: string;
  ok: boolean;
  detail: string;
  mend?: string;
  /** A possible improvement of a healthy item. It never makes a diagnosis fail. */
  hint?: string;
}

export interface Diagnosis {
  ok: boolean;
  checks: Check[];
}

const OLDEST_POSTGRES = 140_000;

const well = (name: string, detail: string): Check => ({ name, ok: true, detail });
const ill = (name: string, detail: string, mend: string): Check => ({ name, ok: false, detail, mend });
const reasonOf = (error: unknown): string => (error as Error).message || String(error);

/** An additional check, run while an embedded database is available. */
export type Look = (config: Config, database: Database) => Promise<void>;

/** Checks the configuration, the database and the queue. Returns each fault with its remedy. */
export async function diagnose(
  environment: NodeJS.ProcessEnv,
  log: Log,
  look: Look = async () => undefined,
): Promise<Diagnosis> {
  let config: Config;
  try {
    config = loadConfig(environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const checks = error.faults.map(fault => ill('configuration', fault, 'config/env.example lists all settings.'));
    return { ok: false, checks };
  }
  const checks = [well('configuration', 'all settings are valid'), ...(await examine(config, log, look))];
  return { ok: checks.every(check => check.ok), checks };
}

async function examine(config: Config, log: Log, look: Look): Promise<Check[]> {
  try {
    const database = await openDatabase(config, true, log);
    try {
      await look(config, database);
      const onDatabase = await examineDatabase(
        database.url,
        database.secretKeys,
        config.QUEUE_DURABILITY === 'relaxed',
      );
      const reached = onDatabase[0]?.ok;
      return [...onDatabase, ...(reached || config.REDIS_URL ? await examineQueue(config, database.url) : [])];
    } finally {
      await database.stop();
    }
  } catch (error) {
    return [ill('database', reasonOf(error), 'Set DATABASE_URL, or repair the embedded PostgreSQL under DATA_DIR.')];
  }
}

async function examineDatabase(url: string, secretKeys: SecretKeys, relaxed: boolean): Promise<Check[]> {
  try {
    const { rows } = await withClient(url, client =>
      client.query<{ setting: string }>("select setting from pg_settings where name = 'server_version_num'"),
    );
    if (Number(rows[0]?.setting) < OLDEST_POSTGRES)
      return [ill('database', `PostgreSQL ${rows[0]?.setting} is too old`, 'Use PostgreSQL 14 or newer.')];
  } catch (error) {
    return [
      ill('database', `cannot be reached: ${reasonOf(error)}`, 'Check DATABASE_URL and that PostgreSQL is running.'),
    ];
  }
  if (await isPooledByTransaction(url))
    return [
      ill(
        'pooler',
        'is in transaction mode: settings that Parley makes on a connection, above all its role, are lost or shared with other clients',
        'Switch the pooler to session mode, or point DATABASE_URL directly to PostgreSQL. Until then, no process becomes ready.',
      ),
    ];
  const schema = await examineSchema(url);
  const inside = schema[0]?.ok ? [...(await examineSecrets(url, secretKeys)), await examineLosses(url)] : [];
  return [
    well('database', 'reachable'),
    ...(await examineDurability(url, relaxed)),
    ...(await examineSettings(url)),
    ...schema,
    ...inside,
    ...(await examineRoles(url)),
  ];
}

/**
 * Checks that commits confirmed by the database are on disk. Required with either queue store, because every answer
 * ends there.
 */
async function examineDurability(url: string, relaxed: boolean): Promise<Check[]> {
  const { server } = await withClient(url, readDurability);
  if (server.length === 0) return [well('database durability', 'commits are written to disk')];
  const mend = relaxed
    ? 'QUEUE_DURABILITY=relaxed: stored answers may be lost, or the database damaged, on power failure.'
    : 'Set it to on and reload PostgreSQL. Until then, answers are rejected with 503 and workers store no answers.';
  return server.map(reason => ill('database durability', reason, mend));
}

/** Checks that performance-related settings are at least those of the bundled databases. */
async function examineSettings(url: string): Promise<Check[]> {
  const hints = await withClient(url, findSettingHints);
  if (hints.length === 0) return [well('database settings', 'at least as recommended')];
  return hints.map(hint => ({ name: 'database settings', ok: true, ...hint }));
}

/** Checks that the secret keys decrypt all stored values, and which of them are still, or not yet, needed. */
async function examineSecrets(url: string, secretKeys: SecretKeys): Promise<Check[]> {
  const { byKey, unreadable } = await tallySealed(url, createSeals(secretKeys));
  const [current = 0, ...others] = byKey;
  if (unreadable > 0)
    return [
      ill(
        'secret key',
        `does not decrypt ${unreadable} of ${unreadable + current + sum(others)} stored secrets, which were encrypted with a different key`,
        'Add the former SECRET_KEY to SECRET_KEY_OTHERS (with the embedded PostgreSQL it was in DATA_DIR/secret_key). If it is lost, rotate the API keys.',
      ),
    ];
  const own = current > 0 && sum(others) === 0 ? [well('secret key', 'decrypts all stored secrets')] : [];
  return [...own, ...others.map(examineOtherKey)];
}

const sum = (counts: number[]): number => counts.reduce((one, other) => one + other, 0);

const examineOtherKey = (count: number, index: number): Check =>
  count > 0
    ? ill(
        'former secret key',
        `${count} stored secrets still require key ${index + 1} of SECRET_KEY_OTHERS`,
        'Run `parley secrets rotate`. Keep the key until it has finished.',
      )
    : well(
        'former secret key',
        `no stored secret requires key ${index + 1} of SECRET_KEY_OTHERS: remove the key, unless it is about to become SECRET_KEY`,
      );

/** Checks whether the processes have found losses of accepted answers. */
async function examineLosses(url: string): Promise<Check> {
  const { rows } = await withClient(url, client =>
    client.query<{ flushes: string; answers: string }>(
      'select (select count(*) from lost_flushes) as flushes, (select count(*) from vanished_answers) as answers',
    ),
  );
  const { flushes, answers } = rows[0] ?? { flushes: '0', answers: '0' };
  if (flushes === '0' && answers === '0') return well('balance', 'all accepted answers are accounted for');
  return ill(
    'balance',
    `${flushes} flushes confirmed by the queue and ${answers} stored answers are missing`,
    'See "Lost answers" in docs/operating.md.',
  );
}

async function examineSchema(url: string): Promise<Check[]> {
  const state = await readSchemaState(url);
  if (isCompatible(state)) return [well('schema', `version ${state?.version}`)];
  const detail = state
    ? `version ${state.version} is not compatible with this build, which requires ${NEEDED_SCHEMA}`
    : 'does not exist';
  return [ill('schema', detail, 'Run `parley migrate` with this version.')];
}

async function examineRoles(url: string): Promise<Check[]> {
  const faults = await checkRoles(url);
  if (faults.length === 0) return [well('row-level security', 'applies to the roles that Parley uses')];
  return faults.map(fault => ill('row-level security', fault, fault.split(': ')[1] ?? 'Run `parley migrate`.'));
}

async function examineQueue(config: Config, databaseUrl: string): Promise<Check[]> {
  const where = config.REDIS_URL ? 'Valkey or Redis' : 'PostgreSQL';
  try {
    const durability = await inspectQueue({
      databaseUrl,
      redisUrl: config.REDIS_URL,
      relaxed: config.QUEUE_DURABILITY === 'relaxed',
    });
    const { reasons, writesSucceed } = durability;
    const checks = [well('queue', `reachable (${where})`)];
    if (durability.isCluster) checks.push(ill('queue', CLUSTERED, 'For failover use Sentinel: docs/scaling.md.'));
    checks.push(...(await examineReplicas(config, durability)));
    for (const reason of reasons)
      checks.push(
        ill(
          'queue durability',
          reason,
          config.QUEUE_DURABILITY === 'relaxed'
            ? 'QUEUE_DURABILITY=relaxed: up to a second of accepted answers may be lost on power failure.'
            : 'Answers are rejected with 503 until this is fixed. QUEUE_DURABILITY=relaxed accepts them without the durability guarantee.',
        ),
      );
    if (reasons.length === 0) checks.push(well('queue durability', 'acknowledged writes are on disk'));
    if (config.REDIS_URL) checks.push(...examineMemory(config, durability));
    if (!writesSucceed)
      checks.push(ill('queue disk', 'the last write to disk failed', 'Free disk space for the queue.'));
    return checks;
  } catch (error) {
    return [
      ill('queue', `${where} cannot be reached: ${reasonOf(error)}`, 'Check REDIS_URL and that the server is running.'),
    ];
  }
}

/** Checks that every replica that can become the primary must confirm writes. */
async function examineReplicas(config: Config, { replication, sentinelReplicas }: Inspection): Promise<Check[]> {
  if (!replication) return [];
  const wanted = config.QUEUE_REPLICAS;
  const { reasons, promotable } = await checkReplicas(replication, sentinelReplicas, wanted);
  if (wanted === 0 && sentinelReplicas && promotable > 0)
    return [
      ill(
        'queue replicas',
        `${promotable} replicas can become the primary, but QUEUE_REPLICAS is 0: a failover can lose acknowledged answers`,
        `Set QUEUE_REPLICAS=${promotable}.`,
      ),
    ];
  const mend = `Answers are rejected with 503 until the number of replicas matches. Set QUEUE_REPLICAS to the number of replicas, set replica-priority 0 on replicas that must not be promoted, or remove replicas that no longer exist from Sentinel (SENTINEL RESET).`;
  return reasons.map(reason => ill('queue replicas', reason, mend));
}

/** Checks whether the memory of a Valkey or Redis is limited, and how full it is. */
function examineMemory(config: Config, durability: Inspection): Check[] {
  const ratio = durability.usedBytes / memoryLimit(durability, config.QUEUE_MAX_MB * 1024 * 1024);
  return [
    ...(durability.maxBytes > 0
      ? []
      : [
          ill(
            'queue memory',
            'maxmemory is 0: the server may run out of memory and be killed before answers are rejected',
            `Set maxmemory below the memory of the machine or the container. Until then, answers are rejected when the server uses QUEUE_MAX_MB (${config.QUEUE_MAX_MB}).`,
          ),
        ]),
    ...(ratio < MAX_MEMORY_RATIO
      ? []
      : [ill('queue memory', `${Math.round(ratio * 100)} % full`, 'Raise maxmemory or drain the queue.')]),
  ];
}
