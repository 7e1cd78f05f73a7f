import type { Storage } from '../database/orm.ts';
import { NEXT_WRITTEN_AT } from '../events/events.ts';

/** Returns for how long the webhooks whose receivers work have had something to deliver, at most, in seconds. */
export async function readWebhookLag(storage: Storage): Promise<number> {
  const [row] = await storage.query<{ lag: number | null }>(
    `select extract(epoch from clock_timestamp() - min(since))::float8 as lag from (
       select least(
         (select min(at) from deliveries where deliveries.tenant_id = webhooks.tenant_id and webhook_id = webhooks.id
            and deliveries.status = 'waiting'),
         ${NEXT_WRITTEN_AT}
       ) as since
       from webhooks where status = 'enabled' and failures = 0
     ) as behind`,
  );
  return Math.max(0, row?.lag ?? 0);
}

/** The webhooks of all tenants, counted. */
export interface WebhookCounts {
  enabled: number;
  /** Enabled ones that fail without a response, since before any webhook had one. Not those whose URL is refused. */
  unreachable: number;
}

/** Counts the webhooks. If all of those that fail are unreachable, the way of this installation to the outside is blocked. */
export async function countWebhooks(storage: Storage): Promise<WebhookCounts> {
  const [counts] = await storage.query<WebhookCounts>(
    `select count(*)::int as enabled, count(*) filter (
       where not exists (select from deliveries where at >= failing_since and response_status is not null)
       and exists (select from deliveries where deliveries.tenant_id = webhooks.tenant_id and webhook_id = webhooks.id
         and at >= failing_since and deliveries.status = 'failed' and error not like 'url-not-allowed%')
     )::int as unreachable
     from webhooks where status = 'enabled'`,
  );
  return counts ?? { enabled: 0, unreachable: 0 };
}
