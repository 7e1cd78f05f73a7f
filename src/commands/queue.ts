import { connectQueue, type QueueConnection } from '../queue/connection.ts';
import { QUEUES } from '../queue/jobs.ts';
import type { CommandContext } from './command.ts';

const CONNECT_TIMEOUT_MS = 10_000;

/** Resolves when the store is connected. Rejects when it is unreachable for 10 s. */
async function connected({ redis }: QueueConnection): Promise<void> {
  if (!redis || redis.status === 'ready') return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const late = () => reject(new Error('the queue cannot be reached: see `parley doctor`'));
  const timer = setTimeout(late, CONNECT_TIMEOUT_MS);
  redis.once('ready', resolve);
  await promise.finally(() => clearTimeout(timer));
}

/** `queue retry-failed`: returns the jobs that were set aside to their queues. Prints their number by queue. */
export async function retryFailed({ databaseUrl, config, log }: CommandContext) {
  const connection = connectQueue({ databaseUrl, redisUrl: config.redis }, log);
  try {
    await connected(connection);
    const retried: Record<string, number> = {};
    for (const name of Object.values(QUEUES)) {
      const queue = connection.queue(name);
      retried[name] = await queue.getFailedCount();
      if (retried[name] > 0) await queue.retryJobs({ state: 'failed' });
    }
    return { retried };
  } finally {
    await connection.close();
  }
}
