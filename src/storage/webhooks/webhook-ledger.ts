import { FAILING_FROM, judgeAttempts, nextAttemptAt, type Outcome, TEST_TYPE } from '../../domain/events/deliveries.ts';
import type { EventObjectType } from '../../domain/events/events.ts';
import type { DisabledReason } from '../../domain/events/webhooks.ts';
import { newUuid } from '../../domain/ids.ts';
import type { TenantStorage } from '../database/orm.ts';
import { unnest, WANTED_IDS } from '../database/sql.ts';
import type { Transaction } from '../database/transaction.ts';
import { IS_KEPT, type Item, LEASED, type LeasedWebhook } from './webhook-rounds.ts';

/** A finished attempt. */
export interface Attempt {
  item: Item;
  at: Date;
  durationMs: number;
  outcome: Outcome;
  status: number | null;
  error: string | null;
  response: string | null;
  retryAfter: string | undefined;
}

export interface Round {
  /** In the order in which they ended. */
  attempts: Attempt[];
  /** The number up to which the events of the feed were sent, or are not of the webhook's types. */
  position: number;
  /** Whether the lease ends, which it also does if the receiver fails or the webhook was disabled. */
  isLast: boolean;
  now: Date;
}

/** The state of a webhook after a round. */
export interface Recorded {
  /** If its lease goes on. */
  webhook: LeasedWebhook | undefined;
  /** Why it has to be disabled. */
  disable: DisabledReason | undefined;
}

/**
 * Records the attempts of a round, and how far the webhook has got, in one transaction. Undefined, without a record,
 * if the lease was lost, or the webhook or its tenant deleted.
 *
 * If the webhook got another URL meanwhile, the replies of the previous one do not count, and what failed is sent to the
 * new one at once. Events of types that it no longer has do not count either, and are not sent again. A delivery that the
 * team wanted sent again meanwhile stays due.
 */
export const recordRound = (
  tenant: TenantStorage,
  { id, lease, url, event_types, due_at }: LeasedWebhook,
  round: Round,
): Promise<Recorded | undefined> =>
  tenant.transaction(async tx => {
    const { tenantId } = tenant;
    const [before] = await tx.query<LeasedWebhook>(
      `select ${LEASED} from webhooks where tenant_id = $1 and id = $2 and lease = $3 and ${IS_KEPT} for update`,
      [tenantId, id, lease],
    );
    if (!before) return undefined;
    const isMoved = before.url !== url;
    const sentAgain = before.due_at?.getTime() === due_at?.getTime() ? null : before.due_at;
    const dropped = new Set<string>(event_types.filter(type => !before.event_types.includes(type)));
    await writeAttempts(tx, { tenantId, webhookId: id, round, isMoved, dropped });
    const counted = isMoved ? [] : round.attempts.filter(({ item }) => !dropped.has(item.type));
    const { failures, failing_since, disable } = judgeAttempts(before, counted, round.now);
    const ends = round.isLast || failures > 0 || before.status === 'disabled';
    const [after] = await tx.query<LeasedWebhook>(
      `update webhooks set feed_position = greatest(feed_position, $3), failures = $4, failing_since = $5,
         lease = case when $6 then null else lease end,
         lease_until = case when $6 then clock_timestamp() else lease_until end,
         due_at = least($7::timestamptz, case when ordered or $4 >= ${FAILING_FROM} then (
           select at from deliveries where tenant_id = $1 and webhook_id = $2 and deliveries.status = 'waiting'
           order by sequence nulls first limit 1
         ) else (
           select min(at) from deliveries where tenant_id = $1 and webhook_id = $2 and deliveries.status = 'waiting'
         ) end)
       where tenant_id = $1 and id = $2 returning ${LEASED}`,
      [tenantId, id, round.position, failures, failing_since, ends, sentAgain],
    );
    return { webhook: ends ? undefined : after, disable };
  });

const COLUMNS = {
  tenant_id: 'uuid',
  id: 'uuid',
  webhook_id: 'uuid',
  event_id: 'uuid',
  sequence: 'bigint',
  type: 'text',
  object_id: 'uuid',
  event_at: 'timestamptz',
  attempt: 'int',
  at: 'timestamptz',
  status: 'text',
  response_status: 'int',
  duration_ms: 'int',
  error: 'text',
  response: 'text',
} as const;
const NAMES = Object.keys(COLUMNS).join(', ');

interface Target {
  tenantId: string;
  webhookId: string;
  round: Round;
  /** Whether the webhook got another URL while the round was sent. */
  isMoved: boolean;
  /** The types of events that it lost meanwhile. */
  dropped: ReadonlySet<string>;
}

/**
 * Writes a row for each attempt, which replaces the one that waited for it, and a row that waits for the next attempt of
 * each that failed.
 */
async function writeAttempts(tx: Transaction, { tenantId, webhookId, round, isMoved, dropped }: Target): Promise<void> {
  const { attempts } = round;
  if (attempts.length === 0) return;
  const waited = attempts.flatMap(({ item }) => item.delivery_id ?? []);
  if (waited.length > 0)
    await tx.query(
      `with ${WANTED_IDS} delete from deliveries using wanted
       where deliveries.tenant_id = wanted.tenant_id and deliveries.id = wanted.id`,
      [tenantId, waited],
    );
  const present = await lockObjects(tx, tenantId, attempts);
  const rows = attempts.flatMap(({ item, outcome, at, ...attempt }) => {
    const common = { ...item, tenant_id: tenantId, webhook_id: webhookId, event_at: item.event_at.getTime() };
    const row = {
      ...common,
      id: item.delivery_id ?? newUuid(),
      at: at.getTime(),
      status: outcome === 'delivered' ? 'delivered' : 'failed',
      response_status: attempt.status,
      duration_ms: attempt.durationMs,
      error: attempt.error,
      response: mayRepeatWords(item) && !present.has(item.object_id) ? null : attempt.response,
    };
    if (outcome === 'delivered' || outcome === 'expired' || item.type === TEST_TYPE || dropped.has(item.type))
      return [row];
    const nextAt = isMoved ? round.now : nextAttemptAt(item.attempt, round.now, attempt.retryAfter, Math.random());
    const next = { ...common, id: newUuid(), attempt: item.attempt + 1, at: nextAt.getTime(), status: 'waiting' };
    return [row, { ...next, response_status: null, duration_ms: null, error: null, response: null }];
  });
  const { sql, params } = unnest<(typeof rows)[number]>(rows, COLUMNS);
  await tx.query(`insert into deliveries (${NAMES}) select ${NAMES} from ${sql}`, params);
}

/** Objects with a person's words. */
const WORDED: EventObjectType[] = ['answer', 'conversation', 'message', 'identity'];
const mayRepeatWords = ({ object_type }: Item): boolean => object_type !== null && WORDED.includes(object_type);

/** Returns the objects that exist, until the end of the transaction, of those whose responses may repeat their words. */
async function lockObjects(tx: Transaction, tenantId: string, attempts: Attempt[]): Promise<Set<string>> {
  const ids = attempts.flatMap(({ item, response }) => (response && mayRepeatWords(item) ? item.object_id : []));
  if (ids.length === 0) return new Set();
  const rows = await tx.query<{ id: string }>('select lock_objects($1, $2::uuid[]) as id', [tenantId, ids]);
  return new Set(rows.map(({ id }) => id));
}
