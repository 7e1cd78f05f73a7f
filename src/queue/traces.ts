import type { Attributes, Spans } from '../platform/spans.ts';
import type { HeldJob } from './connection.ts';
import type { QueueName } from './jobs.ts';

const about = (queue: QueueName, operation: 'send' | 'process'): Attributes => ({
  'messaging.system': 'bullmq',
  'messaging.destination.name': queue,
  'messaging.operation.name': operation,
  'messaging.operation.type': operation,
});

/** The span of a flush on its way into a queue. */
export const sending = (queue: QueueName) =>
  ({ name: `send ${queue}`, kind: 'producer', attributes: about(queue, 'send') }) as const;

/** `process` with a span for each try of a job, in the trace that the job names; as it is where there are no traces. */
export const traced = <T>(
  spans: Spans | undefined,
  queue: QueueName,
  process: (job: HeldJob) => Promise<T>,
): ((job: HeldJob) => Promise<T>) => {
  if (!spans) return process;
  const attributes = about(queue, 'process');
  return job => {
    const options = {
      name: `process ${queue}`,
      kind: 'consumer',
      carrier: job.data.trace ?? {},
      attributes: { ...attributes, 'messaging.message.id': job.id, 'parley.attempt': job.attemptsMade + 1 },
    } as const;
    return spans.within(options, () => process(job));
  };
};
