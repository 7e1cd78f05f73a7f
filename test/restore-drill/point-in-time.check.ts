import { randomBytes } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { withClient } from '../../src/platform/postgres-client.ts';
import { docker } from '../containers/docker.ts';
import { openPostgres, openValkey, type Store } from '../faults/stores.ts';
import { type CommandLine, reach } from '../support/deployed.ts';
import { type Sender, sendAnswers } from '../support/load.ts';
import { runCommand, startProcess } from '../support/process.ts';
import { waitFor } from '../support/wait.ts';

/** Folders in the container of PostgreSQL. */
const HOME = '/var/lib/postgresql';
const DATA = `${HOME}/18/docker`;
const ARCHIVE = `${HOME}/archive`;
/** The documented settings for archiving (docs/backup.md). */
const ARCHIVING = {
  archive_mode: 'on',
  archive_command: `test ! -f ${ARCHIVE}/%f && cp %p ${ARCHIVE}/%f`,
  archive_timeout: '10s',
};
const SECRET_KEY = randomBytes(32).toString('base64');
/** The figures of a run; RESULT names a file for them. */
const measured: Record<string, number> = {};

const commandLine =
  (environment: Record<string, string>): CommandLine =>
  async args => {
    const { code, stdout, stderr } = await runCommand(args, environment);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  };

/** A base backup in the container, at HOME/base. */
async function makeBase(postgres: Store): Promise<void> {
  await postgres.exec('install', '-d', '-o', 'postgres', ARCHIVE);
  await postgres.exec('pg_basebackup', '--username=postgres', `--pgdata=${HOME}/base`, '--checkpoint=fast');
}

/** Copies the data folder of a Valkey as of now. */
async function copyQueue(valkey: Store, folder: string): Promise<void> {
  await valkey.exec('valkey-cli', '--rdb', '/tmp/queue.rdb');
  const files = join(folder, 'appendonlydir');
  mkdirSync(files, { recursive: true });
  await docker(['cp', `${valkey.container()}:/tmp/queue.rdb`, join(files, 'appendonly.aof.1.base.rdb')]);
  writeFileSync(join(files, 'appendonly.aof.manifest'), 'file appendonly.aof.1.base.rdb seq 1 type b\n');
}

/** Restores next to production: the database as of `moment`, the queue from `queue`. Resolves when both serve. */
async function restoreTo(moment: string, archive: string, queue: string) {
  const begun = Date.now();
  const folder = mkdtempSync(join(tmpdir(), 'parley-moment-'));
  cpSync(join(archive, 'base'), join(folder, '18/docker'), { recursive: true });
  cpSync(join(archive, 'archive'), join(folder, 'archive'), { recursive: true });
  for (const segment of readdirSync(join(folder, 'archive'))) chmodSync(join(folder, 'archive', segment), 0o644);
  writeFileSync(join(folder, '18/docker/recovery.signal'), '');
  await using stack = new AsyncDisposableStack();
  const target = { recovery_target_time: moment, recovery_target_action: 'promote' };
  const settings = { restore_command: `cp ${ARCHIVE}/%f %p`, ...target };
  const postgres = stack.use(await openPostgres({ copyOf: folder, settings }));
  const valkey = stack.use(await openValkey({ copyOf: queue, settings: { maxmemory: '512mb' } }));
  await waitFor(() => withClient(postgres.url, async c => !(await isRecovering(c))), 60_000);
  const environment = { DATABASE_URL: postgres.url, REDIS_URL: valkey.url, SECRET_KEY, INGESTION_CHECK_S: '1' };
  const api = stack.use(await startProcess('serve', environment));
  const worker = stack.use(await startProcess('work', environment));
  await Promise.all([api.awaitProbe('/readyz', 200, 120_000), worker.awaitProbe('/readyz', 200, 120_000)]);
  rmSync(folder, { recursive: true });
  const kept = stack.move();
  const took = Date.now() - begun;
  return {
    ...reach(api.baseUrl, commandLine(environment)),
    postgres,
    took,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

const isRecovering = async (client: { query(sql: string): Promise<{ rows: { recovering: boolean }[] }> }) =>
  (await client.query('select pg_is_in_recovery() as recovering')).rows[0]?.recovering === true;

const nowIn = (url: string): Promise<string> =>
  withClient(url, async client => {
    const { rows } = await client.query<{ now: string }>('select clock_timestamp()::text as now');
    return rows[0]?.now as string;
  });

const queuedIn = async (site: ReturnType<typeof reach>, apiKey: string): Promise<number> =>
  (await site.request('GET', '/v1/ingestion', apiKey)).body.queued;

const acknowledgedAfter = (sender: Sender, more: number) => {
  const before = sender.ledger.acknowledged.size;
  return waitFor(() => sender.ledger.acknowledged.size >= before + more, 60_000);
};

async function openProduction() {
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await openPostgres({ settings: ARCHIVING }));
  const valkey = stack.use(await openValkey({ settings: { maxmemory: '512mb' } }));
  const environment = { DATABASE_URL: postgres.url, REDIS_URL: valkey.url, SECRET_KEY, INGESTION_CHECK_S: '1' };
  expect(await runCommand(['migrate'], environment)).toMatchObject({ code: 0 });
  const api = stack.use(await startProcess('serve', environment));
  const worker = stack.use(await startProcess('work', environment));
  await Promise.all([api.awaitProbe('/readyz', 200, 120_000), worker.awaitProbe('/readyz', 200, 120_000)]);
  const site = reach(api.baseUrl, commandLine(environment));
  const kept = stack.move();
  return { ...site, postgres, valkey, worker, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

test('a restore to a moment has everything that was acknowledged before the older queue backup, and names the rest', async () => {
  await using production = await openProduction();
  const { postgres, valkey, worker } = production;
  const tenant = await production.makeTenant();
  const archive = mkdtempSync(join(tmpdir(), 'parley-archive-'));
  const [older, newer] = [join(archive, 'older'), join(archive, 'newer')];
  await makeBase(postgres);
  const sender = sendAnswers([production.baseUrl], tenant.key.api_key, tenant.questionId, 2);
  await acknowledgedAfter(sender, 100);

  // The queue's backup, while answers wait in it. They are stored before the moment.
  worker.kill('SIGSTOP');
  await acknowledgedAfter(sender, 100);
  const beforeQueue = new Set(sender.ledger.acknowledged);
  await copyQueue(valkey, older);
  worker.kill('SIGCONT');
  await waitFor(async () => (await queuedIn(production, tenant.key.api_key)) < 20, 60_000);

  // The moment: some acknowledged answers are still queued, and leave the queue before its second backup.
  worker.kill('SIGSTOP');
  await acknowledgedAfter(sender, 100);
  await sleep(2500); // for the audit to claim the acknowledged flushes
  const beforeMoment = new Set(sender.ledger.acknowledged);
  const moment = await nowIn(postgres.url);
  worker.kill('SIGCONT');
  await acknowledgedAfter(sender, 100);
  await sender.stop();
  await production.atRest(tenant.key.api_key);
  await copyQueue(valkey, newer);
  await withClient(postgres.url, client => client.query('select pg_switch_wal()'));
  await sleep(3000);
  for (const name of ['base', 'archive']) await docker(['cp', `${postgres.container()}:${HOME}/${name}`, archive]);

  {
    await using restored = await restoreTo(moment, archive, older);
    await restored.atRest(tenant.key.api_key);
    const stored = new Set(await restored.storedAnswers(tenant.key.api_key));
    expect(beforeQueue.difference(stored)).toEqual(new Set());
    expect(stored.difference(sender.ledger.acknowledged.union(sender.ledger.ambiguous))).toEqual(new Set());
    const missing = beforeMoment.difference(stored);
    await waitFor(async () => (await restored.parley(['losses', 'list'])).flushes.length > 0, 60_000);
    measured['acknowledged before the queue backup'] = beforeQueue.size;
    measured['of these missing'] = beforeQueue.difference(stored).size;
    measured['acknowledged later, queued at the moment, missing and named'] = missing.size;
    measured['ready after, ms'] = restored.took;
  }
  {
    // The opposite order loses answers of before the backup: they left the queue after the moment.
    await using restored = await restoreTo(moment, archive, newer);
    await restored.atRest(tenant.key.api_key);
    const lost = beforeMoment.difference(new Set(await restored.storedAnswers(tenant.key.api_key)));
    expect(lost.size).toBeGreaterThanOrEqual(100);
    measured['missing with a queue newer than the database'] = lost.size;
  }
  rmSync(archive, { recursive: true });
}, 600_000);

test('if only the database is lost, the archive and the remaining queue lose at most the last segment, and name it', async () => {
  await using production = await openProduction();
  const { postgres } = production;
  const tenant = await production.makeTenant();
  await makeBase(postgres);
  const sender = sendAnswers([production.baseUrl], tenant.key.api_key, tenant.questionId, 2);
  await acknowledgedAfter(sender, 300);
  await sleep(12_000); // longer than archive_timeout
  const archived = new Set(sender.ledger.acknowledged);
  await sleep(12_000);
  const begun = Date.now();
  await postgres.kill('SIGKILL');
  await sender.stop();
  const { acknowledged } = sender.ledger;
  const script = `set -e; rm -rf ${DATA}; mv ${HOME}/base ${DATA}; touch ${DATA}/recovery.signal
    echo "restore_command = 'cp ${ARCHIVE}/%f %p'" >> ${DATA}/postgresql.auto.conf; chown -R 999:999 ${DATA}`;
  await docker([
    'run',
    '--rm',
    '--volumes-from',
    postgres.container(),
    '--entrypoint',
    'sh',
    'postgres:18',
    '-c',
    script,
  ]);
  await postgres.start();
  await waitFor(() => withClient(postgres.url, async client => !(await isRecovering(client))), 60_000);
  await production.atRest(tenant.key.api_key);
  measured['only the database lost: stored again after, ms'] = Date.now() - begun;
  const missing = acknowledged.difference(new Set(await production.storedAnswers(tenant.key.api_key)));
  measured['only the database lost: acknowledged'] = acknowledged.size;
  measured['only the database lost: missing (archive_timeout 10 s)'] = missing.size;
  expect(archived.intersection(missing)).toEqual(new Set());
  if (missing.size > 0)
    await waitFor(async () => (await production.parley(['losses', 'list'])).flushes.length > 0, 60_000);
  const listed = await production.parley(['losses', 'list']);
  measured['only the database lost: flushes named'] = listed.flushes.length;
  expect((await production.parley(['losses', 'acknowledge'])).acknowledged.flushes).toHaveLength(listed.flushes.length);
  const report = JSON.stringify({ date: new Date().toISOString().slice(0, 10), ...measured }, null, 2);
  if (process.env.RESULT) writeFileSync(process.env.RESULT, `${report}\n`);
  process.stderr.write(`${report}\n`);
}, 600_000);
