import { createServer, type RequestListener, type Server } from 'node:http';
import { Server as TcpServer } from 'node:net';
import { openNotices } from '../coordination/notices.ts';
import { openRateLimits } from '../coordination/rate-limits.ts';
import { GATES } from '../domain/cards/decisions.ts';
import { limitParsedIds, parsedIds } from '../domain/ids.ts';
import { type Caches, createCaches } from '../platform/caches.ts';
import type { Config } from '../platform/config.ts';
import { boundConnections, fileLimit, maxConnectionsFor } from '../platform/connections.ts';
import { listenOptions } from '../platform/listen-address.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Health } from '../platform/metrics-server.ts';
import { createOutbound } from '../platform/outbound.ts';
import { createKeychain, createSeals, type SecretKeys } from '../platform/secrets.ts';
import { type StopStep, stopInOrder } from '../platform/shutdown.ts';
import type { Spans } from '../platform/spans.ts';
import type { DatabaseUrl } from '../platform/store-urls.ts';
import { openProducer } from '../queue/producer.ts';
import { readTimerDelay } from '../storage/conversations/timers.ts';
import { openStorage, type Storage } from '../storage/database/orm.ts';
import { keepProcessRow, type ProcessRow } from '../storage/database/processes.ts';
import { readNumberingDelay } from '../storage/events/events.ts';
import { deleteOldTestAnswers } from '../storage/questions/test-answers.ts';
import { type FoundSession, findSessions, type WantedSession } from '../storage/team/sessions.ts';
import { deleteEndedSessions, deleteExpiredRows, readConnectionUse } from '../storage/upkeep/housekeeping.ts';
import { createApp } from './app.ts';
import { createAnswerValidator } from './cache/answer-validator.ts';
import { createCardIds } from './cache/card-ids.ts';
import { type CardLists, createCardLists } from './cache/card-lists.ts';
import { createCatalog } from './cache/catalog.ts';
import { createBatchedLookup } from './credentials/batched-lookup.ts';
import { createDerivedKeys } from './credentials/derived-keys.ts';
import { createKeyRing } from './credentials/key-ring.ts';
import { createOidcLogin } from './credentials/oidc.ts';
import { createTokenVerifier } from './credentials/token-verifier.ts';
import type { ApiDeps } from './deps.ts';
import { createHeavyReads } from './http/heavy-reads.ts';
import { createOverload } from './http/overload.ts';
import { refuseUnreadable } from './http/unreadable.ts';
import { createOpenApiFile } from './site/openapi-file.ts';
import { watchDatabaseDurability } from './watch/database-durability.ts';
import { createIncrementalReads } from './watch/incremental-reads.ts';
import { type IngestionWatch, watchIngestion } from './watch/ingestion-watch.ts';
import { watchReadiness } from './watch/readiness.ts';
import { createRejectionTally } from './watch/rejection-tally.ts';

/** Time limits for headers and for a whole request (slow senders must not hold sockets for long). */
const HEADERS_TIMEOUT_MS = 15_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** The precision of these two limits. Node's default of 30 s would triple the first. */
const CHECK_TIMES_EVERY_MS = 1000;
/** Above the 60 s after which common proxies close an idle connection, so that they never write to a closed one. */
const KEEP_ALIVE_MS = 72_000;
/**
 * Maximum time without traffic in either direction during a request: the client does not read its reply. Longer than a whole
 * request may take, so that a body that stalls gets its 408 before its connection ends.
 */
const SOCKET_TIMEOUT_MS = REQUEST_TIMEOUT_MS + 5000;
/** New connections that the kernel queues while the process is busy. Node's default of 511 would refuse bursts. */
const BACKLOG = 4096;
const DRAIN_TIMEOUT_MS = 8000;
/** How long idle connections stay open after SIGTERM: longer than a request may already be in transit. */
const LINGER_MS = 1000;
const HOUSEKEEPING_EVERY_MS = 10 * 60_000;

export interface ApiProcess {
  /** The port that the API listens on. */
  port: number;
  /** Whether database and queue have both been reached and the schema is compatible. */
  isReady(): boolean;
  /** The state for `/readyz`. */
  health(): Health;
  /** Lists the process in `processes` under its role, until it closes. */
  list(role: string): void;
  /**
   * Finishes requests in progress, makes acknowledged answers durable, and closes. False when a part did not stop in
   * time.
   */
  close(): Promise<boolean>;
}

export interface ApiOptions {
  databaseUrl: DatabaseUrl;
  secretKeys: SecretKeys;
  config: Config;
  log: Log;
  metrics: Metrics;
  spans?: Spans | undefined;
  /** Maximum number of connections; by default 10,000, or as many as the limit on open files allows. */
  maxConnections?: number;
  /** The clock of everything that expires, except for rows whose age the database computes. */
  now?: () => Date;
}

/** The API process: serves requests. Starts even when dependencies are unreachable, and reports them in `/readyz`. */
export async function openApi({
  databaseUrl,
  secretKeys,
  config,
  log,
  metrics,
  spans,
  maxConnections = maxConnectionsFor(fileLimit(), config.DATABASE_POOL),
  now = () => new Date(),
}: ApiOptions): Promise<ApiProcess> {
  let stopping = false;
  const isStopping = () => stopping;
  const seals = createSeals(secretKeys);
  const storage = openStorage({
    url: databaseUrl,
    role: 'parley_app',
    connections: config.DATABASE_POOL,
    log,
    metrics,
    spans,
  });
  const derivedKeys = createDerivedKeys(storage, seals, log);
  const keychain = createKeychain(seals, derivedKeys.of);
  const durability = watchDatabaseDurability(storage);
  const queue = openProducer(
    { databaseUrl, redisUrl: config.redis, databaseReasons: durability.reasons },
    config,
    log,
    metrics,
    spans,
  );
  const notices = openNotices(databaseUrl, config.redis, log);
  const limits = openRateLimits(databaseUrl, config.redis, log, { isEnforced: config.RATE_LIMITS === 'on' });
  const ingestion = watchIngestion({
    storage,
    queue,
    metrics,
    log,
    intervalMs: config.INGESTION_CHECK_S * 1000,
    isStopping,
  });
  const readiness = watchReadiness({ databaseUrl, durability, derivedKeys, queue, ingestion, isStopping, log });
  const opened = { config, log, metrics, spans, keychain, storage, queue, notices, limits, isStopping, readiness, now };
  const deps = createDeps(opened, createCaches(config.CACHE_MB, metrics));
  const app = createApp(deps);
  const server = createHttpServer((request, response) => {
    connections.serve(request, response);
    app(request, response);
  }, config.BASE_URL);
  const connections = boundConnections(server, { door: 'api', most: maxConnections, log, metrics });
  const port = await listen(server, config.PORT, config.HOST);
  let row: ProcessRow | undefined;
  const housekeeping = startHousekeeping(storage, config, log, now);
  return {
    port,
    isReady: () => deps.readiness.isStarted(),
    health: () => deps.readiness.health(),
    list: role => {
      row = keepProcessRow(storage, role, log);
    },
    async close() {
      stopping = true;
      clearInterval(housekeeping);
      connections.close();
      return stopInOrder(stopSteps(server, deps, ingestion, row), log);
    },
  };
}

/** Dependencies that the process opens or receives. */
type OpenedDeps = Pick<
  ApiDeps,
  | 'config'
  | 'log'
  | 'metrics'
  | 'spans'
  | 'keychain'
  | 'storage'
  | 'queue'
  | 'notices'
  | 'limits'
  | 'isStopping'
  | 'readiness'
  | 'now'
>;

/** Adds the caches, and the other dependencies of handlers. */
function createDeps(opened: OpenedDeps, caches: Caches): ApiDeps {
  const { config, log, metrics, spans, keychain, storage, notices } = opened;
  limitParsedIds(caches.limitOf('ids'));
  caches.watch('ids', () => ({ ...parsedIds(), hits: 0, misses: 0, evictions: 0 }));
  const catalog = createCatalog(storage, notices, caches);
  const cardIds = createCardIds(keychain, caches);
  metrics.onScrape(async () => metrics.dbConnections.set(await readConnectionUse(storage)));
  metrics.onScrape(async () => metrics.timerDelay.set(await readTimerDelay(storage)));
  metrics.onScrape(async () => metrics.eventDelay.set(await readNumberingDelay(storage)));
  const cardLists = createCardLists(catalog, storage, notices, cardIds, caches);
  exportWithheld(cardLists, metrics);
  const keyRing = createKeyRing({ storage, notices, keychain, log, caches, spans });
  return {
    ...opened,
    overload: createOverload(metrics),
    heavyReads: createHeavyReads(config.DATABASE_POOL, metrics),
    keyRing,
    findSession: createBatchedLookup<WantedSession, FoundSession>(
      'find sessions',
      wanted => findSessions(storage, wanted),
      spans,
    ),
    outbound: createOutbound(config),
    oidc: createOidcLogin(config, keychain, log),
    tokens: createTokenVerifier(keyRing, caches),
    catalog,
    cardLists,
    answerValidator: createAnswerValidator(catalog, cardIds, caches),
    incrementalReads: createIncrementalReads(storage, metrics, log),
    rejections: createRejectionTally(storage, log),
    openApi: createOpenApiFile(config.BASE_URL),
  };
}

/** Exports how often each gate withheld a card. Counted in memory, because a decision has up to 200 of them. */
function exportWithheld({ withheld }: CardLists, metrics: Metrics): void {
  const exported = { ...withheld };
  metrics.onScrape(async () => {
    for (const gate of GATES) {
      metrics.cardsWithheld.inc({ gate }, withheld[gate] - exported[gate]);
      exported[gate] = withheld[gate];
    }
  });
}

/** Deletes expired rows and ended sessions at intervals, until the timer is cleared. */
function startHousekeeping(storage: Storage, config: Config, log: Log, now: () => Date): NodeJS.Timeout {
  const timer = setInterval(
    () =>
      Promise.all([
        deleteExpiredRows(storage),
        deleteOldTestAnswers(storage),
        deleteEndedSessions(storage, now(), config.SESSION_IDLE_HOURS),
      ]).catch(error => log.warn({ reason: error.message }, 'housekeeping failed; will retry')),
    HOUSEKEEPING_EVERY_MS,
  );
  return timer.unref();
}

/** The steps of a shutdown, in order. */
const stopSteps = (server: Server, deps: ApiDeps, ingestion: IngestionWatch, row?: ProcessRow): StopStep[] => [
  { name: 'in-flight requests', limitMs: DRAIN_TIMEOUT_MS + 500, run: () => drain(server) },
  { name: 'store checks', limitMs: 3000, run: () => deps.readiness.close() },
  { name: 'the queue', limitMs: 5000, run: () => deps.queue.close() },
  { name: 'ingestion checks', limitMs: 2000, run: () => ingestion.close() },
  { name: 'rejection counts', limitMs: 1500, run: () => deps.rejections.close() },
  { name: 'the key ring', limitMs: 1500, run: () => deps.keyRing.close() },
  { name: 'change notices', limitMs: 1500, run: () => deps.notices.close() },
  { name: 'rate limits', limitMs: 1500, run: () => deps.limits.close() },
  { name: 'the row in processes', run: async () => row?.close() },
  { name: 'the database', limitMs: 3000, run: () => deps.storage.close() },
];

/**
 * Creates a server that replies to everything with a problem document, including input that Node itself refuses without
 * one.
 */
function createHttpServer(answer: RequestListener, baseUrl: string): Server {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_TIMES_EVERY_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      requireHostHeader: false, // checked by `requireWellFormed`
    },
    answer,
  );
  server.timeout = SOCKET_TIMEOUT_MS;
  server.on('checkExpectation', answer); // unknown expectations may be ignored (RFC 9110 section 10.1.1)
  server.on('clientError', refuseUnreadable(baseUrl));
  return server;
}

const listen = (server: Server, port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ ...listenOptions(port, host), backlog: BACKLOG }, () => {
      server.off('error', reject);
      resolve((server.address() as { port: number }).port);
    });
  });

/**
 * Stops accepting connections and closes each after its reply; the rest are cut at the limit.
 *
 * Idle connections stay open for a second, so that a request in transit is still answered, with `Connection: close`.
 */
async function drain(server: Server): Promise<void> {
  // HTTP's own `close` would end idle connections at once.
  const closed = new Promise<void>(resolve => TcpServer.prototype.close.call(server, () => resolve()));
  const lingeredAt = Date.now() + LINGER_MS;
  const sweep = setInterval(() => Date.now() >= lingeredAt && server.closeIdleConnections(), 50);
  const cut = setTimeout(() => server.closeAllConnections(), DRAIN_TIMEOUT_MS);
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}
