import type { IdentityProfile, Question } from '../server/types.ts';
import type { Answer, Conversation, Message } from '../types.ts';

/** Who caused an event. `id` is `member_…` or `key_…`; null for a user, whom the object names, and for the system. */
export interface EventActor {
  type: 'member' | 'api_key' | 'user' | 'system';
  id: string | null;
}

export interface EventObject {
  type: 'answer' | 'conversation' | 'message' | 'identity' | 'question' | 'api_key' | 'webhook' | 'tenant';
  /** As in the paths of the API; null for an identity without a profile. */
  id: string | null;
  /** Only for an identity. */
  verified?: boolean;
  /** Only for a message. */
  conversation_id?: string;
}

export interface EventData<Kept = Record<string, unknown>> {
  /** Status or assignee before the change. */
  from?: string | null;
  /** Status or assignee after the change. */
  to?: string | null;
  by?: EventActor;
  /** Number of objects, such as of expired answers. */
  count?: number;
  /** The object as it is now, null when it is gone. In the feed only with `expand`, in webhooks with the payload `full`. */
  object?: Kept | null;
  /** Address of the object in the API, of a message that of its list, or null. In webhooks without the object. */
  href?: string | null;
}

interface EventOf<Type extends string, Kept = Record<string, unknown>> {
  /** The same in every delivery and in the feed: recognize by it what you have processed. Equals the header `webhook-id`. */
  id: string;
  type: Type;
  /** Number of the event in the tenant's feed, without gaps. */
  sequence: number;
  timestamp: string;
  tenant_id: string;
  object: EventObject;
  data: EventData<Kept>;
}

type ConversationEvents =
  | 'conversation.created'
  | 'conversation.updated'
  | 'conversation.status_changed'
  | 'conversation.assigned'
  | 'conversation.deleted';

/**
 * An event of the feed, by its `type`. Newer servers send further types: ignore those that you don't know, in the `default` of a `switch`.
 */
export type ParleyEvent =
  | EventOf<'answer.stored' | 'answer.updated' | 'answer.completed' | 'answer.deleted', Answer>
  | EventOf<ConversationEvents, Conversation>
  | EventOf<'message.created' | 'message.updated' | 'message.redacted', Message>
  | EventOf<'identity.updated', IdentityProfile>
  | EventOf<'question.published' | 'question.updated' | 'question.closed', Question>
  | EventOf<'answers.expired' | 'api_key.created' | 'api_key.revoked' | 'webhook.disabled'>;

export type EventType = ParleyEvent['type'];

/** An event as a webhook receives it. A test is not in the feed, so it has no number. */
export type WebhookEvent = ParleyEvent | (Omit<EventOf<'webhook.test'>, 'sequence'> & { sequence?: undefined });
