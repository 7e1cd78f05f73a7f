import { type StoredDelivery, TEST_TYPE } from '../../domain/events/deliveries.ts';
import type { EventType } from '../../domain/events/events.ts';
import { MAX_REPLAYED, type StoredWebhook } from '../../domain/events/webhooks.ts';
import { newUuid } from '../../domain/ids.ts';
import { type Page, valuesIn } from '../../domain/pages.ts';
import { fieldFault, notFound, Problem } from '../../domain/problem.ts';
import { byTime, createList, readPage } from '../database/lists.ts';
import type { TenantStorage } from '../database/orm.ts';
import type { Transaction } from '../database/transaction.ts';
import { numberedEvents } from '../events/events.ts';

const COLUMNS = `id, event_id, deliveries.sequence::float8 as sequence, type, attempt, at, status, response_status,
  duration_ms, error, response`;
const RETURNED = COLUMNS.replace('deliveries.', '');

export interface DeliveryFilter {
  webhookId: string;
  /** One or several, separated by commas. */
  status?: string | undefined;
  /** Only of events after this number. */
  after?: number | undefined;
}

/** Returns a page of a webhook's attempts, newest first; those that are still to come are the first. */
export function listDeliveries(
  tenant: TenantStorage,
  { webhookId, status, after }: DeliveryFilter,
  limit: number,
  position: string[] | null,
): Promise<Page<StoredDelivery>> {
  const list = createList(tenant, 'deliveries', COLUMNS, byTime<StoredDelivery>('at', true));
  list.access.and('deliveries.webhook_id = $', webhookId);
  if (status) list.filters.and('status = any($::text[])', valuesIn(status));
  if (after !== undefined) list.filters.and('deliveries.sequence > $', after);
  return readPage(tenant, list, limit, position);
}

/** Returns an attempt of a webhook, past or still to come. */
export async function findDelivery(tenant: TenantStorage, webhookId: string, id: string): Promise<StoredDelivery> {
  const [row] = await tenant.query<StoredDelivery>(
    `select ${COLUMNS} from deliveries where tenant_id = $1 and webhook_id = $2 and id = $3`,
    [tenant.tenantId, webhookId, id],
  );
  if (!row) throw notFound('delivery');
  return row;
}

/** Locks an enabled webhook, and makes a worker look at it. Throws 404, or 409 for a disabled one. */
async function wake(tx: Transaction, tenantId: string, id: string, now: Date): Promise<void> {
  const [webhook] = await tx.query<Pick<StoredWebhook, 'status'>>(
    'select status from webhooks where tenant_id = $1 and id = $2 for update',
    [tenantId, id],
  );
  if (!webhook) throw notFound('webhook');
  if (webhook.status === 'disabled')
    throw new Problem('invalid-transition', 'The webhook is disabled. Enable it first, with PATCH.', {
      extra: { from: 'disabled', allowed: ['enabled'] },
    });
  await tx.query('update webhooks set due_at = $3 where tenant_id = $1 and id = $2', [tenantId, id, now]);
}

/** Adds the delivery of a test event, due now. */
export const insertTest = (tenant: TenantStorage, webhookId: string, now: Date): Promise<StoredDelivery> =>
  tenant.transaction(async tx => {
    await wake(tx, tenant.tenantId, webhookId, now);
    const rows = await tx.query<StoredDelivery>(
      `insert into deliveries (tenant_id, id, webhook_id, event_id, type, object_id, event_at, attempt, at, status)
       values ($1, $2, $3, $4, $5, $3, $6, 1, $6, 'waiting') returning ${RETURNED}`,
      [tenant.tenantId, newUuid(), webhookId, newUuid(), TEST_TYPE, now],
    );
    return rows[0] as StoredDelivery;
  });

/** Makes the event of a delivery due again, under its id, and returns the new delivery. */
export const replayDelivery = (
  tenant: TenantStorage,
  webhookId: string,
  deliveryId: string,
  now: Date,
): Promise<StoredDelivery> =>
  tenant.transaction(async tx => {
    const { tenantId } = tenant;
    await wake(tx, tenantId, webhookId, now);
    const [row] = await tx.query<{ event_id: string }>(
      'select event_id from deliveries where tenant_id = $1 and webhook_id = $2 and id = $3',
      [tenantId, webhookId, deliveryId],
    );
    if (!row) throw notFound('delivery');
    const [waiting] = await tx.query<StoredDelivery>(
      `update deliveries set at = $4, attempt = 1 where tenant_id = $1 and webhook_id = $2 and event_id = $3 and status = 'waiting'
       returning ${RETURNED}`,
      [tenantId, webhookId, row.event_id, now],
    );
    if (waiting) return waiting;
    const [added] = await tx.query<StoredDelivery>(
      `insert into deliveries (tenant_id, id, webhook_id, event_id, sequence, type, object_id, event_at, attempt, at, status)
       select tenant_id, $4, webhook_id, event_id, sequence, type, object_id, event_at, 1, $5, 'waiting'
       from deliveries where tenant_id = $1 and webhook_id = $2 and id = $3 returning ${RETURNED}`,
      [tenantId, webhookId, deliveryId, newUuid(), now],
    );
    return added as StoredDelivery;
  });

export interface ReplayRange {
  from: Date;
  to: Date;
  types: readonly EventType[];
}

/** The first batch of events that ends at or after a time. */
const batchAt = (columns: string, time: string): string =>
  `(select ${columns} from event_batches where tenant_id = $1 and written_until >= ${time} order by written_until, last limit 1)`;

/** The events of a range of time that the webhook has passed. Their numbers are in the order of their times. */
const PASSED = `passed as materialized (
  select events.tenant_id, events.id, events.type, object_id, written_at, numbered.sequence
  from ${numberedEvents(
    batchAt('last - cardinality(ids)', '$3'),
    `least(${batchAt('last', '$4')}, (select feed_position from webhooks where tenant_id = $1 and id = $2))`,
  )} join events using (tenant_id, id)
  where written_at >= $3 and written_at < $4 and numbered.type = any($5) limit $7
)`;

/** The waiting delivery of the event, or of one after it in the feed; none if no event from there on waits. */
const FIRST_WAITING = `from deliveries where tenant_id = $1 and webhook_id = $2 and status = 'waiting'
  and deliveries.sequence >= passed.sequence order by deliveries.sequence nulls first limit 1`;

/**
 * Makes the events of a range of time due now, also those that wait for another attempt, and returns their number.
 * Only events that the webhook has passed; the others are sent anyway. 422 beyond `MAX_REPLAYED`.
 *
 * Whether an event waits is read in the order of the feed, so that PostgreSQL does not take the index by time for it.
 */
export const replayRange = (
  tenant: TenantStorage,
  webhookId: string,
  { from, to, types }: ReplayRange,
  now: Date,
): Promise<number> =>
  tenant.transaction(async tx => {
    const { tenantId } = tenant;
    await wake(tx, tenantId, webhookId, now);
    const waiting = await tx.query(
      `with ${PASSED}, due as materialized (
         select passed.tenant_id, waiting.id from passed, lateral (select id, deliveries.sequence ${FIRST_WAITING}) as waiting
         where waiting.sequence = passed.sequence
       )
       update deliveries set at = $6, attempt = 1 from due
       where deliveries.tenant_id = due.tenant_id and deliveries.id = due.id returning 1`,
      [tenantId, webhookId, from, to, types, now, MAX_REPLAYED + 1],
    );
    const added = await tx.query(
      `with ${PASSED}
       insert into deliveries (tenant_id, id, webhook_id, event_id, sequence, type, object_id, event_at, attempt, at, status)
       select tenant_id, gen_random_uuid(), $2, id, sequence, type, object_id, written_at, 1, $6, 'waiting' from passed
       where sequence is distinct from (select deliveries.sequence ${FIRST_WAITING}) returning 1`,
      [tenantId, webhookId, from, to, types, now, MAX_REPLAYED + 1],
    );
    const count = waiting.length + added.length;
    if (count > MAX_REPLAYED)
      throw fieldFault('/from', 'out-of-range', `Must start a range with at most ${MAX_REPLAYED} events.`);
    return count;
  });
