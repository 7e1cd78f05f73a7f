import { describeEvent, type MessageEvent } from '../domain/conversation-events.ts';
import { type Cause, type ConversationStatus, TRANSITIONS } from '../domain/conversations.ts';
import type { Storage } from './orm.ts';

/** Maximum number of conversations that one transaction moves. */
export const TIMERS_AT_ONCE = 500;

/** A function of the database that moves due conversations of all tenants, and the transition that it makes. */
interface Timer {
  function: string;
  from: ConversationStatus;
  cause: Cause;
}

async function move(storage: Storage, { function: name, from, cause }: Timer): Promise<number> {
  const status = TRANSITIONS[from][cause] as ConversationStatus;
  const event: MessageEvent = { field: 'status', from, to: status, reason: { type: 'timer', id: null } };
  const [row] = await storage.query<{ count: number }>(`select ${name}($1, $2, $3::jsonb, $4) as count`, [
    ...[TIMERS_AT_ONCE, status, JSON.stringify(event), describeEvent(event)],
  ]);
  return row?.count ?? 0;
}

/**
 * Wakes a batch of snoozed conversations whose time has come, each with an event, and returns their number. For the
 * worker, like `resolvePending`.
 *
 * The status is changed under a row lock, so that each conversation is woken once, even if processes are killed.
 */
export const wakeSnoozed = (storage: Storage): Promise<number> =>
  move(storage, { function: 'wake_conversations', from: 'snoozed', cause: 'wake' });

/** Resolves a batch of pending conversations without any change for the tenant's `auto_resolve_days`. */
export const resolvePending = (storage: Storage): Promise<number> =>
  move(storage, { function: 'resolve_pending_conversations', from: 'pending', cause: 'auto-resolve' });

/** Returns the delay in seconds of the oldest due timer; 0 without one. For the API. */
export const readTimerDelay = async (storage: Storage): Promise<number> =>
  (await storage.query<{ delay: number | null }>('select oldest_due_timer() as delay'))[0]?.delay ?? 0;
