import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { newUuid, toTypeId } from '../../src/domain/ids.ts';
import { createLog } from '../../src/platform/log.ts';
import { hashPassword } from '../../src/platform/passwords.ts';
import { withClient } from '../../src/platform/postgres-client.ts';
import { openStorage } from '../../src/storage/database/orm.ts';
import { addMember } from '../../src/storage/team/members.ts';
import { runProgram } from '../children.ts';
import { describeMachine } from '../cpu.ts';
import { writeResult } from '../report.ts';
import { createDatabase, openStores, type Stores } from '../stores.ts';
import { makeTenants, type Tenant } from '../world.ts';
import type { SoakMemory } from './agent.ts';
import { drawLines, type Line } from './plot.ts';
import { type SoakProcess, startSoakProcess } from './process.ts';
import { createTraffic, type Traffic } from './traffic.ts';

const USAGE = `npm run soak -- [options]

  --days N         simulated days; 7 by default, about ten minutes
  --folder F       the folder of another version of Parley
  --before FILE    a result of another version, drawn next to this one
`;

const TENANTS = 200;
const QUESTIONS_A_TENANT = 50;
const TICK_MINUTES = 60;
const TICKS_A_DAY = (24 * 60) / TICK_MINUTES;
/** Every three hours. */
const TICKS_A_SAMPLE = 3;
const NEW_USERS_A_MINUTE = 1;
const HEAP_MB = 400;
const NOTICE_END_MS = 2000;
const MB = 1024 * 1024;
/** The limit for memory on the last day relative to the second. The first day is the warm-up. */
const MAX_GROWTH = 1.15;
/** The largest allowed share of requests rejected with a 503. */
const MAX_REFUSED = 0.01;
const PASSWORD = 'correct horse battery';
const ROOT = resolve(import.meta.dirname, '../..');

interface Sample {
  day: number;
  api: SoakMemory;
  worker: SoakMemory;
  /** Bytes of each cache, as reported by the API. */
  caches: Record<string, number>;
}

const startedAt = new Date();
const log = (line: string) =>
  process.stderr.write(`${String(Math.round((Date.now() - startedAt.getTime()) / 1000)).padStart(5)} s  ${line}\n`);

/** Live questions subject to the cooldown, except every tenth. */
const ADD_QUESTIONS = `
with added as (
  insert into questions
  select tenant, gen_random_uuid(), 'Question ' || n, 'live', 1, 'nps', 'How likely are you to recommend part ' || n || ' of us?',
    repeat('A line below the title. ', 4), '{"labels": {"low": "Not at all likely", "high": "Extremely likely"}}',
    jsonb_build_object('repeat', 'until_answered', 'snooze_after_dismiss_days', 30, 'ignore_cooldown', n % 10 = 0),
    true, n, now(), now(), now(), null
  from unnest($1::uuid[]) as tenant, generate_series(1, ${QUESTIONS_A_TENANT}) as n returning *
), versions as (
  insert into question_versions select tenant_id, id, version, type, title, description, config, created_at from added
)
select tenant_id, array_agg(id) as ids from added group by tenant_id`;

async function addQuestions(databaseUrl: string, tenants: Tenant[]): Promise<Map<string, string[]>> {
  return withClient(databaseUrl, async client => {
    const { rows } = await client.query(ADD_QUESTIONS, [tenants.map(({ uuid }) => uuid)]);
    return new Map(rows.map(row => [row.tenant_id, row.ids.map((id: string) => toTypeId('question', id))]));
  });
}

async function addPerson(databaseUrl: string, tenant: Tenant): Promise<string> {
  const storage = openStorage({ url: databaseUrl, role: 'parley_app', connections: 2, log: createLog('warn', 'soak') });
  const email = 'agent@example.com';
  const account = {
    id: newUuid(),
    email,
    name: 'An agent',
    password_hash: await hashPassword(PASSWORD),
    exists: false,
  };
  await addMember(storage, tenant.uuid, account, 'admin', new Date());
  await storage.close();
  return email;
}

async function awaitReady(child: SoakProcess, probe: string): Promise<void> {
  for (;;) {
    if (!child.isRunning()) throw new Error(`a process ended:\n${child.output()}`);
    const response = await fetch(probe).catch(() => undefined); // not listening yet
    await response?.arrayBuffer();
    if (response?.status === 200) return;
    await sleep(50);
  }
}

/** Values of a series by its label `cache`. */
async function readCaches(api: SoakProcess, series: string): Promise<Record<string, number>> {
  const metrics = await (await fetch(`${api.metricsUrl}/metrics`)).text();
  const found = metrics.matchAll(new RegExp(`^${series}\\{cache="(\\w+)"\\} (\\S+)`, 'gm'));
  return Object.fromEntries([...found].map(([, name, value]) => [name, Number(value)]));
}

const meanOf = (samples: Sample[], first: number, last: number, read: (sample: Sample) => number): number => {
  const within = samples.filter(({ day }) => day > first && day <= last).map(read);
  return within.reduce((sum, value) => sum + value, 0) / within.length;
};

/** Error replies, one line per kind. Clients retry a 503, which a busy machine causes, so a small share of those is allowed. */
function findFailures(replies: Record<string, number>): string[] {
  const all = Object.values(replies).reduce((sum, count) => sum + count, 0);
  return Object.entries(replies)
    .filter(([reply, count]) => / [45]\d\d$/.test(reply) && !(reply.endsWith(' 503') && count <= MAX_REFUSED * all))
    .map(([reply, count]) => `${count} of ${all} replies: ${reply}`);
}

/** Violated expectations, one line each. */
function findFaults(samples: Sample[], days: number, limits: Record<string, number>, replies: Record<string, number>) {
  const faults: string[] = [];
  for (const role of ['api', 'worker'] as const)
    for (const kind of ['heap', 'rss'] as const) {
      const read = (sample: Sample) => sample[role][kind];
      const growth = meanOf(samples, days - 1, days, read) / meanOf(samples, 1, 2, read);
      if (days >= 3 && !(growth <= MAX_GROWTH))
        faults.push(`${role}: ${kind} of the last day is ${growth.toFixed(2)} × that of the second`);
    }
  for (const { day, caches } of samples)
    for (const [name, bytes] of Object.entries(caches))
      if (bytes > (limits[name] ?? 0))
        faults.push(`day ${day}: the cache ${name} has ${bytes} of ${limits[name]} bytes`);
  return [...faults, ...findFailures(replies)];
}

function draw(samples: Sample[], before: Sample[] | undefined): string {
  const line = (name: string, color: string, from: Sample[], read: (sample: Sample) => number): Line => ({
    name,
    color,
    points: from.map(sample => ({ x: sample.day, y: read(sample) / MB })),
  });
  return drawLines(`Memory over a simulated week: ${TENANTS} tenants, ${QUESTIONS_A_TENANT} questions each`, [
    line('API, resident', '#93c5fd', samples, ({ api }) => api.rss),
    line('API, heap', '#2563eb', samples, ({ api }) => api.heap),
    line('worker, resident', '#fdba74', samples, ({ worker }) => worker.rss),
    line('worker, heap', '#ea580c', samples, ({ worker }) => worker.heap),
    ...(before ? [line('API before, heap', '#dc2626', before, ({ api }) => api.heap)] : []),
  ]);
}

interface SoakSettings {
  days: number;
  folder: string;
  before: string | undefined;
}

function readSettings(): SoakSettings | undefined {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ options: { days: text, folder: text, before: text, help: { type: 'boolean' } } });
  if (values.help) {
    process.stdout.write(USAGE);
    return undefined;
  }
  return { days: Number(values.days ?? 7), folder: resolve(values.folder ?? ROOT), before: values.before };
}

interface Processes {
  api: SoakProcess;
  worker: SoakProcess;
}

async function takeSample({ api, worker }: Processes, day: number): Promise<Sample> {
  const [ofApi, ofWorker] = [await api.readMemory(), await worker.readMemory()];
  const sample = { day, api: ofApi, worker: ofWorker, caches: await readCaches(api, 'parley_cache_bytes') };
  if (Number.isInteger(day))
    log(`day ${day}: API ${Math.round(ofApi.heap / MB)} MB, worker ${Math.round(ofWorker.heap / MB)} MB of heap`);
  return sample;
}

/** Simulates the days. Returns which process ended early, if any. */
async function simulate(days: number, processes: Processes, traffic: Traffic) {
  const { api, worker } = processes;
  const samples: Sample[] = [];
  let limits: Record<string, number> = {};
  let ended: string | undefined;
  const leapMs = TICK_MINUTES * 60_000;
  try {
    for (let tick = 0; tick < days * TICKS_A_DAY; tick++) {
      await traffic.tick(tick, new Date(Date.now() + tick * leapMs));
      if ((tick + 1) % TICKS_A_SAMPLE === 0) samples.push(await takeSample(processes, (tick + 1) / TICKS_A_DAY));
      limits = await readCaches(api, 'parley_cache_limit_bytes');
      await Promise.all([api.leap(leapMs), worker.leap(leapMs)]);
    }
  } catch (error) {
    await sleep(NOTICE_END_MS); // a connection breaks before the exit of its process is noticed
    if (api.isRunning() && worker.isRunning()) throw error;
    ended = `${api.isRunning() ? 'the worker' : 'the API'} ended after ${samples.at(-1)?.day ?? 0} simulated days`;
  }
  return { samples, limits, ended };
}

/** Simulates a week. Returns whether it met all expectations. */
async function run({ days, folder, before: beforeFile }: SoakSettings, stores: Stores): Promise<boolean> {
  const databaseUrl = await createDatabase(stores, 'soak');
  const secretKey = randomBytes(32).toString('base64');
  const environment = {
    DATABASE_URL: databaseUrl,
    SECRET_KEY: secretKey,
    LOG_LEVEL: 'warn',
    ...(stores.valkeyUrl ? { REDIS_URL: stores.valkeyUrl } : {}),
    RATE_LOGIN: '100', // the logins of a week are within minutes of the store's clock
  };
  await runProgram([resolve(folder, 'src/main.ts'), 'migrate'], environment);
  const tenants = await makeTenants(databaseUrl, secretKey, TENANTS);
  const questions = await addQuestions(databaseUrl, tenants);
  const email = await addPerson(databaseUrl, tenants[0] as Tenant);
  await using api = await startSoakProcess(folder, 'serve', HEAP_MB, environment);
  await using worker = await startSoakProcess(folder, 'work', HEAP_MB, environment);
  await Promise.all([awaitReady(api, `${api.url}/readyz`), awaitReady(worker, `${worker.metricsUrl}/readyz`)]);
  log(`${TENANTS} tenants with ${QUESTIONS_A_TENANT} questions each, API and worker are ready`);

  const traffic = createTraffic({
    url: () => api.url,
    tenants,
    questions,
    login: { email, password: PASSWORD },
    newUsersATick: NEW_USERS_A_MINUTE * TICK_MINUTES,
    ticksADay: TICKS_A_DAY,
  });
  const { samples, limits, ended } = await simulate(days, { api, worker }, traffic);
  const faults = ended ? [ended] : findFaults(samples, days, limits, traffic.replies);
  const before = beforeFile ? (JSON.parse(readFileSync(beforeFile, 'utf8')).samples as Sample[]) : undefined;
  const about = { started_at: startedAt, machine: describeMachine(), stores: stores.description };
  const settings = {
    days,
    tenants: TENANTS,
    questions: QUESTIONS_A_TENANT,
    tick_minutes: TICK_MINUTES,
    heap_mb: HEAP_MB,
  };
  const result = { ...about, settings, faults, replies: traffic.replies, cache_limits: limits, samples };
  process.stdout.write(`${writeResult(startedAt, 'soak.json', `${JSON.stringify(result, null, 1)}\n`)}\n`);
  process.stdout.write(`${writeResult(startedAt, 'soak.svg', draw(samples, before))}\n`);
  for (const fault of faults) log(fault);
  log(faults.length === 0 ? 'memory is flat, and each cache within its limit' : 'failed');
  return faults.length === 0;
}

/** Rejects on a signal, so that the stores are stopped as after any failure: containers outlive this process. */
const interrupted = new Promise<never>((_, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => reject(new Error(`stopped by ${signal}`)));
});

async function main(settings: SoakSettings): Promise<void> {
  await using stores = await openStores();
  process.exitCode = (await Promise.race([run(settings, stores), interrupted])) ? 0 : 1;
}

const settings = readSettings();
if (settings) await main(settings);
