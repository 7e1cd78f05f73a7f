import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { inject } from 'vitest';
import { openApi } from '../../src/api/server.ts';
import { type Config, loadConfig } from '../../src/platform/config.ts';
import { createLog, type Log } from '../../src/platform/log.ts';
import { createMetrics, type Metrics } from '../../src/platform/metrics.ts';
import { createKeychain, createSeals, type Keychain, type Seals } from '../../src/platform/secrets.ts';
import { readDerivedKeys } from '../../src/storage/database/derived-keys.ts';
import { openWorker, type WorkerProcess } from '../../src/worker/worker.ts';
import { createDatabase, type TestDatabase } from './database.ts';
import { stores } from './stores.ts';
import { waitFor } from './wait.ts';

export { waitFor };

/** The store of the queue in a test. */
export type Backend = 'postgres' | 'valkey';

/** The available backends: both if Docker is available. */
export const backends = (): Backend[] => (inject('hasDocker') ? ['postgres', 'valkey'] : ['postgres']);

export interface TestReply {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read parts of any reply
  body: any;
}

export interface TestRequest {
  /** A bearer credential: an API key or a token. */
  as?: string;
  body?: unknown;
  /** A raw body, instead of `body`. */
  raw?: string | Uint8Array;
  headers?: Record<string, string>;
}

export interface TestApi extends AsyncDisposable {
  baseUrl: string;
  config: Config;
  metrics: Metrics;
  seals: Seals;
  keychain: Keychain;
  secretKey: string;
  databaseUrl: string;
  database: TestDatabase;
  request(method: string, path: string, request?: TestRequest): Promise<TestReply>;
  /** Stops the API like SIGTERM, before the end of the scope. Returns false if a part did not end in time. */
  close(): Promise<boolean>;
}

export interface TestApiOptions {
  backend?: Backend;
  /** Settings, added to the defaults of tests. */
  settings?: Record<string, string>;
  /** An API whose database and secret key this one shares. */
  sharing?: TestApi;
  /** A fixed secret key. */
  secretKey?: string;
  /** The clock of the API; the system's by default. */
  now?: () => Date;
  /** The maximum number of its connections; by default as many as the file descriptors allow. */
  maxConnections?: number;
  /** The API's log; silent by default. */
  log?: Log;
}

/** Empties and returns the Valkey database of this test worker. */
export async function valkeyUrl(): Promise<string> {
  const url = `${(await stores()).valkeyUrl}/${process.env.VITEST_POOL_ID ?? '0'}`;
  const redis = new Redis(url);
  await redis.flushdb();
  redis.disconnect();
  return url;
}

/** Sends requests to an API by its base URL. */
export const requestTo =
  (baseUrl: string): TestApi['request'] =>
  async (method, path, { as, body, raw, headers = {} } = {}) => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(as === undefined ? {} : { Authorization: `Bearer ${as}` }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(raw === undefined ? {} : { body: raw as string }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: response.headers, body: isJson && text ? JSON.parse(text) : text };
  };

/** The environment of processes that share the stores of an API. */
export const environmentOf = ({ database, secretKey, config }: TestApi): Record<string, string> => ({
  DATABASE_URL: database.url,
  SECRET_KEY: secretKey,
  ...(config.REDIS_URL ? { REDIS_URL: config.REDIS_URL } : {}),
});

/** Starts an API on real stores, reached over HTTP. */
export async function createApi(options: TestApiOptions = {}): Promise<TestApi> {
  const { backend = 'postgres', settings = {}, sharing } = options;
  const database = sharing?.database ?? (await createDatabase());
  const secretKey = options.secretKey ?? sharing?.secretKey ?? randomBytes(32).toString('base64');
  const config = loadConfig({
    DATABASE_URL: database.url,
    SECRET_KEY: secretKey,
    PORT: '0',
    RATE_LIMITS: 'off',
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    DATABASE_POOL: '5',
    INGESTION_CHECK_S: '0', // tests check every row and every job
    BASE_URL: 'https://parley.test',
    ...(backend === 'valkey' ? { REDIS_URL: sharing?.config.REDIS_URL ?? (await valkeyUrl()) } : {}),
    ...settings,
  });
  const metrics = createMetrics('serve');
  const log = options.log ?? createLog(config.LOG_LEVEL, 'serve');
  const api = await openApi({
    databaseUrl: database.url,
    secretKeys: { current: secretKey, others: [] },
    config,
    log,
    metrics,
    ...(options.now ? { now: options.now } : {}),
    ...(options.maxConnections ? { maxConnections: options.maxConnections } : {}),
  });
  const baseUrl = `http://127.0.0.1:${api.port}`;
  await waitFor(() => api.isReady());
  const seals = createSeals({ current: secretKey, others: [] });
  const lastingKeys = await readDerivedKeys(database.storage(), seals);
  let closed: Promise<boolean> | undefined;
  const close = () => {
    closed ??= api.close();
    return closed;
  };
  return {
    baseUrl,
    config,
    metrics,
    databaseUrl: database.url,
    seals,
    keychain: createKeychain(seals, purpose => lastingKeys[purpose]),
    secretKey,
    database,
    close,
    request: requestTo(baseUrl),
    async [Symbol.asyncDispose]() {
      await close();
      if (!sharing) await database[Symbol.asyncDispose]();
    },
  };
}

/** Starts a worker on the stores of an API. */
export async function createWorker(api: TestApi): Promise<WorkerProcess & AsyncDisposable & { metrics: Metrics }> {
  const metrics = createMetrics('work');
  const worker = openWorker({
    databaseUrl: api.database.url,
    secretKeys: { current: api.secretKey, others: [] },
    config: api.config,
    log: createLog('warn', 'work'),
    metrics,
  });
  await waitFor(() => worker.isReady());
  let closed: Promise<boolean> | undefined;
  const close = () => {
    closed ??= worker.close();
    return closed;
  };
  return { ...worker, metrics, close, [Symbol.asyncDispose]: async () => void (await close()) };
}
