import { z } from 'zod';
import { toTypeId, typeIdOut } from './ids.ts';

/** The fields of a conversation whose changes are recorded as events. */
const EVENT_FIELDS = ['status', 'assignee_id', 'priority'] as const;
export type EventField = (typeof EVENT_FIELDS)[number];

const EventReason = z
  .object({
    type: z.enum(['member']),
    id: typeIdOut('member').nullable().meta({ description: '`member_…`; null for a change with an API key' }),
  })
  .meta({ id: 'EventReason', description: 'Who or what caused the change' });

export const MessageEvent = z
  .object({
    field: z.enum(EVENT_FIELDS),
    from: z.unknown().meta({ description: 'Value before the change; null for none' }),
    to: z.unknown().meta({ description: 'Value after the change; null for none. Members by id' }),
    reason: EventReason,
  })
  .meta({ id: 'MessageEvent', description: 'A change of the conversation: values, not names' });

/** A change of a conversation as it is stored and sent, with members by their public ids. */
export interface MessageEvent {
  field: EventField;
  from: string | null;
  to: string | null;
  reason: { type: 'member'; id: string | null };
}

/** Who made a change: the type of a message's author and the author's id. */
interface EventAuthor {
  type: string;
  id: string | null;
}

/** Returns the reason for a change by the team: the member, or null for an API key, which no member stands for. */
const reasonOf = ({ type, id }: EventAuthor): MessageEvent['reason'] => ({
  type: 'member',
  id: type === 'member' ? id : null,
});

const memberId = (uuid: string | null): string | null => uuid && toTypeId('member', uuid);

/** Returns the event for a changed field. Members are given by their UUIDs. */
export function changeEvent(
  field: EventField,
  from: string | null,
  to: string | null,
  author: EventAuthor,
): MessageEvent {
  const value = field === 'assignee_id' ? memberId : (same: string | null) => same;
  return { field, from: value(from), to: value(to), reason: reasonOf(author) };
}

/** Returns an event as text, for readers that do not know `event`. */
export const describeEvent = ({ field, from, to }: MessageEvent): string =>
  `${field}: ${from ?? 'none'} → ${to ?? 'none'}`;

const EVENT_TEXT = /^(status|assignee_id|priority): (\S+) → (\S+)$/;

/**
 * Returns the event in a text that a version before `event` has stored; null for any other text.
 *
 * Such texts write an absent member and the priority `none` alike.
 */
export function readEventText(text: string, author: EventAuthor): MessageEvent | null {
  const [, field, from = '', to = ''] = EVENT_TEXT.exec(text) ?? [];
  if (!field) return null;
  const value = (word: string) => (field === 'assignee_id' && word === 'none' ? null : word);
  return { field: field as EventField, from: value(from), to: value(to), reason: reasonOf(author) };
}
