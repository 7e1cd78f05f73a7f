import type { JobsOptions } from 'bullmq';
import type { AcceptedAnswer } from '../domain/answers.ts';
import { deriveUuid } from '../domain/ids.ts';
import type { IsolatedAnswer, RecordAnswers } from './jobs.ts';

/** How a job is kept and tried: it leaves the queue by success alone. */
export const KEPT_UNTIL_DONE = {
  attempts: 1_000_000_000,
  backoff: { type: 'outage' },
  removeOnComplete: true,
  removeOnFail: false,
} as const satisfies JobsOptions;

/** What of a job tells whether it is suspected; kept by the queue itself, so that every worker sees it. */
export interface JobRecord {
  /** How often a worker fell silent while it held the job. */
  stalledCounter: number;
  progress: unknown;
}

/** A job whose workers died or hung this often is suspected: once may be chance, or a neighbour's doing. */
const SUSPECT_STALLS = 2;

/** Whether a flush may be what its workers died or hung of. Once suspected, it remains so. */
export const isSuspected = ({ stalledCounter }: JobRecord): boolean => stalledCounter >= SUSPECT_STALLS;

/** Whether the answers of a flush are dealt with one by one. From then on it is never stored whole. */
export const isIsolated = ({ progress }: JobRecord): boolean =>
  (progress as { isolated?: boolean } | undefined)?.isolated === true;

/** What a suspected job's progress says from before its first answer is isolated on. */
export const ISOLATED = { isolated: true };

/** The id under which the answer at that place of a flush is isolated and recorded. */
export const isolatedAnswerId = (flush: string, index: number): string => deriveUuid(flush, String(index));

/** An answer as nobody opens it but the cell and the database: base64 of its JSON. */
export const encodeAnswer = (answer: AcceptedAnswer): string => Buffer.from(JSON.stringify(answer)).toString('base64');

/**
 * A flush as jobs of one answer each.
 *
 * Their ids follow from the flush's, so that isolating it twice makes the same jobs, and the same marks in the database.
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
