import type { Config } from '../platform/config.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { SecretKeys } from '../platform/secrets.ts';
import { stopInOrder } from '../platform/shutdown.ts';
import type { Spans } from '../platform/spans.ts';
import type { DatabaseUrl } from '../platform/store-urls.ts';
import type { SuspectHandlers } from '../queue/answer-jobs.ts';
import { type Consumer, openConsumer } from '../queue/consumer.ts';
import { encodeAnswer } from '../queue/isolation.ts';
import type { Handlers } from '../queue/jobs.ts';
import { quarantineEncoded } from '../storage/answers/recording.ts';
import { awaitSchema } from '../storage/database/migrate.ts';
import { openStorage } from '../storage/database/orm.ts';
import { keepProcessRow, type ProcessRow } from '../storage/database/processes.ts';
import { type BackgroundWork, startBackgroundWork } from './background.ts';
import { countRecorded, createRecordAnswers } from './handlers/answers.ts';
import { openSandbox } from './sandbox.ts';

export interface WorkerProcess {
  /** Whether the schema is compatible and jobs are being consumed; false while stopping. */
  isReady(): boolean;
  /** The reasons for `/readyz`, next to those of the process. */
  degraded(): string[];
  /** Lists the process in `processes` under its role, until it closes. */
  list(role: string): void;
  /** Finishes the jobs in progress, then closes the connections. False when a part did not stop in time. */
  close(): Promise<boolean>;
}

export interface WorkerOptions {
  databaseUrl: DatabaseUrl;
  secretKeys: SecretKeys;
  config: Config;
  log: Log;
  metrics: Metrics;
  spans?: Spans | undefined;
}

/** The worker process: consumes jobs and stores their answers. Waits for a compatible schema. */
export function openWorker({ databaseUrl, secretKeys, config, log, metrics, spans }: WorkerOptions): WorkerProcess {
  const relaxed = config.QUEUE_DURABILITY === 'relaxed';
  const storage = openStorage({
    url: databaseUrl,
    role: 'parley_worker',
    requireDurable: !relaxed,
    connections: Math.max(2, Math.ceil(config.DATABASE_POOL / 2)),
    log,
    metrics,
    spans,
  });
  const tenants = openStorage({ url: databaseUrl, role: 'parley_app', connections: 2, log }); // connects when needed
  const sandbox = openSandbox(databaseUrl, !relaxed);
  const handlers: Handlers = {
    'answers.record': createRecordAnswers({ storage, metrics, log, spans }),
    'answers.isolated': async answer => {
      const { flush, part_of, sealed } = answer;
      countRecorded({ metrics, log }, await sandbox.store({ flush, part_of, encoded: [sealed] }), [answer]);
    },
  };
  const suspects: SuspectHandlers = {
    async recordInSandbox(flush) {
      const { answers } = flush;
      const counts = await sandbox.store({ flush: flush.flush, encoded: answers.map(encodeAnswer) });
      countRecorded({ metrics, log }, counts, answers.slice(0, 1));
    },
    async quarantine(answer, reason) {
      countRecorded({ metrics, log }, await quarantineEncoded(storage, answer, reason), []);
    },
  };
  const closing = new AbortController();
  let consumer: Consumer | undefined;
  let row: ProcessRow | undefined;
  let background: BackgroundWork[] = [];
  let schemaFault: string | undefined;
  const report = (reason: string | undefined) => {
    schemaFault = reason;
  };
  const started = awaitSchema(databaseUrl, log, closing.signal, report).then(
    async () => {
      const deps = { storage, tenants, config, secretKeys, metrics, log, signal: closing.signal };
      background = startBackgroundWork(deps);
      const target = { databaseUrl, redisUrl: config.redis, relaxed };
      consumer = await openConsumer(target, handlers, suspects, { log, metrics, signal: closing.signal, spans });
      if (consumer) log.info('processing jobs');
    },
    error => {
      if (!closing.signal.aborted) throw error;
    },
  );
  return {
    isReady: () => consumer !== undefined && !closing.signal.aborted,
    degraded: () => (schemaFault ? [schemaFault] : []),
    list: role => {
      row = keepProcessRow(storage, role, log);
    },
    async close() {
      closing.abort();
      return stopInOrder(
        [
          { name: 'waiting for the schema', limitMs: 3000, run: () => started },
          { name: 'the queue', limitMs: 14_000, run: async () => consumer?.close() },
          { name: 'the process for isolated answers', limitMs: 2000, run: () => sandbox.close() },
          ...background,
          { name: 'the row in processes', run: async () => row?.close() },
          {
            name: 'the database',
            limitMs: 3000,
            run: () => Promise.all([storage.close(), tenants.close()]),
          },
        ],
        log,
      );
    },
  };
}
