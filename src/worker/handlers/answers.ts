import type { AcceptedAnswer } from '../../domain/answers.ts';
import { createGroupCommit } from '../../platform/group-commit.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { RecordAnswers } from '../../queue/jobs.ts';
import { type Flush, recordAnswers, rehearse } from '../../storage/answers.ts';
import { isDataFault } from '../../storage/errors.ts';
import type { Storage } from '../../storage/orm.ts';

const MAX_BATCH_ANSWERS = 1000;
const MAX_BATCHES_IN_FLIGHT = 2;

export interface RecordAnswersDeps {
  storage: Storage;
  metrics: Metrics;
  log: Log;
}

/**
 * Stores the answers of a job together with those of the jobs beside it, in one transaction.
 *
 * Resolves after the commit. When the database blames the data, the batch falls apart into its flushes, and a flush
 * into halves, until only the answers at fault are left; those go to the quarantine and every other is stored.
 */
export function createRecordAnswers({ storage, metrics, log }: RecordAnswersDeps) {
  const record = async (flushes: Flush[], unstorable?: ReadonlyMap<AcceptedAnswer, string>): Promise<void> => {
    const counts = await recordAnswers(storage, flushes, unstorable);
    metrics.answersStored.inc(counts.stored);
    metrics.answersRepeated.inc(counts.repeated);
    metrics.answersQuarantined.inc(counts.quarantined);
    if (counts.quarantined > 0) log.warn({ answers: counts.quarantined }, 'answers went to the quarantine');
    const answers = flushes.flatMap(flush => flush.answers);
    metrics.workerBatchRows.observe(answers.length);
    const now = Date.now();
    for (const answer of answers) metrics.answerStoreDelay.observe((now - Date.parse(answer.received_at)) / 1000);
  };

  const recordApart = async (flush: Flush): Promise<void> => {
    try {
      await record([flush]);
    } catch (error) {
      if (!isDataFault(error)) throw error;
      await record([flush], await findUnstorable(storage, flush.answers));
    }
  };

  /** Each flush has its own outcome, so that one bad answer never fails the jobs beside it. */
  const flushAll = async (flushes: Flush[]): Promise<PromiseSettledResult<void>[]> => {
    try {
      await record(flushes);
      return flushes.map(() => ({ status: 'fulfilled', value: undefined }));
    } catch (error) {
      if (!isDataFault(error)) throw error;
      const outcomes: PromiseSettledResult<void>[] = [];
      for (const flush of flushes) outcomes.push(...(await Promise.allSettled([recordApart(flush)])));
      return outcomes;
    }
  };

  const group = createGroupCommit<Flush, PromiseSettledResult<void>>({
    flush: flushAll,
    maxInFlight: MAX_BATCHES_IN_FLIGHT,
    weigh: flush => [flush.answers.length],
    maxWeights: [MAX_BATCH_ANSWERS],
  });

  return async ({ flush, answers }: RecordAnswers): Promise<void> => {
    const outcome = await group.add({ flush, answers });
    if (outcome.status === 'rejected') throw outcome.reason;
  };
}

/** The answers that the database refuses for what they are, with its reason, found by halving. */
async function findUnstorable(storage: Storage, answers: AcceptedAnswer[]): Promise<Map<AcceptedAnswer, string>> {
  try {
    await rehearse(storage, answers);
    return new Map();
  } catch (error) {
    if (!isDataFault(error)) throw error;
    const [first] = answers;
    if (first && answers.length === 1) return new Map([[first, (error as Error).message]]);
    const middle = Math.ceil(answers.length / 2);
    const halves = [answers.slice(0, middle), answers.slice(middle)];
    const found = [];
    for (const half of halves) found.push(...(await findUnstorable(storage, half)));
    return new Map(found);
  }
}
