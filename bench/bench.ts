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

/** Figures of one round by name: rates per second, times in ms, sizes in MB, shares. */
export type Figures = Record<string, number>;

/** The CPU time of one program in one run. */
export interface CostRow {
  program: string;
  /** The divisor of the CPU time: requests or answers. */
  count: number;
  per: 'request' | 'answer';
  cost: Cost;
}

export interface Measured {
  figures: Figures;
  costs: CostRow[];
}

/** The store that holds the queue. */
export type QueuePlace = 'valkey' | 'postgres';

type SetName =
  | 'cards'
  | 'unchanged'
  | 'answers'
  | 'batches'
  | 'naive'
  | `cold ${'cards' | 'unchanged' | 'answers' | 'batches'}`;

export interface ParleyOptions {
  /** The name of the CPU profile to write, if profiles are enabled. */
  profile?: string | undefined;
  /** The folder of another version of Parley. */
  folder?: string;
  /** The number of the Valkey database, by default 0. Two processes with different numbers have separate queues. */
  valkeyDatabase?: number;
  /** Further settings. */
  environment?: Record<string, string>;
}

/** The environment in which the goals are measured. */
export interface Bench extends AsyncDisposable {
  settings: Settings;
  stores: Stores;
  databaseUrl: string;
  secretKey: string;
  tenants: Tenant[];
  users: User[];
  /** The load of the goals, by default 64 connections. */
  plan: LoadPlan;
  /** Starts a role of Parley in its own process. */
  parley(role: 'serve' | 'work' | 'start', queue: QueuePlace, options?: ParleyOptions): Promise<Program>;
  /** Starts a floor program. */
  floor(name: 'koa-hello' | 'naive-api' | 'naive-worker'): Promise<Program>;
  /** Returns the root processes of the stores and of the given programs. */
  roles(programs: Roles): Roles;
  loadSet(name: SetName): LoadSet;
  /** Creates a further set. */
  createLoadSet(requests: LoadRequest[]): LoadSet;
  /** Executes a statement as the owner of the database. */
  query<Row extends object>(sql: string, params?: unknown[]): Promise<Row[]>;
  /** Empties a queue and the tables that answers fill, and forces a checkpoint of PostgreSQL. */
  empty(queue?: QueuePlace): Promise<void>;
  /** Returns the number of connections to Valkey, except the one that counts. */
  countQueueClients(): Promise<number>;
}

/** A request of 20 answers is twenty times as large, so the set has fewer of them. */
const COLD_BATCH_SHARE = 5;

/** The number of answers in one request of goal 4. */
export const BATCH = 20;

const environmentOf = (databaseUrl: string, secretKey: string, redisUrl: string | undefined) => ({
  DATABASE_URL: databaseUrl,
  SECRET_KEY: secretKey,
  RATE_LIMITS: 'off',
  LOG_LEVEL: 'warn', // the reason of a rejected request
  INGESTION_CHECK_S: '0', // tables are emptied between runs, which the check would report as losses
  ...(redisUrl ? { REDIS_URL: redisUrl } : {}),
});

/** The tables that answers fill. */
const FILLED = [
  'answers',
  'answer_words',
  'card_records',
  'question_results',
  'question_step_results',
  'ingestion_totals',
  'response_quotas',
  'recorded_flushes',
  'quarantined_answers',
  'events',
  'event_batches',
  'floor.answers',
];

async function emptyPostgresQueue(client: Client, migrate: () => Promise<void>): Promise<void> {
  await client.query('drop schema if exists bullmq cascade');
  await migrate();
}

/** Creates a database with tenants, questions and users, and the requests that they send. */
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
  client.on('error', () => undefined); // the current or next statement rejects with the same error
  await client.connect();
  cleanUp.defer(() => client.end());
  await client.query('create schema floor; create table floor.answers (like public.answers including all)');
  const redis = stores.valkeyUrl ? new Redis(stores.valkeyUrl) : undefined;
  cleanUp.defer(() => redis?.disconnect());
  const sets = cleanUp.use(openLoadSets());

  const tenants = await makeTenants(databaseUrl, secretKey, settings.tenants);
  const secrets = Object.fromEntries(tenants.map(({ keyId, secret }) => [keyId, secret]));
  const parley: Bench['parley'] = (role, place, { profile, folder = '.', valkeyDatabase, environment: extra } = {}) =>
    startProgram({
      command: [`${folder}/src/main.ts`, role],
      environment: { ...environment(place, valkeyDatabase), ...extra },
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
    createLoadSet: requests => sets.create(requests),
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

/** The requests of each set: warm sets have few users with one token each; in cold sets each token occurs only once. */
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
