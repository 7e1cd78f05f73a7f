import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { v7 } from 'uuid';
import { parseTypeId } from '../src/domain/ids.ts';
import { withClient } from '../src/platform/postgres-client.ts';
import { type Program, startProgram } from './children.ts';
import { quantile } from './numbers.ts';
import type { User } from './world.ts';

/**
 * Upgrades an installation of the previous version under load: migrations that are killed five times, then this
 * version's processes, whose worker is killed twice. Prints durations and the number of missing acknowledged answers.
 *
 * Usage: DATABASE_URL=… REDIS_URL=… SECRET_KEY=… node bench/migration.ts <folder of the previous version>
 * The database has the previous version's schema and as many answers as the upgrade is to be measured with.
 */
const [folder = ''] = process.argv.slice(2);
const previous = resolve(folder);
const { DATABASE_URL: databaseUrl = '', SECRET_KEY: secretKey = '', REDIS_URL: redisUrl = '' } = process.env;
const environment = {
  DATABASE_URL: databaseUrl,
  SECRET_KEY: secretKey,
  REDIS_URL: redisUrl,
  RATE_LIMITS: 'off',
  LOG_LEVEL: 'error',
};

const BASELINE_MS = 45_000;
const BETWEEN_ANSWERS_MS = 50;
const BETWEEN_LISTS_MS = 250;
const KILL_AFTER_MS = [2000, 4000, 6000, 8000, 10_000];
const WORKER_KILLS = 2;
const WITHIN_MS = 30 * 60_000;

/**
 * Sends answers and lists. `take` returns the response times since its last call; `acknowledged` has all accepted ids.
 */
function openLoad(users: User[], sign: (user: User) => string) {
  let url = '';
  let isOver = false;
  let times = { answers: [] as number[], lists: [] as number[], failed: 0 };
  const acknowledged: string[] = [];
  const timed = async (kind: 'answers' | 'lists', path: string, init: RequestInit): Promise<boolean> => {
    const startedAt = performance.now();
    const response = await fetch(url + path, init).catch(() => undefined);
    await response?.arrayBuffer();
    times[kind].push(performance.now() - startedAt);
    if (!response?.ok) times.failed++;
    return response?.ok ?? false;
  };
  const every = async (ms: number, send: (user: User) => Promise<void>) => {
    const sent: Promise<void>[] = [];
    for (let turn = 0; !isOver; turn++) {
      sent.push(send(users[turn % users.length] as User));
      await sleep(ms);
    }
    await Promise.all(sent);
  };
  const answer = async (user: User) => {
    const [id, card] = [v7(), user.cards[0] as User['cards'][number]];
    const item = { id, revision: 1, card_id: card.id, question_id: card.question_id };
    const body = { ...item, question_version: card.question_version, state: 'completed', values: { main: 4 } };
    const headers = { authorization: `Bearer ${sign(user)}`, 'content-type': 'application/json' };
    const answers = [{ ...body, comment: 'Quick and friendly' }];
    if (await timed('answers', '/v1/answers', { method: 'POST', headers, body: JSON.stringify({ answers }) }))
      acknowledged.push(id);
  };
  const list = async ({ tenant }: User) =>
    void (await timed('lists', '/v1/answers', { headers: { authorization: `Bearer ${tenant.apiKey}` } }));
  return {
    acknowledged,
    sendTo: (to: string) => (url = to),
    start: () => Promise.all([every(BETWEEN_ANSWERS_MS, answer), every(BETWEEN_LISTS_MS, list)]),
    stop: () => (isOver = true),
    take() {
      const { answers, lists, failed } = times;
      times = { answers: [], lists: [], failed: 0 };
      const at = (values: number[], share: number) => Math.round(quantile(values, share));
      return {
        answers: answers.length,
        ...{ failed, p50: at(answers, 0.5), p99: at(answers, 0.99), list_p99: at(lists, 0.99) },
      };
    },
  };
}

/** Runs this version's migrations and kills them after a time, if given. Returns whether they completed. */
async function migrate(killAfterMs: number | undefined): Promise<boolean> {
  const child = spawn(process.execPath, ['src/main.ts', 'migrate'], { env: { ...process.env, ...environment } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk));
  const exited = new Promise<number | null>(done => child.once('exit', done));
  const timer = killAfterMs && setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  const code = await exited;
  clearTimeout(timer);
  if (code !== 0 && code !== null) throw new Error(`migrate ended with ${code}:\n${output}`);
  return code === 0;
}

const start = (version: string, role: 'serve' | 'work'): Promise<Program> =>
  startProgram({ command: [`${version}/src/main.ts`, role], environment, probesOnMetricsPort: role === 'work' });

const count = (sql: string, params: unknown[] = []): Promise<number> =>
  withClient(databaseUrl, async client => (await client.query<{ count: number }>(sql, params)).rows[0]?.count ?? 0);

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + WITHIN_MS; !(await isTrue()); await sleep(1000))
    if (Date.now() > deadline) throw new Error('took too long');
}

const report = (phase: string, startedAt: number, load: ReturnType<typeof openLoad>): void =>
  console.log(JSON.stringify({ phase, seconds: Math.round((Date.now() - startedAt) / 1000), ...load.take() }));

const world = await import(`${previous}/bench/world.ts`);
const oldApi = await start(previous, 'serve');
const oldWorker = await start(previous, 'work');
const tenants = await world.makeTenants(databaseUrl, secretKey, 5);
await world.publishQuestions(oldApi.url, tenants);
const users: User[] = await world.fetchUsers(oldApi.url, tenants, 100);
const load = openLoad(users, user => world.signToken(user.tenant, user.identity));
load.sendTo(oldApi.url);
const sending = load.start();

let startedAt = Date.now();
await sleep(BASELINE_MS);
report('previous version', startedAt, load);

startedAt = Date.now();
let kills = 0;
for (const killAfterMs of [...KILL_AFTER_MS, undefined])
  if (await migrate(killAfterMs)) break;
  else kills++;
report(`migrations, killed ${kills} times`, startedAt, load);

startedAt = Date.now();
const newApi = await start(resolve('.'), 'serve');
load.sendTo(newApi.url);
let newWorker = await start(resolve('.'), 'work');
await oldApi[Symbol.asyncDispose]();
await oldWorker[Symbol.asyncDispose]();
report('replacing the processes', startedAt, load);

startedAt = Date.now();
for (let kill = 0; kill < WORKER_KILLS; kill++) {
  await sleep(10_000);
  process.kill(newWorker.pid, 'SIGKILL');
  newWorker = await start(resolve('.'), 'work');
}
report(`this version, worker killed ${WORKER_KILLS} times`, startedAt, load);

load.stop();
await sending;
const stored = () =>
  count('select count(*)::int as count from answers where tenant_id = any($1::uuid[]) and id = any($2::uuid[])', [
    tenants.map(({ id }: { id: string }) => parseTypeId('tenant', id)),
    load.acknowledged,
  ]);
await until(async () => (await stored()) === load.acknowledged.length).catch(() => undefined); // reported below
const found = await stored();
console.log(JSON.stringify({ acknowledged: load.acknowledged.length, stored: found }));
await newApi[Symbol.asyncDispose]();
await newWorker[Symbol.asyncDispose]();
process.exit(found === load.acknowledged.length ? 0 : 1);
