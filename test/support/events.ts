import type { Storage } from '../../src/storage/database/orm.ts';
import { numberEvents } from '../../src/storage/events/events.ts';
import type { TestDatabase } from './database.ts';
import { waitFor } from './wait.ts';

/** Numbers all events. Those that were written after a write that is still open have to wait for it. */
export const numberAll = (worker: Storage): Promise<true> => waitFor(async () => !(await numberEvents(worker)).remain);

/** Deletes the first events of a tenant's feed, up to a number, as retention does. */
export async function expireEvents(database: TestDatabase, tenantId: string, upTo: number): Promise<void> {
  await database.query(
    `delete from events using event_batches as batches
     where batches.tenant_id = $1 and events.tenant_id = $1
       and events.id = any(ids[:least(cardinality(ids), $2 - last + cardinality(ids))::int])`,
    [tenantId, upTo],
  );
  await database.query('delete from event_batches where tenant_id = $1 and last <= $2', [tenantId, upTo]);
  await database.query(
    `update event_batches set ids = ids[$2 - last + cardinality(ids) + 1:], types = types[$2 - last + cardinality(ids) + 1:]
     where tenant_id = $1 and last - cardinality(ids) < $2`,
    [tenantId, upTo],
  );
}
