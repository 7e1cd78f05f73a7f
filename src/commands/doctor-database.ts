import type { Config } from '../platform/config.ts';
import type { Database } from '../platform/database.ts';
import type { Log } from '../platform/log.ts';
import { withClient } from '../platform/postgres-client.ts';
import { readDurability } from '../platform/postgres-durability.ts';
import { findFirmDefaults } from '../platform/postgres-session.ts';
import { findSettingHints } from '../platform/postgres-settings.ts';
import { createSeals, type SecretKeys } from '../platform/secrets.ts';
import { type DatabaseUrl, isPooled, rolePrefixOf } from '../platform/store-urls.ts';
import { actsAsApiOnly, checkRoles, findExcessRights, roleName } from '../storage/database/database-roles.ts';
import { findEarlierBuild, isCompatible, readSchemaState } from '../storage/database/migrate.ts';
import { openStorage, type Storage } from '../storage/database/orm.ts';
import { findPoolerFault } from '../storage/database/pooling.ts';
import { findRunningProcesses } from '../storage/database/processes.ts';
import { type SealedTally, tallySealed } from '../storage/database/sealed.ts';
import { NEEDED_SCHEMA } from '../storage/migrations/index.ts';
import { readDatabaseClock } from '../storage/tenants/retention.ts';
import { countLosses } from '../storage/upkeep/conservation.ts';
import { type Check, ill, reasonOf, well } from './doctor-check.ts';
import { examinePrivileges, mendDenied } from './doctor-privileges.ts';

const OLDEST_POSTGRES = 140_000;

/** Checks the database: version, durability, settings, schema, secrets, losses and rights. */
export async function examineDatabase({ url, secretKeys }: Database, config: Config, log: Log): Promise<Check[]> {
  try {
    const { rows } = await withClient(url, client =>
      client.query<{ setting: string }>("select setting from pg_settings where name = 'server_version_num'"),
    );
    if (Number(rows[0]?.setting) < OLDEST_POSTGRES)
      return [ill('database', `PostgreSQL ${rows[0]?.setting} is too old`, 'Use PostgreSQL 14 or newer.')];
  } catch (error) {
    return [
      ill(
        'database',
        `cannot be reached: ${reasonOf(error)}`,
        mendDenied(url, error) ?? 'Check DATABASE_URL and that PostgreSQL is running.',
      ),
    ];
  }
  const fault = await findPoolerFault(url);
  if (fault) {
    const { detail, remedy } = fault;
    return [
      ill('pooler', detail, `${remedy[0]?.toUpperCase()}${remedy.slice(1)}. Until then, no process becomes ready.`),
    ];
  }
  const state = await readSchemaState(url).catch(() => undefined); // without a right to read it, the next check fails
  const refusal = findEarlierBuild(state);
  if (refusal) return [ill('schema', `version ${state?.version}`, refusal)];
  const access = [...(await examineAccess(url, config)), ...(await examinePrivileges(url, config))];
  const schema = access.every(({ ok }) => ok) ? await examineSchema(url) : [];
  const canRead = schema[0]?.ok && access.every(({ ok }) => ok);
  const inside = canRead ? [...(await examineSecrets(url, secretKeys)), ...(await examineTables(url, log))] : [];
  return [
    well('database', 'reachable'),
    ...(await examineDurability(url, config.QUEUE_DURABILITY === 'relaxed')),
    ...(await examineSettings(url)),
    ...(await examineDefaults(url)),
    ...schema,
    ...inside,
    ...access,
  ];
}

/**
 * Checks that commits confirmed by the database are on disk. Required with either queue store, because every answer
 * ends there.
 */
async function examineDurability(url: DatabaseUrl, relaxed: boolean): Promise<Check[]> {
  const { server } = await withClient(url, readDurability);
  if (server.length === 0) return [well('database durability', 'commits are written to disk')];
  const mend = relaxed
    ? 'QUEUE_DURABILITY=relaxed: stored answers may be lost, or the database damaged, on power failure.'
    : 'Set it to on and reload PostgreSQL. Until then, answers are rejected with 503 and workers store no answers.';
  return server.map(reason => ill('database durability', reason, mend));
}

/** Checks that performance-related settings are at least those of the bundled databases. */
async function examineSettings(url: DatabaseUrl): Promise<Check[]> {
  const hints = await withClient(url, findSettingHints);
  if (hints.length === 0) return [well('database settings', 'at least as recommended')];
  return hints.map(hint => ({ name: 'database settings', ok: true, ...hint }));
}

/** Checks that no default of the database or its user changes how Parley behaves. */
async function examineDefaults(url: DatabaseUrl): Promise<Check[]> {
  const faults = await withClient(url, client => findFirmDefaults(client, isPooled(url)));
  if (faults.length === 0) return [well('database defaults', 'are replaced where they differ')];
  return faults.map(({ detail, remedy }) => ill('database defaults', detail, remedy));
}

/** Checks that the secret keys decrypt all stored values, and which of them are still, or not yet, needed. */
async function examineSecrets(url: DatabaseUrl, secretKeys: SecretKeys): Promise<Check[]> {
  const { byKey, unreadable, isComplete } = await tallySealed(url, createSeals(secretKeys));
  const [current = 0, ...others] = byKey;
  if (unreadable > 0)
    return [
      ill(
        'secret key',
        `does not decrypt ${unreadable} of ${unreadable + current + sum(others)} stored secrets, which were encrypted with a different key`,
        'Add the former SECRET_KEY to SECRET_KEY_OTHERS (with the embedded PostgreSQL it was in DATA_DIR/secret_key). If it is lost, rotate the API keys.',
      ),
    ];
  const own = current > 0 && sum(others) === 0 ? [examineOwnKey(current, isComplete)] : [];
  return [...own, ...others.map((count, index) => examineOtherKey(count, index, isComplete))];
}

const sum = (counts: number[]): number => counts.reduce((one, other) => one + other, 0);

/** Where to check every secret: only the owner of the tables can read them all. */
const AS_OWNER = 'run `parley doctor` as the user of `migrate` to check all of them';

const examineOwnKey = (count: number, isComplete: SealedTally['isComplete']): Check =>
  isComplete
    ? well('secret key', 'decrypts all stored secrets')
    : { ...well('secret key', `decrypts ${count} sampled secrets`), hint: AS_OWNER };

function examineOtherKey(count: number, index: number, isComplete: boolean): Check {
  if (count === 0 && !isComplete)
    return {
      ...well('former secret key', `no sampled secret requires key ${index + 1} of SECRET_KEY_OTHERS`),
      hint: AS_OWNER,
    };
  return count > 0
    ? ill(
        'former secret key',
        `${count} stored secrets still require key ${index + 1} of SECRET_KEY_OTHERS`,
        'Run `parley secrets rotate` as the user of `migrate`. Keep the key until it has finished.',
      )
    : well(
        'former secret key',
        `no stored secret requires key ${index + 1} of SECRET_KEY_OTHERS: remove the key, unless it is about to become SECRET_KEY`,
      );
}

/** Checks the losses that the processes have recorded, the processes and the clock. */
async function examineTables(url: DatabaseUrl, log: Log): Promise<Check[]> {
  const storage = openStorage({ url, role: 'parley_app', connections: 1, log });
  try {
    return [await examineLosses(storage), await examineProcesses(storage), await examineClock(storage, new Date())];
  } finally {
    await storage.close();
  }
}

/** Checks whether the processes have found losses of accepted answers. */
async function examineLosses(storage: Storage): Promise<Check> {
  const { flushes, answers } = await countLosses(storage);
  if (flushes === 0 && answers === 0) return well('balance', 'all accepted answers are accounted for');
  return ill(
    'balance',
    `${flushes} flushes confirmed by the queue and ${answers} stored answers are missing`,
    'See "Lost answers" in docs/operating.md.',
  );
}

/** The difference of clocks that is reported. Tokens are judged with a leeway of 60 s. */
const MAX_SKEW_MS = 30_000;

/** Checks that this machine's clock agrees with the database's. */
export async function examineClock(storage: Storage, now: Date): Promise<Check> {
  const skewMs = now.getTime() - (await readDatabaseClock(storage)).getTime();
  if (Math.abs(skewMs) <= MAX_SKEW_MS) return well('clock', "agrees with PostgreSQL's");
  return ill(
    'clock',
    `is ${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs > 0 ? 'ahead of' : 'behind'} PostgreSQL's`,
    'Synchronize the clocks of all machines (NTP). From 60 s on valid tokens are refused, and from 5 minutes on no expired data is deleted.',
  );
}

/**
 * Lists the running processes. If any runs, both roles must. Different versions are normal during an update, and a hint
 * afterwards.
 */
async function examineProcesses(storage: Storage): Promise<Check> {
  const running = await findRunningProcesses(storage);
  const described = running.map(({ role, version, schema, count }) => `${count} ${role} ${version} (schema ${schema})`);
  const detail = described.join(', ') || 'none is running';
  const lacks = (role: string) => running.length > 0 && !running.some(one => one.role === role || one.role === 'start');
  if (lacks('work'))
    return ill(
      'processes',
      `${detail}; no worker`,
      'Start `parley work`. Until then answers wait in the queue, and events and mails are not sent.',
    );
  if (lacks('serve')) return ill('processes', `${detail}; no API`, 'Start `parley serve`.');
  const check = well('processes', detail);
  if (new Set(running.map(({ version, schema }) => `${version} ${schema}`)).size < 2) return check;
  return { ...check, hint: 'Different versions are running. If the update is over, restart the older processes.' };
}

async function examineSchema(url: DatabaseUrl): Promise<Check[]> {
  const state = await readSchemaState(url);
  if (isCompatible(state)) return [well('schema', `version ${state?.version}`)];
  const detail = state
    ? `version ${state.version} is not compatible with this build, which requires ${NEEDED_SCHEMA}`
    : 'does not exist';
  return [ill('schema', detail, 'Run `parley migrate` with this version.')];
}

/** Checks that row-level security applies to the roles, and whether the user itself needs fewer rights. */
async function examineAccess(url: DatabaseUrl, { REDIS_URL }: Config): Promise<Check[]> {
  // With the queue in PostgreSQL, the API needs the role of the worker too.
  const isOfApi = REDIS_URL !== undefined && (await actsAsApiOnly(url));
  const faults = await checkRoles(url, isOfApi ? [roleName('parley_app', rolePrefixOf(url))] : undefined);
  if (faults.length > 0) return faults.map(({ detail, remedy }) => ill('row-level security', detail, remedy));
  const fine = well('row-level security', 'applies to the roles that Parley uses');
  if (isOfApi) return [{ ...fine, hint: 'The database user may act only as the API: a worker needs another one' }];
  const excess = await findExcessRights(url);
  if (!excess) return [fine];
  return [{ ...fine, hint: `The database user ${excess}: a user for API and worker needs only the two roles` }];
}
