import { DELETIONS_SHOWN_DAYS } from '../../domain/conversations/conversations.ts';
import { DELIVERIES_KEPT_DAYS } from '../../domain/events/webhooks.ts';
import { PROFILE_CHANGES_KEPT_DAYS } from '../../domain/people/profile-changes.ts';
import type { Storage } from '../database/orm.ts';
import { listTenantsWith } from './tenants.ts';

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
export const listTenantsWithRetention = (storage: Storage): Promise<string[]> =>
  listTenantsWith(storage, 'tenants_with_retention');

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

/** Rows that are deleted by age. */
export interface OldRows {
  /** Deletes a batch of rows, except those of some tenants, and returns their number. */
  forget(storage: Storage, now: Date, except?: readonly string[]): Promise<number>;
  /** Deletes a batch of a tenant's rows, and returns their number. */
  forgetOf(storage: Storage, now: Date, tenantId: string): Promise<number>;
  /** Returns the tenants with such rows. */
  list(storage: Storage, now: Date): Promise<string[]>;
}

/** A table with rows that are deleted by age: its key and time, which of them are meant, and how long they are kept. */
interface Table {
  table: string;
  key: string;
  at: 'deleted_at' | 'at' | 'ended_at';
  where?: string;
  days: number;
}

/**
 * Returns how rows of a table are deleted. With the limit as a parameter, the plan would expect a tenth of all rows, and read
 * the whole table.
 */
function oldRows({ table, key, at, where = 'true', days }: Table): OldRows {
  const isOld = `${where} and ${at} < least(clock_timestamp(), $1::timestamptz) - make_interval(days => $2)`;
  const forget = async (storage: Storage, now: Date, which: string, tenants: unknown): Promise<number> => {
    const [row] = await storage.query<{ count: number }>(
      `with forgotten as (
         delete from ${table} where ${where} and (${key}) in (
           select ${key} from ${table} where ${isOld} and ${which}
           order by ${at} limit ${ROWS_AT_ONCE} for update skip locked
         ) returning 1
       )
       select count(*)::int as count from forgotten`,
      [now, days, tenants],
    );
    return row?.count ?? 0;
  };
  return {
    forget: (storage, now, except = []) => forget(storage, now, 'tenant_id <> all($3::uuid[])', except),
    forgetOf: (storage, now, tenantId) => forget(storage, now, 'tenant_id = $3::uuid', tenantId),
    list: async (storage, now) => {
      const sql = `select distinct tenant_id from ${table} where ${isOld}`;
      return (await storage.query<{ tenant_id: string }>(sql, [now, days])).map(({ tenant_id }) => tenant_id);
    },
  };
}

/**
 * Ids of answers that expired more than `TOMBSTONE_DAYS` ago. The ids of answers deleted by the team stay reserved
 * permanently.
 */
export const EXPIRED_ANSWER_IDS = oldRows({
  table: 'deleted_answers',
  key: 'tenant_id, id',
  at: 'deleted_at',
  where: 'expired',
  days: TOMBSTONE_DAYS,
});

/** Tombstones that incremental readers are no longer shown. */
export const OLD_TOMBSTONES = oldRows({
  table: 'conversation_tombstones',
  key: 'tenant_id, id',
  at: 'deleted_at',
  days: DELETIONS_SHOWN_DAYS,
});

/**
 * Tombstones of conversations that were deleted more than `TOMBSTONE_DAYS` ago. Clients retry a message for a shorter
 * time.
 */
export const OLD_CONVERSATION_STARTS = oldRows({
  table: 'deleted_conversations',
  key: 'tenant_id, start_hash',
  at: 'deleted_at',
  days: TOMBSTONE_DAYS,
});

/** Attempts older than `DELIVERIES_KEPT_DAYS`. */
export const OLD_DELIVERIES = oldRows({
  table: 'deliveries',
  key: 'tenant_id, id',
  at: 'at',
  days: DELIVERIES_KEPT_DAYS,
});

/** How long the outcome of a mail is kept. */
export const ENDED_MAILS_KEPT_DAYS = 1;

/** Mails whose outcome is older than `ENDED_MAILS_KEPT_DAYS`. */
export const ENDED_MAILS = oldRows({
  table: 'mails',
  key: 'tenant_id, id',
  at: 'ended_at',
  where: 'ended_at is not null',
  days: ENDED_MAILS_KEPT_DAYS,
});

/** Changes of profiles older than `PROFILE_CHANGES_KEPT_DAYS`. */
export const OLD_PROFILE_CHANGES = oldRows({
  table: 'profile_changes',
  key: 'tenant_id, identity_id, number',
  at: 'at',
  days: PROFILE_CHANGES_KEPT_DAYS,
});
