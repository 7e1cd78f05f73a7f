import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { type Program, runProgram, startProgram } from './children.ts';
import type { Cost, Roles } from './cpu.ts';
import { type LoadPlan, type LoadRequest, type LoadSet, openLoadSets } from './load.ts';
import type { Settings } from './settings.ts';
import { createDatabase, type Stores } from './stores.ts';
import {
  answersRequest,
  cardsRequest,
  fetchUsers,
  makeTenants,
  naiveRequest,
  publishQuestions,
  signToken,
  type Tenant,
  type User,
  unchangedCardsRequest,
} from './world.ts';

/** Figures of one round, by name: rates a second, times in ms, sizes in MB, shares. */
export type Figures = Record<string, number>;

/** What one run of a program cost, for the table of CPU time. */
export interface CostRow {
  program: string;
  /** What the CPU time is divided by: requests, or answers. */
  count: number;
  per: 'request' | 'answer';
  cost: Cost;
}

export interface Measured {
  figures: Figures;
  costs: CostRow[];
}

/** Where the queue lives. */
export type QueuePlace = 'valkey' | 'postgres';

type SetName =
  | 'cards'
  | 'unchanged'
  | 'answers'
  | 'batches'
  | 'naive'
  | `cold ${'cards' | 'unchanged' | 'answers' | 'batches'}`;

export interface ParleyOptions {
  /** The name of the CPU profile that it leaves, when profiles are wanted. */
  profile?: string | undefined;
  /** Where another version of Parley lies. */
  folder?: string;
  /** The database of Valkey, 0 unless said otherwise: the queues of two processes on one store. */
  valkeyDatabase?: number;
}

/** Everything that is there while goals are measured. */
export interface Bench extends AsyncDisposable {
  settings: Settings;
  stores: Stores;
  databaseUrl: string;
  secretKey: string;
  tenants: Tenant[];
  users: User[];
  /** How the load of the goals is sent: 64 connections unless said otherwise. */
  plan: LoadPlan;
  /** A role of Parley as a process of its own. */
  parley(role: 'serve' | 'work' | 'start', queue: QueuePlace, options?: ParleyOptions): Promise<Program>;
  /** A floor program. */
  floor(name: 'koa-hello' | 'naive-api' | 'naive-worker'): Promise<Program>;
  /** The root processes of the stores and of the programs given. */
  roles(programs: Roles): Roles;
  loadSet(name: SetName): LoadSet;
  /** One statement as the owner of the database. */
  query<Row extends object>(sql: string, params?: unknown[]): Promise<Row[]>;
  /** Empties a queue and every table that answers fill, and lets PostgreSQL write its checkpoint now. */
  empty(queue?: QueuePlace): Promise<void>;
  /** Connections that Valkey has, without the one that asks. */
  countQueueClients(): Promise<number>;
}

/** Requests of 20 answers are twenty times as large and so many times as few. */
const COLD_BATCH_SHARE = 5;

/** Answers in one request of goal 4. */
export const BATCH = 20;

const environmentOf = (databaseUrl: string, secretKey: string, redisUrl: string | undefined) => ({
  DATABASE_URL: databaseUrl,
  SECRET_KEY: secretKey,
  RATE_LIMITS: 'off',
  LOG_LEVEL: 'error',
  INGESTION_CHECK_S: '0', // tables are emptied between runs, which it would report as losses
  ...(redisUrl ? { REDIS_URL: redisUrl } : {}),
});

/** Tables that answers fill. */
const FILLED = [
  'answers',
  'answer_words',
  'card_records',
  'question_results',
  'ingestion_totals',
  'recorded_flushes',
  'quarantined_answers',
  'floor.answers',
];

async function emptyPostgresQueue(client: Client, migrate: () => Promise<void>): Promise<void> {
  await client.query('drop schema if exists bullmq cascade');
  await migrate();
}

/** Makes a database, tenants, questions and users, and the requests that they send. */
export async function openBench(settings: Settings, stores: Stores): Promise<Bench> {
  await using cleanUp = new AsyncDisposableStack();
  const databaseUrl = await createDatabase(stores, 'parley_bench');
  const secretKey = randomBytes(32).toString('base64');
  const environment = (place: QueuePlace, valkeyDatabase = 0) =>
    environmentOf(
      databaseUrl,
      secretKey,
      place === 'valkey' && stores.valkeyUrl ? `${stores.valkeyUrl}/${valkeyDatabase}` : undefined,
    );
  const migrate = () => runProgram(['src/main.ts', 'migrate'], environment('postgres'));
  await migrate();

  const client = new Client({ connectionString: databaseUrl });
  client.on('error', () => undefined); // the statement under way, or the next one, rejects with the same
  await client.connect();
  cleanUp.defer(() => client.end());
  await client.query('create schema floor');
  await client.query('create table floor.answers (like public.answers including all)');
  const redis = stores.valkeyUrl ? new Redis(stores.valkeyUrl) : undefined;
  cleanUp.defer(() => redis?.disconnect());
  const sets = cleanUp.use(openLoadSets());

  const tenants = await makeTenants(databaseUrl, secretKey, settings.tenants);
  const secrets = Object.fromEntries(tenants.map(({ keyId, secret }) => [keyId, secret]));
  const parley: Bench['parley'] = (role, place, { profile, folder = '.', valkeyDatabase } = {}) =>
    startProgram({
      command: [`${folder}/src/main.ts`, role],
      environment: environment(place, valkeyDatabase),
      probesOnMetricsPort: role === 'work',
      profile: settings.profile ? profile : undefined,
    });

  const users = await (async () => {
    await using api = await parley('serve', stores.valkeyUrl ? 'valkey' : 'postgres');
    await publishQuestions(api.url, tenants);
    return await fetchUsers(api.url, tenants, settings.coldUsers);
  })();
  const makeRequests = requestMakers(users, settings);
  const made = new Map<SetName, LoadSet>();

  const kept = cleanUp.move();
  return {
    settings,
    stores,
    databaseUrl,
    secretKey,
    tenants,
    users: users.slice(0, settings.users),
    plan: { connections: 64, warmUpSeconds: settings.warmUpSeconds, seconds: settings.seconds },
    parley,
    floor: name =>
      startProgram({
        command: [`bench/floor/${name}.ts`],
        environment: {
          DATABASE_URL: databaseUrl,
          REDIS_URL: stores.valkeyUrl ?? '',
          SECRETS: JSON.stringify(secrets),
        },
        probesOnMetricsPort: name === 'naive-worker',
      }),
    roles: programs => ({ ...programs, ...stores.roles }),
    loadSet(name) {
      const set = made.get(name) ?? sets.create(makeRequests[name]());
      made.set(name, set);
      return set;
    },
    query: async <Row extends object>(sql: string, params: unknown[] = []) =>
      (await client.query<Row>(sql, params)).rows,
    async empty(queue = 'valkey') {
      if (queue === 'postgres') await emptyPostgresQueue(client, migrate);
      else await redis?.flushall();
      await client.query(`truncate ${FILLED.join(', ')}`);
      await client.query('checkpoint');
    },
    countQueueClients: async () =>
      Number((await redis?.info('clients'))?.match(/connected_clients:(\d+)/)?.[1] ?? 1) - 1,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** The requests of each set: warm ones of a few users with a token each, cold ones with tokens that come but once. */
function requestMakers(users: User[], settings: Settings): Record<SetName, () => LoadRequest[]> {
  type Make = (user: User, token: string) => LoadRequest;
  const warm = (make: Make) => () =>
    users.slice(0, settings.users).map(user => make(user, signToken(user.tenant, user.identity)));
  const cold =
    (make: Make, tokens = settings.coldTokensAUser) =>
    () =>
      Array.from({ length: tokens }, (_, age) =>
        users.map(user => make(user, signToken(user.tenant, user.identity, age))),
      ).flat();
  const plainCards: Make = (_, token) => cardsRequest(token);
  const batch: Make = (user, token) => answersRequest(user, token, BATCH);
  return {
    cards: warm(plainCards),
    unchanged: warm(unchangedCardsRequest),
    answers: warm(answersRequest),
    batches: warm(batch),
    naive: () => users.slice(0, settings.users).map(naiveRequest),
    'cold cards': cold(plainCards),
    'cold unchanged': cold(unchangedCardsRequest),
    'cold answers': cold(answersRequest),
    'cold batches': cold(batch, Math.ceil(settings.coldTokensAUser / COLD_BATCH_SHARE)),
  };
}
