import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { BUILD } from './build-info.ts';

const HTTP_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const STORE_DELAY_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600];
const BODY_BYTES = [256, 1024, 4096, 16_384, 65_536, 262_144];
const BATCH_ROWS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000];

/**
 * The metrics of a process. No label contains a tenant, an identity or a raw path, so the number of series is bounded.
 *
 * A gauge is exported only after it was set: a value of 0 in a process that does not measure it would raise an alarm.
 * Values of the whole service (the queue's depth and age) are read when scraped, by `onScrape`.
 */
export function createMetrics(role: string) {
  const registry = new Registry();
  const registers = [registry];
  const counter = <L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = <L extends string = never>(name: string, help: string, labelNames: L[] = []) => {
    const made = new Gauge({ name, help, labelNames, registers });
    if (labelNames.length === 0) made.remove();
    return made;
  };
  const histogram = <L extends string = never>(name: string, help: string, buckets: number[], labelNames: L[] = []) =>
    new Histogram({ name, help, buckets, labelNames, registers });

  collectDefaultMetrics({ register: registry });
  gauge('parley_build_info', 'Always 1; says what runs', ['version', 'commit', 'node', 'role']).set(
    { ...BUILD, role },
    1,
  );

  const inFlight = { requests: 0 };
  const requestsInFlight = gauge('http_requests_in_flight', 'Requests being answered');
  const refreshers: (() => Promise<void>)[] = [async () => requestsInFlight.set(inFlight.requests)];
  return {
    httpDuration: histogram('http_request_duration_seconds', 'Time to answer a request', HTTP_SECONDS, [
      'method',
      'route',
      'status',
    ]),
    /** Requests in progress. Counted here for speed, since every request counts twice. */
    inFlight,
    httpBodyBytes: histogram('http_request_body_bytes', 'Size of request bodies', BODY_BYTES, ['route']),
    authAttempts: counter('parley_auth_attempts_total', 'Credentials checked, by kind and outcome', [
      'method',
      'result',
    ]),
    rateLimited: counter('parley_rate_limited_total', 'Requests over a limit', ['scope']),
    requestsShed: counter('parley_requests_shed_total', 'Requests refused because too many came at once'),
    openConnections: gauge('parley_http_connections', 'Open connections, by server', ['door']),
    connectionsClosed: counter(
      'parley_http_connections_closed_total',
      'Connections closed or refused because connections, memory or file descriptors ran out',
      ['door', 'reason', 'closed'],
    ),
    answersAccepted: counter('parley_answers_accepted_total', 'Answers acknowledged as durable in the queue'),
    answersRejected: counter('parley_answers_rejected_total', 'Answers refused at once', ['reason']),
    answersStored: counter('parley_answers_stored_total', 'Syncs that made or changed an answer'),
    answersRepeated: counter('parley_answers_repeated_total', 'Accepted syncs that were known already'),
    answersQuarantined: counter('parley_answers_quarantined_total', 'Accepted syncs that could not be stored'),
    answerStoreDelay: histogram(
      'parley_answer_store_delay_seconds',
      'From receipt to commit, of the first answer of each group that was queued together',
      STORE_DELAY_SECONDS,
    ),
    queueJobs: gauge('parley_queue_jobs', 'Jobs in the queue', ['queue', 'state']),
    queueOldest: gauge('parley_queue_oldest_waiting_seconds', 'Age of the oldest job that is not done', ['queue']),
    ready: gauge('parley_ready', '1 when the process takes requests or jobs, as /readyz says'),
    queueAcceptsAnswers: gauge('parley_queue_takes_answers', '1 while answers are taken, 0 while they get a 503'),
    queueDurable: gauge(
      'parley_queue_durable',
      '1 when queue and database are proven to write to disk before they reply',
    ),
    queueFlushes: counter('parley_queue_flushes_total', 'Groups of answers written to the queue', ['outcome']),
    jobDuration: histogram('parley_job_duration_seconds', 'Time to handle a job', HTTP_SECONDS, ['queue', 'outcome']),
    jobRetries: counter('parley_job_retries_total', 'Tries of a job that failed and are made again', ['queue']),
    jobsStalled: counter('parley_jobs_stalled_total', 'Jobs taken over from a worker that went silent', ['queue']),
    expired: counter('parley_expired_total', 'Deleted because their tenant keeps them no longer', ['kind']),
    databaseClockSkew: gauge(
      'parley_database_clock_skew_seconds',
      "PostgreSQL's clock minus this worker's, as of the last retention run (every 10 minutes)",
    ),
    oldestOpenWrite: gauge(
      'parley_oldest_open_write_seconds',
      'Age of the oldest open transaction that has written; incremental reads (updated_since) end before it',
    ),
    workerBatchRows: histogram('parley_worker_batch_rows', 'Answers stored in one transaction', BATCH_ROWS),
    canaryInterval: gauge('parley_canary_interval_seconds', 'Time between two canaries; absent when none is sent'),
    canaryDelay: gauge('parley_canary_delay_seconds', 'From sending the last canary to finding its row'),
    canaryFailures: counter('parley_canary_failures_total', 'Canaries that were refused, or not found in time'),
    canarySuccess: gauge('parley_canary_last_success_timestamp_seconds', 'When a canary was last found (Unix time)'),
    conservation: gauge('parley_conservation_difference', 'What was accepted and is missing; 0 is well', ['kind']),
    dbPool: gauge('parley_db_pool_connections', 'Connections to PostgreSQL', ['state']),
    dbPoolWait: histogram('parley_db_pool_wait_seconds', 'Wait for a free connection', HTTP_SECONDS),
    heavyReads: gauge('parley_heavy_reads', 'Lists, searches and results in progress or waiting', ['state']),
    heavyReadsRefused: counter(
      'parley_heavy_reads_refused_total',
      'Lists, searches and results refused because too many of their tenant, or of all, were in progress',
    ),
    queriesTooExpensive: counter(
      'parley_queries_too_expensive_total',
      'Lists, searches and results stopped by their statement time-out; not counted as database errors',
      ['route'],
    ),
    dbErrors: counter('parley_db_errors_total', 'Failed statements', ['sqlstate_class']),
    cacheBytes: gauge('parley_cache_bytes', 'Estimated memory of a cache', ['cache']),
    cacheLimit: gauge('parley_cache_limit_bytes', 'Share of CACHE_MB that a cache may use', ['cache']),
    cacheEntries: gauge('parley_cache_entries', 'Entries in a cache', ['cache']),
    cacheLookups: counter('parley_cache_lookups_total', 'Cache lookups, by result: hit or miss', ['cache', 'result']),
    cacheEvictions: counter('parley_cache_evictions_total', 'Entries dropped to stay within the limit', ['cache']),
    redisUp: gauge('parley_redis_up', '1 when Valkey or Redis answers (absent with the queue in PostgreSQL)'),
    redisErrors: counter('parley_redis_command_errors_total', 'Commands that Valkey or Redis failed', ['kind']),
    redisMemory: gauge('parley_redis_memory_used_ratio', 'used_memory / maxmemory; without one QUEUE_MAX_MB is 0.7'),

    /** Runs before each scrape, to read values of the whole service. If it fails, the last values remain. */
    onScrape(refresh: () => Promise<void>) {
      refreshers.push(refresh);
    },
    /** Returns the metrics in Prometheus' text format. */
    async render(): Promise<string> {
      await Promise.allSettled(refreshers.map(refresh => refresh()));
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
