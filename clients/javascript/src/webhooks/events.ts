import type { Answer, Conversation, Message } from '../types.ts';

/** What the event itself says; each member is there where it applies. */
export interface EventDetails {
  /** Value before the change. */
  from?: unknown;
  /** Value after the change. */
  to?: unknown;
  /** Who caused it. */
  by?: unknown;
  /** Number of objects, for `answers.expired`. */
  count?: number;
  /** URL of the object, where the object is not included. */
  href?: string;
}

interface EventOf<Type extends string, Kept = Record<string, unknown>> {
  /** ID of the event, the same in every delivery: what you have processed is recognized by it. Equals the header `webhook-id`. */
  id: string;
  type: Type;
  /** Number of the event in the tenant's feed, without gaps. */
  sequence: number;
  timestamp: string;
  tenant_id: string;
  object: { type: string; id: string };
  /** `object` is the object as it is at the time of this delivery, null if it is gone. Absent with the payload `thin`. */
  data: EventDetails & { object?: Kept | null };
}

/**
 * An event, by its `type`. Newer servers send further types: ignore those that you don't know, in the `default` of a `switch`.
 */
export type WebhookEvent =
  | EventOf<'answer.stored' | 'answer.updated' | 'answer.completed' | 'answer.deleted', Answer>
  | EventOf<
      | 'conversation.created'
      | 'conversation.updated'
      | 'conversation.status_changed'
      | 'conversation.assigned'
      | 'conversation.deleted',
      Conversation
    >
  | EventOf<'message.created' | 'message.updated' | 'message.redacted', Message>
  | EventOf<
      | 'answers.expired'
      | 'identity.updated'
      | 'identity.merged'
      | 'identity.erased'
      | 'question.published'
      | 'question.updated'
      | 'question.closed'
      | 'api_key.created'
      | 'api_key.revoked'
      | 'webhook.disabled'
      | 'export.completed'
    >;
