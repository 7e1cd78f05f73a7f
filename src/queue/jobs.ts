import { z } from 'zod';
import { AcceptedAnswer } from '../domain/answers/answers.ts';

/** The queue of the flushes, and the queue in which suspected answers are processed one by one. */
export const QUEUES = { answers: 'answers', isolation: 'isolation' } as const;
export type QueueName = (typeof QUEUES)[keyof typeof QUEUES];

/** The span that a job continues, as W3C Trace Context headers; only with tracing. */
const Trace = z.record(z.string(), z.string()).optional();

/** One flush of one API process: the answers that became durable together. */
export const RecordAnswers = z.object({
  /** The payload's version. A worker leaves unknown versions to a newer worker. */
  v: z.literal(1),
  flush: z.uuid(),
  answers: z.array(AcceptedAnswer),
  trace: Trace,
});
export type RecordAnswers = z.infer<typeof RecordAnswers>;

/**
 * One answer of a suspected flush. The fields needed for accounting are outside the encoded answer, so that it need not
 * be decoded.
 */
export const IsolatedAnswer = z.object({
  v: z.literal(1),
  /** The id of the answer within its flush. It is recorded once under this id. */
  flush: z.uuid(),
  part_of: z.uuid(),
  tenant_id: z.uuid(),
  answer_id: z.uuid(),
  received_at: z.string(),
  replay_of: z.uuid().optional(),
  /** The `AcceptedAnswer` as base64 of its JSON. Encoded, not encrypted. */
  sealed: z.base64(),
  trace: Trace,
});
export type IsolatedAnswer = z.infer<typeof IsolatedAnswer>;

/**
 * The contract between the processes: the schema of every job by name, compiled, because a worker checks
 * every answer.
 *
 * Payloads may only gain optional fields.
 */
export const JOBS = {
  'answers.record': z.compile(RecordAnswers, { strict: true }),
  'answers.isolated': z.compile(IsolatedAnswer, { strict: true }),
} as const;
export type JobName = keyof typeof JOBS;
export type JobPayload<N extends JobName> = z.infer<(typeof JOBS)[N]>;

/** Requires a handler for every job at compile time. */
export type Handlers = { [N in JobName]: (payload: JobPayload<N>) => Promise<void> };
