import { z } from 'zod';
import { AcceptedAnswer } from '../domain/answers.ts';

/**
 * The queues of answers: the queue of the flushes, and the queue in which suspected answers are processed one by one.
 *
 * Only their jobs are in the registry of pending answers and count towards `QUEUE_MAX_JOBS`.
 */
export const QUEUES = { answers: 'answers', isolation: 'isolation' } as const;
export type AnswerQueue = (typeof QUEUES)[keyof typeof QUEUES];
/** A queue of answers, or the queue of a tenant job. */
export type QueueName = string;

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
 * The contract between the processes: the schema of every job with answers by name, compiled, because a worker checks
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

/**
 * The fields of every tenant job's payload, to be extended with the job's own fields.
 *
 * A payload is small: it names rows rather than containing them.
 */
export const TenantPayload = z.object({
  /** The payload's version. A worker leaves unknown versions to a newer worker. */
  v: z.literal(1),
  /** The tenant of the credential with which the job was requested. */
  tenant_id: z.uuid(),
  trace: Trace,
});
export type TenantPayload = z.infer<typeof TenantPayload>;

/** A type of job that carries no answers and works for one tenant. */
export interface TenantJob<Name extends string = string, Payload extends TenantPayload = TenantPayload> {
  name: Name;
  /** Its queue, which is not a queue of answers. Jobs of a resource may share one. */
  queue: QueueName;
  /** Payloads may only gain optional fields. */
  payload: z.ZodType<Payload>;
}

/** Every tenant job. The consumer, the metrics and the support bundle open the queues named here. */
export const TENANT_JOBS = [] as const satisfies readonly TenantJob[];

/** Returns the names of the queues of tenant jobs. */
export const tenantQueues = (jobs: readonly TenantJob[] = TENANT_JOBS): QueueName[] => [
  ...new Set(jobs.map(({ queue }) => queue)),
];

/** Returns the names of all queues. */
export const allQueues = (): QueueName[] => [...Object.values(QUEUES), ...tenantQueues()];

type HandlersOf<Job extends TenantJob> = {
  [Each in Job as Each['name']]: (payload: z.infer<Each['payload']>) => Promise<void>;
};

/** Requires a handler for every job at compile time. */
export type Handlers = { [N in JobName]: (payload: JobPayload<N>) => Promise<void> } & HandlersOf<
  (typeof TENANT_JOBS)[number]
>;
