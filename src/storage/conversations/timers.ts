import { describeEvent, type MessageEvent } from '../../domain/conversations/conversation-events.ts';
import { type Cause, type ConversationStatus, TRANSITIONS } from '../../domain/conversations/conversations.ts';
import type { Storage } from '../database/orm.ts';
import { listTenantsWith } from '../tenants/tenants.ts';

/** Maximum number of conversations that one transaction moves. */
export const TIMERS_AT_ONCE = 500;

/** A function of the database that moves due conversations of a tenant, and the transition that it makes. */
interface Timer {
  function: string;
  from: ConversationStatus;
  cause: Cause;
}

async function move(storage: Storage, tenantId: string, { function: name, from, cause }: Timer): Promise<number> {
  const status = TRANSITIONS[from][cause] as ConversationStatus;
  const event: MessageEvent = { field: 'status', from, to: status, reason: { type: 'timer', id: null } };
  const [row] = await storage.query<{ count: number }>(`select ${name}($1, $2, $3, $4::jsonb, $5) as count`, [
    ...[tenantId, TIMERS_AT_ONCE, status, JSON.stringify(event), describeEvent(event)],
  ]);
  return row?.count ?? 0;
}

/** Returns the tenants with snoozed conversations whose time has come. For the worker, like all functions of timers. */
export const listTenantsToWake = (storage: Storage): Promise<string[]> => listTenantsWith(storage, 'tenants_to_wake');

/** Returns the tenants with conversations that `resolvePending` resolves. */
export const listTenantsToResolve = (storage: Storage): Promise<string[]> =>
  listTenantsWith(storage, 'tenants_to_resolve');

/**
 * Wakes a batch of a tenant's snoozed conversations whose time has come, each with an event, and returns their number.
 *
 * The status is changed under a row lock, so that each conversation is woken once, even if processes are killed.
 */
export const wakeSnoozed = (storage: Storage, tenantId: string): Promise<number> =>
  move(storage, tenantId, { function: 'wake_conversations', from: 'snoozed', cause: 'wake' });

/** Resolves a batch of a tenant's pending conversations without any change for its `auto_resolve_days`. */
export const resolvePending = (storage: Storage, tenantId: string): Promise<number> =>
  move(storage, tenantId, { function: 'resolve_pending_conversations', from: 'pending', cause: 'auto-resolve' });

/** Returns the delay in seconds of the oldest due timer; 0 without one. For the API. */
export const readTimerDelay = async (storage: Storage): Promise<number> =>
  (await storage.query<{ delay: number | null }>('select oldest_due_timer() as delay'))[0]?.delay ?? 0;
