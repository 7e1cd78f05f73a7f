import type { Attributes, Spans } from '../platform/spans.ts';
import type { ActiveJob } from './connection.ts';
import type { QueueName } from './jobs.ts';

const messagingAttributes = (queue: QueueName, operation: 'send' | 'process'): Attributes => ({
  'messaging.system': 'bullmq',
  'messaging.destination.name': queue,
  'messaging.operation.name': operation,
  'messaging.operation.type': operation,
});

/** Span options for sending a flush to a queue. */
export const sendSpan = (queue: QueueName) =>
  ({ name: `send ${queue}`, kind: 'producer', attributes: messagingAttributes(queue, 'send') }) as const;

/**
 * Wraps `process` in a span for each attempt of a job, within the trace that the job names. Unchanged without tracing.
 */
export const traced = <T>(
  spans: Spans | undefined,
  queue: QueueName,
  process: (job: ActiveJob) => Promise<T>,
): ((job: ActiveJob) => Promise<T>) => {
  if (!spans) return process;
  const attributes = messagingAttributes(queue, 'process');
  return job => {
    const options = {
      name: `process ${queue}`,
      kind: 'consumer',
      carrier: job.data.trace ?? {},
      attributes: { ...attributes, 'messaging.message.id': job.id, 'parley.attempt': job.attemptsMade + 1 },
    } as const;
    return spans.inSpan(options, () => process(job));
  };
};
