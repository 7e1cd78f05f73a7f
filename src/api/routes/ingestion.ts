import { z } from 'zod';
import { Ingestion, presentQuarantined, QuarantinedAnswer, replayOf } from '../../domain/answers/ingestion.ts';
import { typeId } from '../../domain/ids.ts';
import { pageOf, pageQuery } from '../../domain/pages.ts';
import type { Pending } from '../../queue/pending.ts';
import {
  deleteQuarantined,
  findIngestionTotals,
  findQuarantined,
  listQuarantined,
} from '../../storage/upkeep/ingestion.ts';
import { operation, reply } from '../operation.ts';

const QuarantinePath = z.object({ id: typeId('quarantine') });

export const readIngestion = operation({
  id: 'readIngestion',
  method: 'get',
  path: '/v1/ingestion',
  tag: 'Ingestion',
  summary: 'Get the ingestion status of the tenant',
  description:
    'An answer whose 202 the caller has received is included in the next reply of any process. `accepted = stored + repeated + quarantined + queued`. Once `queued` is 0, lists and results contain every stored answer.',
  credentials: ['api-key', 'session'],
  right: 'answers:read',
  status: 200,
  response: Ingestion,
  problems: ['queue-unavailable', 'database-unavailable'],
  async handle({ caller }, { storage, queue, now }) {
    const pending = await queue.pending(caller.tenantId); // before the totals, so that no answer is missed
    const tenant = storage.forTenant(caller.tenantId);
    const { totals, recorded, firstCardAt } = await findIngestionTotals(tenant, pending.heads);
    const { queued, oldest } = withoutRecorded(pending, recorded);
    return {
      oldest_queued_age_ms: oldest ? Math.max(0, now().getTime() - oldest.getTime()) : null,
      queued,
      accepted: totals.stored + totals.repeated + totals.quarantined + queued,
      ...totals,
      first_card_at: firstCardAt,
    };
  },
});

/** Returns the queued answers without flushes that were recorded meanwhile. Only the oldest can have been. */
function withoutRecorded({ count, heads }: Pending, recorded: ReadonlySet<string>) {
  const left = heads.filter(({ flush }) => !recorded.has(flush));
  const counted = heads.filter(({ flush }) => recorded.has(flush)).reduce((sum, head) => sum + head.count, 0);
  const queued = Math.max(0, count - counted);
  return { queued, oldest: queued > 0 ? (left[0] ?? heads.at(-1))?.oldest : undefined };
}

export const listQuarantine = operation({
  id: 'listQuarantine',
  method: 'get',
  path: '/v1/quarantine',
  tag: 'Ingestion',
  summary: 'List quarantined answers, newest first',
  description: 'Answers that were accepted but could not be stored, with the reason. Replay or discard each of them.',
  credentials: ['api-key', 'session'],
  right: 'answers:write',
  query: z.object(pageQuery),
  status: 200,
  response: pageOf(QuarantinedAnswer),
  async handle({ caller, query, after, page }, { storage }) {
    return page(await listQuarantined(storage.forTenant(caller.tenantId), query.limit, after), presentQuarantined);
  },
});

export const readQuarantined = operation({
  id: 'readQuarantined',
  method: 'get',
  path: '/v1/quarantine/{id}',
  tag: 'Ingestion',
  summary: 'Get a quarantined answer',
  credentials: ['api-key', 'session'],
  right: 'answers:write',
  params: QuarantinePath,
  status: 200,
  response: QuarantinedAnswer,
  async handle({ caller, params }, { storage }) {
    return presentQuarantined(await findQuarantined(storage.forTenant(caller.tenantId), params.id));
  },
});

export const replayQuarantined = operation({
  id: 'replayQuarantined',
  method: 'post',
  path: '/v1/quarantine/{id}/replay',
  tag: 'Ingestion',
  summary: 'Replay a quarantined answer through the queue',
  description:
    'The answer leaves the quarantine once it is stored; otherwise it stays there. Every attempt is recorded in the audit log, including those that fail with `queue-unavailable`.',
  credentials: ['api-key', 'session'],
  right: 'answers:write',
  audit: 'quarantine.replayed',
  params: QuarantinePath,
  status: 200,
  response: QuarantinedAnswer,
  problems: ['queue-unavailable'],
  async handle({ caller, params }, { storage, queue }) {
    const row = await findQuarantined(storage.forTenant(caller.tenantId), params.id);
    const answer = replayOf(row);
    return reply({
      body: presentQuarantined(row),
      afterwards: () => queue.enqueue([answer], row.payload.length),
    });
  },
});

export const discardQuarantined = operation({
  id: 'discardQuarantined',
  method: 'delete',
  path: '/v1/quarantine/{id}',
  tag: 'Ingestion',
  summary: 'Permanently discard a quarantined answer',
  description: 'The answer is not stored and cannot be restored.',
  credentials: ['api-key', 'session'],
  right: 'answers:write',
  audit: 'quarantine.discarded',
  params: QuarantinePath,
  status: 204,
  async handle({ caller, params }, { storage }) {
    await deleteQuarantined(storage.forTenant(caller.tenantId), params.id);
  },
});

/** Every operation on ingestion. */
export const ingestionRoutes = [readIngestion, listQuarantine, readQuarantined, replayQuarantined, discardQuarantined];
