import { z } from 'zod';
import { AcceptedAnswer } from '../domain/answers.ts';

/** One flush of one API process: the answers that became durable together. */
export const RecordAnswers = z.object({
  /** The payload's version. A worker leaves versions that it does not know to a newer one. */
  v: z.literal(1),
  flush: z.uuid(),
  answers: z.array(AcceptedAnswer),
});
export type RecordAnswers = z.infer<typeof RecordAnswers>;

/** The whole contract between the processes: every job by its name. Payloads only ever gain optional fields. */
export const JOBS = { 'answers.record': RecordAnswers } as const;
export type JobName = keyof typeof JOBS;
export type JobPayload<N extends JobName> = z.infer<(typeof JOBS)[N]>;

/** A job without a handler does not compile. */
export type Handlers = { [N in JobName]: (payload: JobPayload<N>) => Promise<void> };
