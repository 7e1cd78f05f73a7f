import { z } from 'zod';
import { AcceptedAnswer } from '../domain/answers.ts';

/** The queue of the flushes, and the one in which suspected answers are dealt with alone. */
export const QUEUES = { answers: 'answers', isolation: 'isolation' } as const;
export type QueueName = (typeof QUEUES)[keyof typeof QUEUES];

/** The span that a job continues, as headers of W3C Trace Context; only where traces are kept. */
const Trace = z.record(z.string(), z.string()).optional();

/** One flush of one API process: the answers that became durable together. */
export const RecordAnswers = z.object({
  /** The payload's version. A worker leaves versions that it does not know to a newer one. */
  v: z.literal(1),
  flush: z.uuid(),
  answers: z.array(AcceptedAnswer),
  trace: Trace,
});
export type RecordAnswers = z.infer<typeof RecordAnswers>;

/** One answer of a suspected flush. What is needed to account for it stands beside it, so that nobody has to open it. */
export const IsolatedAnswer = z.object({
  v: z.literal(1),
  /** The id of the answer's place in its flush: it is recorded under it, once. */
  flush: z.uuid(),
  part_of: z.uuid(),
  tenant_id: z.uuid(),
  answer_id: z.uuid(),
  received_at: z.string(),
  replay_of: z.uuid().optional(),
  /** The `AcceptedAnswer` as JSON in base64. */
  sealed: z.base64(),
  trace: Trace,
});
export type IsolatedAnswer = z.infer<typeof IsolatedAnswer>;

/**
 * The whole contract between the processes: every job by its name, compiled, since a worker checks every answer.
 *
 * Payloads only ever gain optional fields.
 */
export const JOBS = {
  'answers.record': z.compile(RecordAnswers, { strict: true }),
  'answers.isolated': z.compile(IsolatedAnswer, { strict: true }),
} as const;
export type JobName = keyof typeof JOBS;
export type JobPayload<N extends JobName> = z.infer<(typeof JOBS)[N]>;

/** A job without a handler does not compile. */
export type Handlers = { [N in JobName]: (payload: JobPayload<N>) => Promise<void> };
