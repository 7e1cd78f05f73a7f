import type { Storage } from './orm.ts';

/** How many answers, and how many conversations, one statement deletes at most. */
const ANSWERS_AT_ONCE = 500;
const CONVERSATIONS_AT_ONCE = 100;
/** With how many messages; a single conversation may have more. */
const MESSAGES_AT_ONCE = 5000;

/** The tenants that keep something for a time only. For the worker, as the rest here. */
export const listTenantsWithRetention = async (storage: Storage): Promise<string[]> =>
  (await storage.query<{ id: string }>('select tenants_with_retention() as id')).map(({ id }) => id);

/** Deletes what a tenant has kept long enough, at most a batch of it; gives how much it was. */
export type Expire = (storage: Storage, tenantId: string) => Promise<number>;

const count = async (storage: Storage, call: string, params: unknown[]): Promise<number> =>
  (await storage.query<{ count: number }>(`select ${call} as count`, params))[0]?.count ?? 0;

/**
 * Deletes the oldest answers beyond the tenant's retention, stored or in quarantine.
 *
 * Their ids stay taken. They go on to count in the results of their questions, which from then on are not counted anew
 * for those days (`results_fixed_before`).
 */
export const expireAnswers: Expire = (storage, tenantId) =>
  count(storage, 'expire_answers($1, $2)', [tenantId, ANSWERS_AT_ONCE]);

/** Deletes the oldest resolved conversations beyond the tenant's retention, with their messages. */
export const expireConversations: Expire = (storage, tenantId) =>
  count(storage, 'expire_conversations($1, $2, $3)', [tenantId, CONVERSATIONS_AT_ONCE, MESSAGES_AT_ONCE]);
