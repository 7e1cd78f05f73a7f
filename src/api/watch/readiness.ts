import type { Log } from '../../platform/log.ts';
import type { Health } from '../../platform/metrics-server.ts';
import type { OpenFiles } from '../../platform/open-files.ts';
import type { Producer } from '../../queue/producer.ts';
import { awaitSchema } from '../../storage/migrate.ts';
import type { LastingKeyRing } from '../credentials/lasting-keys.ts';
import type { DatabaseDurability } from './database-durability.ts';
import type { IngestionWatch } from './ingestion-watch.ts';

/** What the process can do at the moment. */
export interface Readiness {
  /** Whether database and queue were both reached once, the schema fits, and the secret keys do. */
  isStarted(): boolean;
  /** What `/readyz` reports. A later loss is `degraded`: reads live without the queue, intake without the database. */
  health(): Health;
  close(): Promise<void>;
}

interface ReadinessDeps {
  databaseUrl: string;
  durability: DatabaseDurability;
  lastingKeys: LastingKeyRing;
  queue: Producer;
  ingestion: IngestionWatch;
  files: OpenFiles;
  isStopping: () => boolean;
  log: Log;
}

const LOOK_EVERY_MS = 1000;

/** Watches database and queue from the start on; nothing that is away keeps the process from starting. */
export function watchReadiness(deps: ReadinessDeps): Readiness {
  const { databaseUrl, durability, lastingKeys, queue, ingestion, files, isStopping, log } = deps;
  const closing = new AbortController();
  let isPrepared = false;
  let queueReached = false;
  let databaseFault: string | undefined;
  let timer: NodeJS.Timeout | undefined;

  const started = awaitSchema(databaseUrl, log, closing.signal)
    .then(() => lastingKeys.load(closing.signal))
    .then(
      () => {
        isPrepared = true;
      },
      error => {
        if (!closing.signal.aborted) log.error({ err: error }, 'waiting for the schema failed');
      },
    );

  const look = async () => {
    queueReached ||= queue.health().reachable;
    if (isPrepared) {
      try {
        await durability.look();
        databaseFault = undefined;
      } catch (error) {
        databaseFault = `database: ${(error as Error).message}`;
      }
    }
    if (!closing.signal.aborted) timer = setTimeout(look, isPrepared && queueReached ? LOOK_EVERY_MS : 50);
  };
  void look();

  const isStarted = () => isPrepared && queueReached;
  const degraded = () => [
    ...(databaseFault ? [databaseFault] : []),
    ...queue.health().reasons.map(reason => `queue: ${reason}`),
    ...queue.health().relaxed.map(reason => `queue (relaxed): ${reason}`),
    ...ingestion.degraded(),
    ...files.degraded(),
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
