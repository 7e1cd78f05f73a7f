import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { BUILD } from './build-info.ts';
import { withTimeout } from './timeouts.ts';

const HTTP_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const STORE_DELAY_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600];
/** From a minute to a week. */
const REPLY_SECONDS = [60, 300, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400, 172_800, 604_800];
const BODY_BYTES = [256, 1024, 4096, 16_384, 65_536, 262_144];
const BATCH_ROWS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000];

/** Creates metrics in the registry of one process. */
function createMaker(registry: Registry) {
  const registers = [registry];
  return {
    counter: <L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: <L extends string = never>(name: string, help: string, labelNames: L[] = []) => {
      const made = new Gauge({ name, help, labelNames, registers });
      if (labelNames.length === 0) made.remove();
      return made;
    },
    histogram: <L extends string = never>(name: string, help: string, buckets: number[], labelNames: L[] = []) =>
      new Histogram({ name, help, buckets, labelNames, registers }),
  };
}

type Maker = ReturnType<typeof createMaker>;

const requestMetrics = ({ counter, gauge, histogram }: Maker) => ({
  httpDuration: histogram('http_request_duration_seconds', 'Request duration', HTTP_SECONDS, [
    'method',
    'route',
    'status',
  ]),
  httpBodyBytes: histogram('http_request_body_bytes', 'Request body size', BODY_BYTES, ['route']),
  authAttempts: counter('parley_auth_attempts_total', 'Verified tokens and API keys, by method and result', [
    'method',
    'result',
  ]),
  logins: counter('parley_logins_total', 'Logins to the dashboard, by method (password, oidc) and outcome', [
    'method',
    'outcome',
  ]),
  rateLimited: counter('parley_rate_limited_total', 'Requests over a rate limit', ['scope']),
  requestsShed: counter('parley_requests_shed_total', 'Requests rejected because of overload'),
  openConnections: gauge('parley_http_connections', 'Open HTTP connections, by server', ['door']),
  connectionsClosed: counter(
    'parley_http_connections_closed_total',
    'HTTP connections closed or refused because connections or memory ran out',
    ['door', 'reason', 'closed'],
  ),
  ready: gauge('parley_ready', '1 if the process accepts requests or jobs (as /readyz), else 0'),
  heavyReads: gauge('parley_heavy_reads', 'Lists, searches and results in progress or waiting', ['state']),
  heavyReadsRefused: counter(
    'parley_heavy_reads_refused_total',
    'Lists, searches and results rejected because too many were in progress, for the tenant or in total',
  ),
  queriesTooExpensive: counter(
    'parley_queries_too_expensive_total',
    'Lists, searches and results cancelled by their statement timeout (not counted as database errors)',
    ['route'],
  ),
});

const answerMetrics = ({ counter, gauge, histogram }: Maker) => ({
  answersAccepted: counter('parley_answers_accepted_total', 'Answers accepted: durable in the queue and acknowledged'),
  answersRejected: counter('parley_answers_rejected_total', 'Answers rejected on receipt, by reason', ['reason']),
  cardsWithheld: counter(
    'parley_cards_withheld_total',
    'Cards that a card list does not have, by the first rule that is not met',
    ['gate'],
  ),
  answersStored: counter('parley_answers_stored_total', 'Syncs stored: created or changed an answer'),
  answersRepeated: counter('parley_answers_repeated_total', 'Accepted syncs that were already stored'),
  answersQuarantined: counter(
    'parley_answers_quarantined_total',
    'Accepted syncs that could not be stored and were quarantined',
  ),
  answerStoreDelay: histogram(
    'parley_answer_store_delay_seconds',
    'Time from receipt to commit, for the first answer of each group queued together',
    STORE_DELAY_SECONDS,
  ),
  workerBatchRows: histogram('parley_worker_batch_rows', 'Answers stored per transaction', BATCH_ROWS),
  canaryInterval: gauge('parley_canary_interval_seconds', 'Interval between canaries; absent if canaries are off'),
  canaryDelay: gauge('parley_canary_delay_seconds', 'Time from sending the last canary to finding it in the database'),
  canaryFailures: counter('parley_canary_failures_total', 'Canaries rejected or not found in time'),
  canarySuccess: gauge('parley_canary_last_success_timestamp_seconds', 'Unix time at which a canary was last found'),
  lastBackup: gauge('parley_last_backup_timestamp_seconds', 'Unix time until which the newest backup is complete'),
  conservation: gauge('parley_conservation_difference', 'Accepted answers unaccounted for (should be 0)', ['kind']),
});

const queueMetrics = ({ counter, gauge, histogram }: Maker) => ({
  queueJobs: gauge('parley_queue_jobs', 'Jobs in the queue', ['queue', 'state']),
  queueOldest: gauge('parley_queue_oldest_waiting_seconds', 'Age of the oldest unfinished job', ['queue']),
  queueAcceptsAnswers: gauge(
    'parley_queue_takes_answers',
    '1 while answers are accepted, 0 while they are rejected with 503',
  ),
  queueDurable: gauge(
    'parley_queue_durable',
    '1 if queue and database provably write to disk before they reply, or the operator answers for it, else 0',
  ),
  queueDurability: gauge('parley_queue_durability_info', '1, with the value of QUEUE_DURABILITY as a label', ['mode']),
  queueFlushes: counter('parley_queue_flushes_total', 'Groups of answers written to the queue', ['outcome']),
  jobDuration: histogram('parley_job_duration_seconds', 'Job duration', HTTP_SECONDS, ['queue', 'outcome']),
  jobRetries: counter('parley_job_retries_total', 'Failed job attempts that are retried', ['queue']),
  jobsStalled: counter('parley_jobs_stalled_total', 'Jobs taken over from an unresponsive worker', ['queue']),
  redisUp: gauge('parley_redis_up', '1 if Valkey or Redis is reachable, else 0; absent with the queue in PostgreSQL'),
  redisErrors: counter('parley_redis_command_errors_total', 'Failed Valkey or Redis commands, by kind', ['kind']),
  redisMemory: gauge(
    'parley_redis_memory_used_ratio',
    'used_memory / maxmemory; without maxmemory, QUEUE_MAX_MB counts as 0.7',
  ),
  redisConnections: gauge(
    'parley_redis_connections_used_ratio',
    'Connections of all clients to Valkey or Redis / maxclients',
  ),
});

const webhookMetrics = ({ counter, gauge, histogram }: Maker) => ({
  webhookDeliveries: counter(
    'parley_webhook_deliveries_total',
    'Attempts to deliver an event to a webhook, by outcome: delivered, status, timeout, connection, url-not-allowed, expired',
    ['outcome'],
  ),
  webhookSeconds: histogram('parley_webhook_delivery_seconds', 'Duration of an attempt', HTTP_SECONDS),
  webhookLag: gauge(
    'parley_webhook_lag_seconds',
    'Age of the oldest event that a webhook with a working receiver has not been sent; 0 without one',
  ),
  webhooksEnabled: gauge('parley_webhooks_enabled', 'Webhooks that are enabled'),
  webhooksUnreachable: gauge(
    'parley_webhooks_unreachable',
    'Enabled webhooks whose requests get no response, since before any webhook had one',
  ),
});

const mailMetrics = ({ counter, gauge }: Maker) => ({
  mails: counter(
    'parley_mail_total',
    'Mails, by outcome of an attempt: sent (accepted by the server), deferred (will be tried again), failed; or limited (not sent, beyond a limit of the day)',
    ['outcome'],
  ),
  oldestMail: gauge(
    'parley_mail_oldest_seconds',
    'Age of the oldest mail that the mail server has not accepted yet; 0 without one',
  ),
});

const databaseMetrics = ({ counter, gauge, histogram }: Maker) => ({
  oldestWork: gauge(
    'parley_oldest_work_seconds',
    "Longest time since a tenant's work was found or last went on, or since rounds of the loop fail; 0 without work",
    ['loop'],
  ),
  workFailures: counter('parley_work_failures_total', "Failed batches of a tenant's background work", ['loop']),
  expired: counter('parley_expired_total', 'Records deleted by retention, by kind', ['kind']),
  conversationsWoken: counter('parley_conversations_woken_total', 'Snoozed conversations woken at their time'),
  conversationsAssigned: counter(
    'parley_conversations_assigned_total',
    'Conversations that assignment rules have looked at, by outcome',
    ['outcome'],
  ),
  conversationsAutoResolved: counter(
    'parley_conversations_auto_resolved_total',
    'Conversations resolved because their user did not answer',
  ),
  firstReply: histogram(
    'parley_first_reply_seconds',
    "Time from a user's first message in a conversation to the team's first reply",
    REPLY_SECONDS,
  ),
  timerDelay: gauge(
    'parley_timer_delay_seconds',
    'Delay of the oldest due timer of a snoozed conversation; 0 if none is due',
  ),
  events: counter('parley_events_total', 'Events numbered: from then on the feed and webhooks have them'),
  eventDelay: gauge('parley_event_numbering_delay_seconds', 'Age of the oldest event without a number; otherwise 0'),
  databaseClockSkew: gauge(
    'parley_database_clock_skew_seconds',
    'PostgreSQL clock minus worker clock at the last retention run (every 10 minutes)',
  ),
  oldestOpenWrite: gauge(
    'parley_oldest_open_write_seconds',
    'Age of the oldest open write transaction; incremental reads (updated_since) return only changes before it',
  ),
  dbConnections: gauge(
    'parley_db_connections_used_ratio',
    'Connections of all clients to PostgreSQL / those that it accepts from ordinary users',
  ),
  dbPool: gauge('parley_db_pool_connections', 'PostgreSQL connections, by state', ['state']),
  dbPoolWait: histogram('parley_db_pool_wait_seconds', 'Time waited for a free PostgreSQL connection', HTTP_SECONDS),
  dbErrors: counter('parley_db_errors_total', 'Failed database statements, by SQLSTATE class', ['sqlstate_class']),
});

const cacheMetrics = ({ counter, gauge }: Maker) => ({
  cacheBytes: gauge('parley_cache_bytes', 'Estimated memory used by the cache', ['cache']),
  cacheLimit: gauge('parley_cache_limit_bytes', 'Maximum memory of the cache, its share of CACHE_MB', ['cache']),
  cacheEntries: gauge('parley_cache_entries', 'Entries in the cache', ['cache']),
  cacheLookups: counter('parley_cache_lookups_total', 'Cache lookups, by result (hit or miss)', ['cache', 'result']),
  cacheEvictions: counter('parley_cache_evictions_total', 'Entries evicted to stay within the limit', ['cache']),
});

/** A store that does not reply must not cost a process all its metrics: Prometheus waits for 10 s by default. */
const REFRESH_TIMEOUT_MS = 2000;

/**
 * The metrics of a process. No label contains a tenant, an identity or a raw path, so the number of series is bounded.
 *
 * A gauge is exported only after it was set: a value of 0 in a process that does not measure it would raise an alarm.
 * Values of the whole service (the queue's depth and age) are read when scraped, by `onScrape`.
 */
export function createMetrics(role: string) {
  const registry = new Registry();
  const maker = createMaker(registry);
  collectDefaultMetrics({ register: registry });
  maker
    .gauge('parley_build_info', 'Build and role of the process (always 1)', ['version', 'commit', 'node', 'role'])
    .set({ ...BUILD, role }, 1);

  const inFlight = { requests: 0 };
  const requestsInFlight = maker.gauge('http_requests_in_flight', 'Requests in progress');
  const refreshers: (() => Promise<void>)[] = [async () => requestsInFlight.set(inFlight.requests)];
  return {
    /** Requests in progress. Counted here for speed, since every request counts twice. */
    inFlight,
    ...requestMetrics(maker),
    ...answerMetrics(maker),
    ...queueMetrics(maker),
    ...webhookMetrics(maker),
    ...mailMetrics(maker),
    ...databaseMetrics(maker),
    ...cacheMetrics(maker),

    /**
     * Runs before each scrape, to read values of the whole service. If it fails or takes more than 2 s, the last values
     * remain. It runs once at a time.
     */
    onScrape(refresh: () => Promise<void>) {
      refreshers.push(onceAtATime(refresh));
    },
    /** Returns the metrics in Prometheus' text format, after at most 2 s. */
    async render(): Promise<string> {
      const refreshed = refreshers.map(refresh => withTimeout(refresh(), REFRESH_TIMEOUT_MS, 'refreshing a metric'));
      await Promise.allSettled(refreshed);
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}

export type Metrics = ReturnType<typeof createMetrics>;

/** Callers during a run share it. */
function onceAtATime(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };
}
