import { isDeepStrictEqual } from 'node:util';
import { HOUR_MS } from '../../domain/durations.ts';
import { BY_SYSTEM } from '../../domain/events/events.ts';
import {
  type DisabledReason,
  type Lag,
  MAX_WEBHOOKS,
  type NewWebhook,
  type StoredWebhook,
  type WebhookPatch,
} from '../../domain/events/webhooks.ts';
import { newUuid, toTypeId } from '../../domain/ids.ts';
import type { Page } from '../../domain/pages.ts';
import { notFound, Problem } from '../../domain/problem.ts';
import { hostFromUrl } from '../../domain/team/audit-log.ts';
import { randomSecretBytes, type Seals } from '../../platform/secrets.ts';
import { byTime, createList, readPage } from '../database/lists.ts';
import type { Storage, TenantStorage } from '../database/orm.ts';
import type { Transaction } from '../database/transaction.ts';
import { NEXT_WRITTEN_AT, writeEvents } from '../events/events.ts';
import { insertAuditEntry, SYSTEM_ACTOR } from '../team/audit-log.ts';
import { listAdminEmails } from '../team/members.ts';
import { requireRoom } from '../tenants/tenants.ts';

const COLUMNS = `id, url, description, event_types, payload, ordered, status, disabled_reason, previous_secret_until,
  created_at, updated_at`;

/** Maximum number of waiting deliveries that are counted. A receiver that refuses some events may have any number. */
const COUNTED_WAITING = 10_000;
const WAITING =
  "from deliveries where tenant_id = webhooks.tenant_id and webhook_id = webhooks.id and status = 'waiting'";

/** Number of waiting deliveries of which the oldest is found: tests, which have no number in the feed, and the first events. */
const FIRST_WAITING = 64;

/** The lag of a webhook: the numbers of events, and the time of the oldest that is not delivered. */
const LAG = `feed_position::float8 as position,
  (select last from event_sequences where tenant_id = webhooks.tenant_id)::float8 as last,
  (select count(*) from (select ${WAITING} limit ${COUNTED_WAITING}) as counted)::int as waiting,
  least(
    (select min(event_at) from (
       select event_at ${WAITING} order by sequence nulls first limit ${FIRST_WAITING}
     ) as first),
    ${NEXT_WRITTEN_AT}
  ) as behind_since`;

/** A webhook with its progress. */
export interface WebhookRow extends StoredWebhook {
  position: number;
  last: number | null;
  waiting: number;
  behind_since: Date | null;
}

/** Returns the backlog of a webhook. */
export const lagOf = ({ position, last, waiting, behind_since }: WebhookRow, now: Date): Lag => ({
  events: Math.max(0, (last ?? 0) - position) + waiting,
  seconds: behind_since ? Math.max(0, Math.round((now.getTime() - behind_since.getTime()) / 1000)) : 0,
});

/** Returns the tenant's webhooks, oldest first. */
export const listWebhooks = (tenant: TenantStorage, limit: number, after: string[] | null): Promise<Page<WebhookRow>> =>
  readPage(
    tenant,
    createList(tenant, 'webhooks', `${COLUMNS}, ${LAG}`, byTime<WebhookRow>('created_at', false)),
    limit,
    after,
  );

/** Returns a webhook, or throws 404. */
export async function findWebhook(tenant: Pick<TenantStorage, 'query' | 'tenantId'>, id: string): Promise<WebhookRow> {
  const [row] = await tenant.query<WebhookRow>(
    `select ${COLUMNS}, ${LAG} from webhooks where tenant_id = $1 and id = $2`,
    [tenant.tenantId, id],
  );
  if (!row) throw notFound('webhook');
  return row;
}

/** A webhook with a secret that was just made. */
export interface IssuedWebhook {
  row: WebhookRow;
  secret: string;
}

const newSecret = (): string => `whsec_${randomSecretBytes().toString('base64')}`;

/** Inserts a webhook, which gets the events from now on. Throws 409 beyond the maximum of a tenant. */
export const insertWebhook = (
  tenant: TenantStorage,
  seals: Seals,
  webhook: NewWebhook,
  now: Date,
): Promise<IssuedWebhook> =>
  tenant.transaction(async tx => {
    const { tenantId } = tenant;
    const detail = `A tenant can have at most ${MAX_WEBHOOKS} webhooks.`;
    await requireRoom(tx, tenantId, { table: 'webhooks', most: MAX_WEBHOOKS, detail });
    const [id, secret] = [newUuid(), newSecret()];
    const { url, description = '', event_types, payload = 'full', ordered = false } = webhook;
    await tx.query(
      `insert into webhooks (tenant_id, id, url, description, event_types, payload, ordered, status, secret_sealed,
         feed_position, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, $7, 'enabled', $8,
         coalesce((select last from event_sequences where tenant_id = $1), 0), $9, $9)`,
      [tenantId, id, url, description, event_types, payload, ordered, seals.seal(secret, id), now],
    );
    return { row: await findWebhook({ tenantId, query: tx.query }, id), secret };
  });

/** Locks a webhook for a change, and returns it, or throws 404. */
async function lockWebhook(tx: Transaction, tenantId: string, id: string): Promise<WebhookRow> {
  await tx.query('select from webhooks where tenant_id = $1 and id = $2 for update', [tenantId, id]);
  return findWebhook({ tenantId, query: tx.query }, id);
}

/** Returns a webhook with the fields of a patch. */
const merge = (before: WebhookRow, patch: WebhookPatch): StoredWebhook => {
  const { resume, ...fields } = patch;
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  return { ...before, ...given };
};

/**
 * Changes a webhook. `check` receives the present one, and throws to prevent the change.
 *
 * One that is enabled again, gets another URL or loses types is tried at once. It continues where it stood, or, with
 * `resume` "now", with the next event. Waiting events of types that it no longer has are not sent any more.
 */
export const updateWebhook = (
  tenant: TenantStorage,
  id: string,
  patch: WebhookPatch,
  now: Date,
  check: (before: WebhookRow) => void,
): Promise<WebhookRow> =>
  tenant.transaction(async tx => {
    const { tenantId } = tenant;
    const before = await lockWebhook(tx, tenantId, id);
    check(before);
    const after = merge(before, patch);
    if (isDeepStrictEqual(after, before)) return before;
    const { status } = after;
    const reason = status === 'enabled' ? null : (before.disabled_reason ?? 'manual');
    await tx.query(
      `update webhooks set url = $3, description = $4, event_types = $5, payload = $6, ordered = $7, status = $8,
         disabled_reason = $9, updated_at = $10 where tenant_id = $1 and id = $2`,
      [
        ...[tenantId, id, after.url, after.description, after.event_types, after.payload, after.ordered],
        ...[status, reason, now],
      ],
    );
    const isEnabledAgain = status === 'enabled' && before.status === 'disabled';
    const dropped = before.event_types.filter(type => !after.event_types.includes(type));
    if (dropped.length > 0) await deleteWaiting(tx, tenantId, id, dropped);
    if (isEnabledAgain && patch.resume === 'now') await skipWaiting(tx, tenantId, id);
    if (isEnabledAgain || after.url !== before.url || dropped.length > 0) await tryAgain(tx, tenantId, id, now);
    return findWebhook({ tenantId, query: tx.query }, id);
  });

/** Deletes the waiting deliveries of some types, or of all. */
const deleteWaiting = (tx: Transaction, tenantId: string, id: string, types: readonly string[] | null = null) =>
  tx.query(
    `delete from deliveries where tenant_id = $1 and webhook_id = $2 and status = 'waiting'
     and ($3::text[] is null or type = any($3))`,
    [tenantId, id, types],
  );

async function skipWaiting(tx: Transaction, tenantId: string, id: string): Promise<void> {
  await deleteWaiting(tx, tenantId, id);
  await tx.query(
    `update webhooks set feed_position = coalesce((select last from event_sequences where tenant_id = $1), 0)
     where tenant_id = $1 and id = $2`,
    [tenantId, id],
  );
}

/** Maximum number of waiting deliveries that a change of a webhook makes due. More could exceed the statement timeout. */
const TRIED_AGAIN = 10_000;

/** Makes waiting deliveries due now, the soonest first. Beyond `TRIED_AGAIN` they keep their time. */
async function tryAgain(tx: Transaction, tenantId: string, id: string, now: Date): Promise<void> {
  await tx.query(
    `with soonest as materialized (
       select id from deliveries where tenant_id = $1 and webhook_id = $2 and status = 'waiting' and at > $3
       order by at limit $4
     )
     update deliveries set at = $3 from soonest where deliveries.tenant_id = $1 and deliveries.id = soonest.id`,
    [tenantId, id, now, TRIED_AGAIN],
  );
  await tx.query(
    'update webhooks set failures = 0, failing_since = null, due_at = $3 where tenant_id = $1 and id = $2',
    [tenantId, id, now],
  );
}

/** Deletes a webhook and its backlog. `check` throws to prevent it. */
export const deleteWebhook = (
  tenant: TenantStorage,
  id: string,
  check: (row: WebhookRow) => void,
): Promise<WebhookRow> =>
  tenant.transaction(async tx => {
    const { tenantId } = tenant;
    const row = await lockWebhook(tx, tenantId, id);
    check(row);
    await deleteWaiting(tx, tenantId, id);
    await tx.query('delete from webhooks where tenant_id = $1 and id = $2', [tenantId, id]);
    return row;
  });

/** When a secret is rotated, and for how long the old one stays valid. `check` throws to prevent it. */
interface Rotation {
  overlapHours: number;
  now: Date;
  check: (before: WebhookRow) => void;
}

/** Sets a new secret. Requests are also signed with the previous one for the overlap. 409 while a rotation runs. */
export const rotateWebhookSecret = (
  tenant: TenantStorage,
  seals: Seals,
  id: string,
  { overlapHours, now, check }: Rotation,
): Promise<IssuedWebhook> =>
  tenant.transaction(async tx => {
    const { tenantId } = tenant;
    const before = await lockWebhook(tx, tenantId, id);
    check(before);
    const until = before.previous_secret_until;
    if (until && until > now)
      throw new Problem(
        'rotation-running',
        `The secret was rotated before, and the previous one is valid until ${until.toISOString()}.`,
      );
    const secret = newSecret();
    await tx.query(
      `update webhooks set secret_sealed = $3, previous_secret_sealed = secret_sealed, previous_secret_until = $4,
         updated_at = $5 where tenant_id = $1 and id = $2`,
      [tenantId, id, seals.seal(secret, id), new Date(now.getTime() + overlapHours * HOUR_MS), now],
    );
    return { row: await findWebhook({ tenantId, query: tx.query }, id), secret };
  });

/**
 * Disables a webhook on behalf of Parley, with an event and an entry in the audit log. `notify` runs in the same transaction, with
 * the addresses of the tenant's owners and admins. False if the webhook was disabled already, or deleted.
 */
export const disableWebhook = (
  storage: Storage,
  { tenant_id: tenantId, id }: { tenant_id: string; id: string },
  reason: DisabledReason,
  now: Date,
  notify: (tx: Transaction, adminEmails: string[]) => Promise<void>,
): Promise<boolean> =>
  storage.inTransaction(async transaction => {
    const tenant = transaction.forTenant(tenantId);
    const rows = await tenant.query<{ url: string }>(
      `update webhooks set status = 'disabled', disabled_reason = $3, updated_at = $4, lease = null, lease_until = null
       where tenant_id = $1 and id = $2 and status = 'enabled' returning url`,
      [tenantId, id, reason, now],
    );
    const [webhook] = rows;
    if (!webhook) return false;
    const object = { type: 'webhook', id } as const;
    await tenant.transaction(tx =>
      writeEvents(tx, [{ tenantId, type: 'webhook.disabled', object, data: { to: reason, by: BY_SYSTEM } }]),
    );
    const target = { target_id: toTypeId('webhook', id), target_name: hostFromUrl(webhook.url), fields: ['status'] };
    await insertAuditEntry(tenant, { ...SYSTEM_ACTOR, action: 'webhook.disabled', ...target }, now);
    const adminEmails = await listAdminEmails(tenant);
    await tenant.transaction(tx => notify(tx, adminEmails));
    return true;
  });
