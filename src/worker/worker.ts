import type { Config } from '../platform/config.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { stopInOrder } from '../platform/shutdown.ts';
import type { Spans } from '../platform/spans.ts';
import { type Consumer, openConsumer, type Suspects } from '../queue/consumer.ts';
import { seal } from '../queue/isolation.ts';
import type { Handlers } from '../queue/jobs.ts';
import { awaitSchema } from '../storage/migrate.ts';
import { openStorage } from '../storage/orm.ts';
import { quarantineSealed } from '../storage/recording.ts';
import { openCell } from './cell.ts';
import { countRecorded, createRecordAnswers } from './handlers/answers.ts';
import { keepRetention } from './retention.ts';
import { keepSearchIndex } from './search-index.ts';

export interface WorkerProcess {
  /** Whether the schema fits and jobs are being taken; not while it is stopping. */
  isReady(): boolean;
  /** Ends the jobs under way, then the connections. False when a part had to be given up. */
  close(): Promise<boolean>;
}

/** Process 2: takes jobs from the queue and stores what they carry. Waits for a schema that it can work on. */
export function openWorker(
  databaseUrl: string,
  config: Config,
  log: Log,
  metrics: Metrics,
  spans?: Spans,
): WorkerProcess {
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
  const tenants = openStorage({ url: databaseUrl, role: 'parley_app', connections: 1, log }); // connects when needed
  const cell = openCell(databaseUrl, !relaxed);
  const handlers: Handlers = {
    'answers.record': createRecordAnswers({ storage, metrics, log, spans }),
    'answers.isolated': async answer => {
      const { flush, part_of, sealed } = answer;
      countRecorded({ metrics, log }, await cell.store({ flush, part_of, sealed: [sealed] }), [answer]);
    },
  };
  const suspects: Suspects = {
    async recordAlone(flush) {
      const { answers } = flush;
      const counts = await cell.store({ flush: flush.flush, sealed: answers.map(seal) });
      countRecorded({ metrics, log }, counts, answers.slice(0, 1));
    },
    async giveUp(answer, reason) {
      countRecorded({ metrics, log }, await quarantineSealed(storage, answer, reason), []);
    },
  };
  const closing = new AbortController();
  let consumer: Consumer | undefined;
  let retention: Promise<void> | undefined;
  let searchIndex: Promise<void> | undefined;
  const started = awaitSchema(databaseUrl, log, closing.signal).then(
    async () => {
      retention = keepRetention({ storage, metrics, log, signal: closing.signal });
      searchIndex = keepSearchIndex({ storage: tenants, log, signal: closing.signal });
      const target = { databaseUrl, redisUrl: config.REDIS_URL, relaxed };
      consumer = await openConsumer(target, handlers, suspects, { log, metrics, signal: closing.signal, spans });
      if (consumer) log.info('processing jobs');
    },
    error => {
      if (!closing.signal.aborted) throw error;
    },
  );
  return {
    isReady: () => consumer !== undefined && !closing.signal.aborted,
    async close() {
      closing.abort();
      return stopInOrder(
        [
          { name: 'waiting for the schema', limitMs: 3000, run: () => started },
          { name: 'the queue', limitMs: 14_000, run: async () => consumer?.close() },
          { name: 'the process for isolated answers', limitMs: 2000, run: () => cell.close() },
          { name: 'retention', limitMs: 3000, run: async () => retention },
          { name: 'search indexing', limitMs: 3000, run: async () => searchIndex },
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
