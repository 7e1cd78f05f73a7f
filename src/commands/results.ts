import { toTypeId } from '../domain/ids.ts';
import { listTenantIds, type RebuildProgress, rebuildResults } from '../storage/answers/results.ts';
import { describeFailure, isOutage } from '../storage/database/errors.ts';
import type { CommandContext } from './command.ts';
import { tenantOf } from './tenant-option.ts';

const LOG_EVERY_MS = 2000;

/**
 * `results rebuild [--tenant T]`: corrects the results of one tenant or all, while answers may arrive.
 *
 * A tenant whose results cannot be rebuilt does not keep those of others, and is named at the end.
 *
 * Reports progress on standard error. It can be interrupted and repeated: correct days are only read.
 */
export async function rebuild(context: CommandContext, { tenant }: { tenant?: string | undefined }) {
  const { storage } = context;
  const tenantIds =
    tenant === undefined ? await listTenantIds(storage) : [(await tenantOf(context, { tenant })).tenantId];
  const sum = { tenants: tenantIds.length, questions: 0, corrected: 0 };
  const failed: string[] = [];
  for (const tenantId of tenantIds)
    try {
      const { questions, corrected } = await rebuildResults(storage, tenantId, logProgress(context, tenantId));
      sum.questions += questions;
      sum.corrected += corrected;
    } catch (error) {
      if (tenantIds.length === 1 || isOutage(error)) throw error;
      failed.push(toTypeId('tenant', tenantId));
      context.report(`${failed.at(-1)}: ${describeFailure(error).reason}`);
    }
  if (failed.length > 0)
    throw new Error(
      `the results of ${failed.length} of ${tenantIds.length} tenants were not rebuilt: ${failed.join(', ')}`,
    );
  return sum;
}

/** Reports progress at most every 2 s. */
function logProgress({ report }: CommandContext, tenantId: string): (progress: RebuildProgress) => void {
  let loggedAt = Date.now();
  return ({ question_id, questions, days, corrected }) => {
    if (Date.now() - loggedAt < LOG_EVERY_MS) return;
    loggedAt = Date.now();
    report(
      `${toTypeId('tenant', tenantId)}: ${questions.done} of ${questions.of} questions; ${toTypeId('question', question_id)}: ${days.done} of ${days.of} days; ${corrected} rows corrected`,
    );
  };
}
