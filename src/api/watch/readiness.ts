import type { Log } from '../../platform/log.ts';
import type { Health } from '../../platform/metrics-server.ts';
import type { DatabaseUrl } from '../../platform/store-urls.ts';
import type { Producer } from '../../queue/producer.ts';
import { awaitSchema } from '../../storage/database/migrate.ts';
import type { DerivedKeys } from '../credentials/derived-keys.ts';
import type { DatabaseDurability } from './database-durability.ts';
import type { IngestionWatch } from './ingestion-watch.ts';

/** The current state of the process. */
export interface Readiness {
  /** Whether database and queue have both been reached, and schema and secret keys match. */
  isStarted(): boolean;
  /**
   * The state for `/readyz`. A later outage is `degraded`: reads work without the queue, intake without the database.
   */
  health(): Health;
  close(): Promise<void>;
}

interface ReadinessDeps {
  databaseUrl: DatabaseUrl;
  durability: DatabaseDurability;
  derivedKeys: DerivedKeys;
  queue: Producer;
  ingestion: IngestionWatch;
  isStopping: () => boolean;
  log: Log;
}

const CHECK_EVERY_MS = 1000;

/** Watches database and queue from startup. An outage does not prevent the process from starting. */
export function watchReadiness(deps: ReadinessDeps): Readiness {
  const { databaseUrl, durability, derivedKeys, queue, ingestion, isStopping, log } = deps;
  const closing = new AbortController();
  let isPrepared = false;
  let queueReached = false;
  let databaseFault: string | undefined;
  let schemaFault: string | undefined;
  let timer: NodeJS.Timeout | undefined;

  const started = awaitSchema(databaseUrl, log, closing.signal, reason => {
    schemaFault = reason;
  })
    .then(() => derivedKeys.load(closing.signal))
    .then(
      () => {
        isPrepared = true;
      },
      error => {
        if (!closing.signal.aborted) log.error({ err: error }, 'waiting for the schema failed');
      },
    );

  const check = async () => {
    queueReached ||= queue.health().reachable;
    if (isPrepared) {
      try {
        await durability.refresh();
        databaseFault = undefined;
      } catch (error) {
        databaseFault = `database: ${(error as Error).message}`;
      }
    }
    if (!closing.signal.aborted) timer = setTimeout(check, isPrepared && queueReached ? CHECK_EVERY_MS : 50);
  };
  void check();

  const isStarted = () => isPrepared && queueReached;
  const degraded = () => [
    ...(schemaFault ? [schemaFault] : []),
    ...(databaseFault ? [databaseFault] : []),
    ...queue.health().reasons.map(reason => `queue: ${reason}`),
    ...queue.health().relaxed.map(reason => `queue (relaxed): ${reason}`),
    ...ingestion.degraded(),
  ];

  return {
    isStarted,
    health() {
      if (isStopping()) return { status: 'stopping', degraded: [] };
      const lost = degraded();
      if (!isStarted()) return { status: 'starting', degraded: lost };
      return { status: lost.length > 0 ? 'degraded' : 'ok', degraded: lost };
    },
    async close() {
      closing.abort();
      clearTimeout(timer);
      await started;
    },
  };
}
