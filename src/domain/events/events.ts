import { z } from 'zod';
import { int32 } from '../documented.ts';
import { exampleId, type IdPrefix, toTypeId, typeIdOut } from '../ids.ts';
import type { Right } from '../team/roles.ts';
import { TimestampOut } from '../text.ts';

/** How long events are kept. */
export const EVENTS_KEPT_DAYS = 30;

/** Every type of event, in the order of the documentation. */
export const EVENT_TYPES = [
  'answer.stored',
  'answer.updated',
  'answer.completed',
  'answer.deleted',
  'answers.expired',
  'conversation.created',
  'conversation.updated',
  'conversation.status_changed',
  'conversation.assigned',
  'conversation.deleted',
  'message.created',
  'message.updated',
  'message.redacted',
  'identity.updated',
  'question.published',
  'question.updated',
  'question.closed',
  'api_key.created',
  'api_key.revoked',
  'webhook.disabled',
] as const;
export const EventType = z.enum(EVENT_TYPES).meta({ id: 'EventType' });
export type EventType = z.infer<typeof EventType>;

/** The types of objects that events refer to. `tenant` stands for many objects, as in `answers.expired`. */
export const EVENT_OBJECTS = [
  'answer',
  'conversation',
  'message',
  'identity',
  'question',
  'api_key',
  'webhook',
  'tenant',
] as const;
export type EventObjectType = (typeof EVENT_OBJECTS)[number];

export const EventActor = z
  .object({
    type: z.enum(['member', 'api_key', 'user', 'system']),
    id: typeIdOut('member', 'key')
      .nullable()
      .meta({
        description: '`member_…` or `key_…`; null for a user, whom the object names, and for the system',
        example: exampleId('member'),
      }),
  })
  .meta({ id: 'EventActor', description: 'Who caused the event' });
export type EventActor = z.infer<typeof EventActor>;

/** Facts that cannot be read from the object later. Contains neither a person's words nor the name of an identity. */
export interface EventData {
  from?: string | null;
  to?: string | null;
  by?: EventActor;
  count?: number;
}

/** An event as it is written. Ids are UUIDs. */
export interface NewEvent {
  type: EventType;
  object: { type: EventObjectType; id: string; conversationId?: string | undefined };
  data?: EventData;
}

const EventObject = z
  .object({
    type: z.enum(EVENT_OBJECTS),
    id: z
      .string()
      .nullable()
      .meta({ description: 'As in the paths of the API. For an identity, null once its profile is gone' }),
    verified: z.boolean().optional().meta({ description: 'Only for an identity' }),
    conversation_id: typeIdOut('conversation').optional().meta({ description: 'Only for a message' }),
  })
  .meta({ id: 'EventObject', example: { type: 'conversation', id: exampleId('conversation') } });

export const Event = z
  .object({
    id: typeIdOut('event'),
    type: EventType,
    sequence: z
      .int()
      .min(1)
      .meta({ description: 'Position in the feed of the tenant: 1, 2, 3 … without gaps', example: 4711 }),
    timestamp: TimestampOut,
    tenant_id: typeIdOut('tenant'),
    object: EventObject,
    data: z
      .object({
        from: z.string().nullable().optional().meta({ description: 'Status or assignee before the change' }),
        to: z.string().nullable().optional().meta({ description: 'Status or assignee after the change' }),
        by: EventActor.optional(),
        count: int32(1).optional().meta({ description: 'Number of objects, such as of expired answers' }),
        object: z.record(z.string(), z.unknown()).nullable().optional().meta({
          description:
            'The object as it is now, null when it is gone. Only of answers, conversations, messages, identities and questions',
        }),
      })
      .meta({ id: 'EventData', example: { from: 'open', to: 'resolved', by: {} } }),
  })
  .meta({
    id: 'Event',
    description: 'Something that has happened in the tenant',
    example: { type: 'conversation.status_changed' },
  });

/** A page of the feed. */
export const EventPage = z
  .object({
    data: z.array(Event),
    has_more: z.boolean().meta({ description: 'Whether there are more events; continue with `after` set to `last`' }),
    last: z.int().min(0).meta({ description: '`after` of the next page, even after an empty one', example: 4711 }),
    oldest: z.int().min(1).meta({
      description: 'Number of the oldest event that is kept; without one, that of the next event',
      example: 1200,
    }),
    newest: z.int().min(0).meta({ description: 'Number of the newest event; 0 before the first one', example: 4711 }),
  })
  .meta({ id: 'EventPage', example: { has_more: true } });

/** The objects that `expand` adds to an event, with the right that reading them requires. */
export const EXPANDED = {
  answer: 'answers:read',
  conversation: 'conversations:read',
  message: 'conversations:read',
  identity: 'identities:read',
  question: 'questions:read',
} as const satisfies Partial<Record<EventObjectType, Right>>;
export type ExpandedType = keyof typeof EXPANDED;

export const isExpanded = (type: EventObjectType): type is ExpandedType => type in EXPANDED;

const OBJECT_OF_TYPE: Record<string, EventObjectType> = { answers: 'tenant' };

/** Returns the rights that are required to read the objects of some types of events. */
export const rightsToExpand = (types: readonly EventType[]): Right[] => {
  const objects = types.map(type => type.split('.')[0] as string).map(name => OBJECT_OF_TYPE[name] ?? name);
  return [
    ...new Set(objects.flatMap(name => (isExpanded(name as EventObjectType) ? [EXPANDED[name as ExpandedType]] : []))),
  ];
};

/** An event as it is stored, with its number in the tenant's feed. */
export interface StoredEvent {
  id: string;
  type: EventType;
  object_type: EventObjectType;
  object_id: string;
  conversation_id: string | null;
  data: EventData;
  written_at: Date;
  sequence: number;
}

/** The name of an identity, as far as it still has a profile. */
export interface NamedIdentity {
  identity: string;
  verified: boolean;
}

const PREFIXES = {
  conversation: 'conversation',
  message: 'message',
  question: 'question',
  api_key: 'key',
  webhook: 'webhook',
  tenant: 'tenant',
} as const satisfies Partial<Record<EventObjectType, IdPrefix>>;

function presentObject(event: StoredEvent, named: NamedIdentity | undefined) {
  const { object_type: type, object_id: id, conversation_id } = event;
  if (type === 'identity') return named ? { type, id: named.identity, verified: named.verified } : { type, id: null };
  if (type === 'answer') return { type, id };
  const object = { type, id: toTypeId(PREFIXES[type], id) };
  return conversation_id ? { ...object, conversation_id: toTypeId('conversation', conversation_id) } : object;
}

/** Returns an event as the API and webhooks show it, without its object. */
export const presentEvent = (tenantId: string, event: StoredEvent, named: NamedIdentity | undefined) => ({
  id: toTypeId('event', event.id),
  type: event.type,
  sequence: event.sequence,
  timestamp: event.written_at,
  tenant_id: toTypeId('tenant', tenantId),
  object: presentObject(event, named),
  data: event.data,
});

/** The author of a message or a change. */
interface Actor {
  type: string;
  id: string | null;
}

/** Returns an author as the actor of an event. The name of a user is left out. */
export function causedBy({ type, id }: Actor): EventActor {
  if (type === 'member') return { type, id };
  if (type === 'api') return { type: 'api_key', id };
  return { type: type === 'user' ? 'user' : 'system', id: null };
}

/** The actor of changes that neither a person nor a key makes, such as those of a timer. */
export const BY_SYSTEM: EventActor = { type: 'system', id: null };
