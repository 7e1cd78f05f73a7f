import { type Config, ConfigError, loadConfig } from '../platform/config.ts';
import { openDatabase } from '../platform/database.ts';
import type { Log } from '../platform/log.ts';
import { withClient } from '../platform/postgres-client.ts';
import { createKeychain } from '../platform/secrets.ts';
import { CLUSTERED, inspectQueue, MAX_MEMORY_RATIO } from '../queue/durability.ts';
import { checkRoles, isCompatible, readSchemaState } from '../storage/migrate.ts';
import { NEEDED_SCHEMA } from '../storage/migrations/index.ts';
import { isPooledByTransaction } from '../storage/pooling.ts';

/** One thing that was looked at: whether it is well, and how to mend it if not. */
interface Check {
  name: string;
  ok: boolean;
  detail: string;
  mend?: string;
}

export interface Diagnosis {
  ok: boolean;
  checks: Check[];
}

const OLDEST_POSTGRES = 140_000;

const well = (name: string, detail: string): Check => ({ name, ok: true, detail });
const ill = (name: string, detail: string, mend: string): Check => ({ name, ok: false, detail, mend });
const reasonOf = (error: unknown): string => (error as Error).message || String(error);

/** Looks at the configuration, the database and the queue, and says of each what is wrong and how to mend it. */
export async function diagnose(environment: NodeJS.ProcessEnv, log: Log): Promise<Diagnosis> {
  let config: Config;
  try {
    config = loadConfig(environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const checks = error.faults.map(fault => ill('configuration', fault, 'See config/env.example for every setting.'));
    return { ok: false, checks };
  }
  const checks = [well('configuration', 'every setting is valid'), ...(await examine(config, log))];
  return { ok: checks.every(check => check.ok), checks };
}

async function examine(config: Config, log: Log): Promise<Check[]> {
  try {
    const database = await openDatabase(config, true, log);
    try {
      const onDatabase = await examineDatabase(database.url, database.secretKey);
      const reached = onDatabase[0]?.ok;
      return [...onDatabase, ...(reached || config.REDIS_URL ? await examineQueue(config, database.url) : [])];
    } finally {
      await database.stop();
    }
  } catch (error) {
    return [ill('database', reasonOf(error), 'Set DATABASE_URL, or mend the embedded PostgreSQL under DATA_DIR.')];
  }
}

async function examineDatabase(url: string, secretKey: string): Promise<Check[]> {
  try {
    const { rows } = await withClient(url, client =>
      client.query<{ setting: string }>("select setting from pg_settings where name = 'server_version_num'"),
    );
    if (Number(rows[0]?.setting) < OLDEST_POSTGRES)
      return [ill('database', `PostgreSQL ${rows[0]?.setting} is too old`, 'Use PostgreSQL 14 or newer.')];
  } catch (error) {
    return [ill('database', `can not be reached: ${reasonOf(error)}`, 'Check DATABASE_URL and that PostgreSQL runs.')];
  }
  if (await isPooledByTransaction(url))
    return [
      ill(
        'pooler',
        "hands out connections for a transaction at a time: what Parley sets on one, its role above all, is lost or a stranger's",
        'Put the pooler into session mode, or let DATABASE_URL name PostgreSQL itself. No role becomes ready until then.',
      ),
    ];
  const schema = await examineSchema(url);
  const inside = schema[0]?.ok ? [...(await examineSecrets(url, secretKey)), await examineLosses(url)] : [];
  return [well('database', 'is reached'), ...schema, ...inside, ...(await examineRoles(url))];
}

/** Whether `SECRET_KEY` is the one that the stored secrets were encrypted with, tried on the newest key. */
async function examineSecrets(url: string, secretKey: string): Promise<Check[]> {
  const { rows } = await withClient(url, client =>
    client.query<{ id: string; secret_sealed: Buffer }>(
      'select id, secret_sealed from api_keys order by created_at desc limit 1',
    ),
  );
  const [key] = rows;
  if (!key) return [];
  try {
    createKeychain(secretKey).unseal(key.secret_sealed, key.id);
    return [well('secret key', 'decrypts the stored secrets')];
  } catch {
    return [
      ill(
        'secret key',
        'does not decrypt the stored secrets: it is another one than they were made with',
        'Bring the former SECRET_KEY back (with the embedded PostgreSQL: DATA_DIR/secret_key), or rotate every API key.',
      ),
    ];
  }
}

/** Whether the processes have found that accepted answers were lost. */
async function examineLosses(url: string): Promise<Check> {
  const { rows } = await withClient(url, client =>
    client.query<{ flushes: string; answers: string }>(
      'select (select count(*) from lost_flushes) as flushes, (select count(*) from vanished_answers) as answers',
    ),
  );
  const { flushes, answers } = rows[0] ?? { flushes: '0', answers: '0' };
  if (flushes === '0' && answers === '0') return well('balance', 'nothing accepted is missing');
  return ill(
    'balance',
    `${flushes} flushes that the queue had confirmed and ${answers} answers that were stored are missing`,
    'See "Lost answers" in docs/operating.md.',
  );
}

async function examineSchema(url: string): Promise<Check[]> {
  const state = await readSchemaState(url);
  if (isCompatible(state)) return [well('schema', `version ${state?.version}`)];
  const detail = state
    ? `version ${state.version} does not fit this build, which needs ${NEEDED_SCHEMA}`
    : 'is not there';
  return [ill('schema', detail, 'Run `parley migrate` of this version.')];
}

async function examineRoles(url: string): Promise<Check[]> {
  const faults = await checkRoles(url);
  if (faults.length === 0) return [well('row-level security', 'binds the roles that Parley acts as')];
  return faults.map(fault => ill('row-level security', fault, fault.split(': ')[1] ?? 'Run `parley migrate`.'));
}

async function examineQueue(config: Config, databaseUrl: string): Promise<Check[]> {
  const where = config.REDIS_URL ? 'Valkey or Redis' : 'PostgreSQL';
  try {
    const durability = await inspectQueue(databaseUrl, config.REDIS_URL);
    const { reasons, memoryRatio, writesSucceed, replicas } = durability;
    const checks = [well('queue', `is reached (${where})`)];
    if (durability.isCluster)
      checks.push(ill('queue', CLUSTERED, 'Sentinel moves a queue to a replica: docs/scaling.md.'));
    if (config.REDIS_URL && replicas < config.QUEUE_REPLICAS)
      checks.push(
        ill(
          'queue replicas',
          `${replicas} follow it, and QUEUE_REPLICAS asks for ${config.QUEUE_REPLICAS}`,
          'Answers are refused with 503 until they are back.',
        ),
      );
    for (const reason of reasons)
      checks.push(
        ill(
          'queue durability',
          reason,
          config.QUEUE_DURABILITY === 'relaxed'
            ? 'QUEUE_DURABILITY=relaxed: up to a second of accepted answers may be lost on power failure.'
            : 'Answers are refused with 503 until it is mended, or QUEUE_DURABILITY=relaxed gives the promise up.',
        ),
      );
    if (reasons.length === 0) checks.push(well('queue durability', 'what is acknowledged is on disk'));
    if (memoryRatio >= MAX_MEMORY_RATIO)
      checks.push(
        ill('queue memory', `${Math.round(memoryRatio * 100)} % full`, 'Raise maxmemory, or drain the queue.'),
      );
    if (!writesSucceed)
      checks.push(ill('queue disk', 'the last write to disk failed', 'Free space on the disk of the queue.'));
    return checks;
  } catch (error) {
    return [
      ill('queue', `${where} can not be reached: ${reasonOf(error)}`, 'Check REDIS_URL and that its server runs.'),
    ];
  }
}
