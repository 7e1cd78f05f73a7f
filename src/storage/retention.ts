import { DELETIONS_SHOWN_DAYS } from '../domain/conversations.ts';
import { PROFILE_CHANGES_KEPT_DAYS } from '../domain/profile-changes.ts';
import { DELIVERIES_KEPT_DAYS } from '../domain/webhooks.ts';
import type { Storage } from './orm.ts';

/** Maximum number of answers, conversations and other rows that one statement deletes. */
const ANSWERS_AT_ONCE = 500;
const CONVERSATIONS_AT_ONCE = 100;
const ROWS_AT_ONCE = 1000;
/** Maximum number of their messages. Of a conversation with more, the oldest are deleted first (`trimConversation`). */
const MESSAGES_AT_ONCE = 5000;
/**
 * How long the id of an expired answer, and the `client_message_id` of a deleted conversation, stay reserved: three times as long as the outboxes of Parley's clients keep an
 * answer.
 */
export const TOMBSTONE_DAYS = 90;

/** Returns the tenants with a retention period. For the worker, like all functions here. */
export const listTenantsWithRetention = async (storage: Storage): Promise<string[]> =>
  (await storage.query<{ id: string }>('select tenants_with_retention() as id')).map(({ id }) => id);

/** Returns the database's clock. */
export const readDatabaseClock = async (storage: Storage): Promise<Date> => {
  const [row] = await storage.query<{ now: Date }>('select clock_timestamp() as now');
  return row?.now as Date;
};

/**
 * Deletes a batch of rows beyond a tenant's retention, and returns their number.
 *
 * `now` is the worker's clock. The age of a row is computed from the earlier of it and the database's clock.
 */
export type Expire = (storage: Storage, tenantId: string, now: Date) => Promise<number>;

const count = async (storage: Storage, call: string, params: unknown[]): Promise<number> =>
  (await storage.query<{ count: number }>(`select ${call} as count`, params))[0]?.count ?? 0;

/**
 * Deletes the oldest answers beyond the tenant's retention, stored or in quarantine.
 *
 * Their ids stay reserved for another `TOMBSTONE_DAYS`. They still count in the results of their questions, whose days
 * up to there are no longer recounted (`results_fixed_before`).
 */
export const expireAnswers: Expire = (storage, tenantId, now) =>
  count(storage, 'expire_answers($1, $2, $3)', [tenantId, ANSWERS_AT_ONCE, now]);

/** Deletes the oldest resolved conversations beyond the tenant's retention, with their messages. */
export const expireConversations: Expire = (storage, tenantId, now) =>
  count(storage, 'expire_conversations($1, $2, $3, $4)', [tenantId, CONVERSATIONS_AT_ONCE, MESSAGES_AT_ONCE, now]);

/**
 * Deletes a batch of the messages of a conversation that is to be deleted next and has more than one batch of them.
 * Returns their number; 0 if there is no such conversation.
 */
export const trimConversation: Expire = (storage, tenantId, now) =>
  count(storage, 'trim_expired_conversation($1, $2, $3, $4)', [
    ...[tenantId, CONVERSATIONS_AT_ONCE, MESSAGES_AT_ONCE, now],
  ]);

/** Rows that are deleted by age: their table, key and time, which of them are meant, and how long they are kept. */
interface OldRows {
  table: string;
  key: string;
  at: 'deleted_at' | 'at';
  where?: string;
  days: number;
}

/**
 * Deletes a batch of rows older than their `days`, and returns their number. With the limit as a parameter, the plan would
 * expect a tenth of all rows, and read the whole table.
 */
async function deleteBatch(
  storage: Storage,
  { table, key, at, where = 'true', days }: OldRows,
  now: Date,
): Promise<number> {
  const [row] = await storage.query<{ count: number }>(
    `with forgotten as (
       delete from ${table} where ${where} and (${key}) in (
         select ${key} from ${table}
         where ${where} and ${at} < least(clock_timestamp(), $1::timestamptz) - make_interval(days => $2)
         order by ${at} limit ${ROWS_AT_ONCE} for update skip locked
       ) returning 1
     )
     select count(*)::int as count from forgotten`,
    [now, days],
  );
  return row?.count ?? 0;
}

const EXPIRED_ANSWERS: OldRows = {
  table: 'deleted_answers',
  key: 'tenant_id, id',
  at: 'deleted_at',
  where: 'expired',
  days: TOMBSTONE_DAYS,
};

/**
 * Deletes a batch of ids of answers that expired more than `TOMBSTONE_DAYS` ago, and returns their number.
 *
 * The ids of answers deleted by the team stay reserved permanently.
 */
export const deleteExpiredAnswerIds = (storage: Storage, now: Date): Promise<number> =>
  deleteBatch(storage, EXPIRED_ANSWERS, now);

const SHOWN_DELETIONS: OldRows = {
  table: 'conversation_tombstones',
  key: 'tenant_id, id',
  at: 'deleted_at',
  days: DELETIONS_SHOWN_DAYS,
};

/** Deletes a batch of tombstones that incremental readers are no longer shown, and returns their number. */
export const deleteOldTombstones = (storage: Storage, now: Date): Promise<number> =>
  deleteBatch(storage, SHOWN_DELETIONS, now);

const CONVERSATION_STARTS: OldRows = {
  table: 'deleted_conversations',
  key: 'tenant_id, start_hash',
  at: 'deleted_at',
  days: TOMBSTONE_DAYS,
};

/**
 * Deletes a batch of tombstones of conversations that were deleted more than `TOMBSTONE_DAYS` ago, and returns their
 * number. Clients retry a message for a shorter time.
 */
export const deleteOldConversationStarts = (storage: Storage, now: Date): Promise<number> =>
  deleteBatch(storage, CONVERSATION_STARTS, now);

const DELIVERIES: OldRows = { table: 'deliveries', key: 'tenant_id, id', at: 'at', days: DELIVERIES_KEPT_DAYS };

/** Deletes a batch of attempts older than `DELIVERIES_KEPT_DAYS`, and returns their number. */
export const deleteOldDeliveries = (storage: Storage, now: Date): Promise<number> =>
  deleteBatch(storage, DELIVERIES, now);

const PROFILE_CHANGES: OldRows = {
  table: 'profile_changes',
  key: 'tenant_id, identity_id, number',
  at: 'at',
  days: PROFILE_CHANGES_KEPT_DAYS,
};

/** Deletes a batch of changes of profiles older than `PROFILE_CHANGES_KEPT_DAYS`, and returns their number. */
export const deleteOldProfileChanges = (storage: Storage, now: Date): Promise<number> =>
  deleteBatch(storage, PROFILE_CHANGES, now);
