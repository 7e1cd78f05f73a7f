import type { AcceptedAnswer } from '../../domain/answers/answers.ts';
import { Problem } from '../../domain/problem.ts';
import { createGroupCommit } from '../../platform/group-commit.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { Spans } from '../../platform/spans.ts';
import type { RecordAnswers } from '../../queue/jobs.ts';
import { POLL_SPACING_MS } from '../../queue/poll-spacing.ts';
import { type Flush, type RecordedCounts, recordAnswers, rehearse } from '../../storage/answers/recording.ts';
import { isDataFault, sqlState } from '../../storage/database/errors.ts';
import type { Storage } from '../../storage/database/orm.ts';

const MAX_BATCH_ANSWERS = 1000;
/**
 * Half of the jobs that a worker holds. If all of them were in one batch, the next batch would be empty.
 */
const MAX_BATCH_FLUSHES = 25;
const MAX_BATCHES_IN_FLIGHT = 2;

export interface RecordAnswersDeps {
  storage: Storage;
  metrics: Metrics;
  log: Log;
  spans?: Spans | undefined;
}

/** Returns a failure of the database that the answer did not cause as an outage, for any error. */
function asOutage(error: unknown): unknown {
  const state = sqlState(error);
  if (error instanceof Problem || !state || isDataFault(error)) return error;
  return new Problem('database-unavailable', `The database refuses writes (${state}): ${(error as Error).message}`, {
    cause: error,
  });
}

/** Records a flush on its own. Answers that the database refuses because of their content go to the quarantine. */
export async function recordFlush(storage: Storage, flush: Flush): Promise<RecordedCounts> {
  try {
    return await recordSeparated(storage, flush);
  } catch (error) {
    throw asOutage(error);
  }
}

async function recordSeparated(storage: Storage, flush: Flush): Promise<RecordedCounts> {
  try {
    return await recordAnswers(storage, [flush]);
  } catch (error) {
    if (!isDataFault(error)) throw error;
    return await recordAnswers(storage, [flush], await findUnstorable(storage, flush.answers));
  }
}

/**
 * Updates the metrics, and logs quarantined answers.
 *
 * `firsts` has the first answer of each flush; the rest of the flush arrived with it.
 */
export function countRecorded(
  { metrics, log }: Pick<RecordAnswersDeps, 'metrics' | 'log'>,
  counts: RecordedCounts,
  firsts: readonly { received_at: string }[],
): void {
  metrics.answersStored.inc(counts.stored);
  metrics.answersRepeated.inc(counts.repeated);
  metrics.answersQuarantined.inc(counts.quarantined);
  if (counts.quarantined > 0) log.warn({ answers: counts.quarantined }, 'answers were quarantined');
  const now = Date.now();
  for (const { received_at } of firsts) metrics.answerStoreDelay.observe((now - Date.parse(received_at)) / 1000);
}

const numberOfAnswers = (flushes: readonly Flush[]): number =>
  flushes.reduce((sum, flush) => sum + flush.answers.length, 0);

/**
 * Stores the answers of concurrent jobs in one transaction.
 *
 * Resolves after the commit. Unless the database is unreachable, a failed batch is split into its flushes. When the
 * database blames the data, a flush is split into halves until only the faulty answers are left. These go to the
 * quarantine, and all others are stored.
 */
export function createRecordAnswers({ storage, metrics, log, spans }: RecordAnswersDeps) {
  const count = (flushes: Flush[], counts: RecordedCounts) => {
    metrics.workerBatchRows.observe(numberOfAnswers(flushes));
    countRecorded(
      { metrics, log },
      counts,
      flushes.flatMap(flush => flush.answers.slice(0, 1)),
    );
  };

  const recordApart = async (flush: Flush) => count([flush], await recordFlush(storage, flush));

  /** Each flush has a separate outcome, so one bad answer never fails other jobs. */
  const flushAll = async (flushes: Flush[]): Promise<PromiseSettledResult<void>[]> => {
    spans?.setAttributes({
      'parley.flushes': flushes.length,
      'parley.answers': numberOfAnswers(flushes),
    });
    try {
      count(flushes, await recordAnswers(storage, flushes));
      return flushes.map(() => ({ status: 'fulfilled', value: undefined }));
    } catch (error) {
      if (asOutage(error) instanceof Problem) throw asOutage(error);
      const outcomes: PromiseSettledResult<void>[] = [];
      for (const flush of flushes) outcomes.push(...(await Promise.allSettled([recordApart(flush)])));
      return outcomes;
    }
  };

  const group = createGroupCommit<Flush, PromiseSettledResult<void>>({
    flush: flushAll,
    maxInFlight: MAX_BATCHES_IN_FLIGHT,
    spacingMs: POLL_SPACING_MS, // no caller waits, and a small transaction costs almost as much as a large one
    weigh: flush => [flush.answers.length, 1],
    maxWeights: [MAX_BATCH_ANSWERS, MAX_BATCH_FLUSHES],
    spans: spans?.groups({ name: 'store answers' }),
  });

  return async ({ flush, answers }: RecordAnswers): Promise<void> => {
    const outcome = await group.add({ flush, answers });
    if (outcome.status === 'rejected') throw outcome.reason;
  };
}

/** How often the database must refuse a single answer before it is quarantined: a refusal may be temporary. */
const REFUSALS = 3;

/**
 * Finds the answers that the database refuses because of their content, by halving. Returns each with the database's
 * message.
 */
async function findUnstorable(
  storage: Storage,
  answers: AcceptedAnswer[],
  refusals = 1,
): Promise<Map<AcceptedAnswer, string>> {
  try {
    await rehearse(storage, answers);
    return new Map();
  } catch (error) {
    if (!isDataFault(error)) throw error;
    const [first] = answers;
    if (first && answers.length === 1)
      return refusals < REFUSALS
        ? findUnstorable(storage, answers, refusals + 1)
        : new Map([[first, (error as Error).message]]);
    const middle = Math.ceil(answers.length / 2);
    const halves = [answers.slice(0, middle), answers.slice(middle)];
    const found = [];
    for (const half of halves) found.push(...(await findUnstorable(storage, half)));
    return new Map(found);
  }
}
