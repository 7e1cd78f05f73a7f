import type { JobsOptions } from 'bullmq';
import type { AcceptedAnswer } from '../domain/answers/answers.ts';
import { deriveUuid } from '../domain/ids.ts';
import type { IsolatedAnswer, RecordAnswers } from './jobs.ts';

/** Job options: a job leaves the queue only by success. */
export const KEPT_UNTIL_DONE = {
  attempts: 1_000_000_000,
  backoff: { type: 'outage' },
  removeOnComplete: true,
  removeOnFail: false,
} as const satisfies JobsOptions;

/** The fields of a job that determine whether it is suspected. The queue stores them, so every worker sees them. */
export interface JobRecord {
  /** How often a worker stopped responding while it held the job. */
  stalledCounter: number;
  progress: unknown;
}

/**
 * A job is suspected after its workers died or hung this often. A single time may be chance, or another job's fault.
 */
const SUSPECT_STALLS = 2;

/** Whether a flush may have killed or hung its workers. Once suspected, it remains so. */
export const isSuspected = ({ stalledCounter }: JobRecord): boolean => stalledCounter >= SUSPECT_STALLS;

/** Whether the answers of a flush are processed one by one. From then on it is never stored whole. */
export const isIsolated = ({ progress }: JobRecord): boolean =>
  (progress as { isolated?: boolean } | undefined)?.isolated === true;

/** The progress of a suspected job, set before its first answer is isolated. */
export const ISOLATED = { isolated: true };

/** The id under which one answer of a flush is isolated and recorded. */
export const isolatedAnswerId = (flush: string, index: number): string => deriveUuid(flush, String(index));

/** An answer as base64 of its JSON, decoded only by the sandbox process and the database. */
export const encodeAnswer = (answer: AcceptedAnswer): string => Buffer.from(JSON.stringify(answer)).toString('base64');

/**
 * Splits a flush into jobs of one answer each.
 *
 * Their ids are derived from the flush's, so isolating it twice yields the same jobs and the same marks in the
 * database.
 */
export const isolate = ({ flush, answers, trace }: RecordAnswers): IsolatedAnswer[] =>
  answers.map((answer, index) => ({
    v: 1,
    flush: isolatedAnswerId(flush, index),
    part_of: flush,
    tenant_id: answer.tenant_id,
    answer_id: answer.id,
    received_at: answer.received_at,
    ...(answer.replay_of ? { replay_of: answer.replay_of } : {}),
    sealed: encodeAnswer(answer),
    ...(trace ? { trace } : {}),
  }));
