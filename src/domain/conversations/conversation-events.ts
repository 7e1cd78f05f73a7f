import { z } from 'zod';
import { toTypeId } from '../ids.ts';
import type { CustomValues } from './custom-fields.ts';

/** The fields of a conversation whose changes are recorded as events, in the order of the events of one change. */
export const EVENT_FIELDS = [
  'status',
  'snoozed_until',
  'assignee_id',
  'priority',
  'tags',
  'subject',
  'custom',
  'merged_into_id',
] as const;
export type EventField = (typeof EVENT_FIELDS)[number];

/** Why an assignment rule that matched found no member. */
export const WaitCode = z.enum(['members-away', 'members-full']);
export type WaitCode = z.infer<typeof WaitCode>;

const EventReason = z
  .object({
    type: z.enum(['member', 'user', 'timer', 'macro', 'merge', 'rule']),
    id: z.string().nullable().meta({
      description:
        '`member_…`, `macro_…`, `rule_…`, the `conversation_…` of a merge, or the identity of a user; null for a change with an API key or by a timer',
    }),
    code: WaitCode.optional().meta({
      description:
        'Only of a rule that matched and found no member: all of its members are away, or those present have no place. The conversation waits for one of them',
    }),
  })
  .meta({ id: 'EventReason', description: 'The cause of the change' });

export const MessageEvent = z
  .object({
    field: z.enum(EVENT_FIELDS),
    from: z.unknown().meta({
      description: 'Value before the change; null for none. Of `custom`, the changed values by key',
    }),
    to: z.unknown().meta({ description: 'Value after the change; null for none. Members and conversations by id' }),
    reason: EventReason,
  })
  .meta({ id: 'MessageEvent', description: 'A change of the conversation: values, not names' });

/** A value in an event: a text, a time in RFC 3339, tags, or values of custom fields by key. */
export type EventValue = string | string[] | Record<string, unknown> | null;

/** A change of a conversation as it is stored and sent, with members by their public ids. */
export interface MessageEvent {
  field: EventField;
  from: EventValue;
  to: EventValue;
  reason: EventReason;
}

/** The cause of a change. */
export type EventReason = z.infer<typeof EventReason>;

/** Who made a change: the type of a message's author and the author's id. */
interface EventAuthor {
  type: string;
  id: string | null;
}

/** Returns the reason for a change by its author. An API key stands for no member. */
export function reasonOf({ type, id }: EventAuthor): EventReason {
  if (type === 'system') return { type: 'timer', id: null };
  if (type === 'user') return { type: 'user', id };
  return { type: 'member', id: type === 'member' ? id : null };
}

/** The recorded fields as they are stored, with members by their UUIDs. */
export interface Recorded {
  status: string;
  snoozed_until: Date | null;
  assignee_id: string | null;
  priority: string;
  tags: string[];
  subject: string;
  custom: CustomValues;
  merged_into_id: string | null;
}

function recordedValue(field: EventField, of: Recorded): EventValue {
  if (field === 'assignee_id') return of.assignee_id && toTypeId('member', of.assignee_id);
  if (field === 'merged_into_id') return of.merged_into_id && toTypeId('conversation', of.merged_into_id);
  if (field === 'snoozed_until') return of.status === 'snoozed' ? (of.snoozed_until?.toISOString() ?? null) : null;
  return of[field];
}

/** Returns the value of a custom field, null without one. A field may have the name of an inherited member: `constructor`. */
const customValue = (values: CustomValues, key: string) => (Object.hasOwn(values, key) ? values[key] : null);

/** Returns the values of custom fields that differ from others, with null for those that are absent. */
const differing = (values: CustomValues, others: CustomValues): Record<string, unknown> =>
  Object.fromEntries(
    [...new Set([...Object.keys(values), ...Object.keys(others)])]
      .filter(key => customValue(values, key) !== customValue(others, key))
      .map(key => [key, customValue(values, key)]),
  );

/** Returns the values of a field before and after a change; of custom fields only those that differ. */
const recordedValues = (field: EventField, before: Recorded, after: Recorded): [EventValue, EventValue] =>
  field === 'custom'
    ? [differing(before.custom, after.custom), differing(after.custom, before.custom)]
    : [recordedValue(field, before), recordedValue(field, after)];

/**
 * Returns an event for each recorded field that differs.
 *
 * The end of a snooze has no event of its own: `snoozed_until` is null in every other status.
 */
export const changeEvents = (before: Recorded, after: Recorded, reason: EventReason): MessageEvent[] =>
  EVENT_FIELDS.flatMap(field => {
    const [from, to] = recordedValues(field, before, after);
    const isEndOfSnooze = field === 'snoozed_until' && to === null;
    return isEndOfSnooze || JSON.stringify(from) === JSON.stringify(to) ? [] : [{ field, from, to, reason }];
  });

function asText(value: EventValue): string {
  if (typeof value === 'string') return value || 'none';
  const texts = Array.isArray(value)
    ? value
    : Object.entries(value ?? {}).map(([key, one]) => `${key} ${one ?? 'none'}`);
  return texts.join(', ') || 'none';
}

const WAITS: Record<WaitCode, string> = {
  'members-away': 'every member of the rule is away',
  'members-full': 'no member of the rule has a place',
};

/** Returns an event as text, for readers that do not know `event`. */
export const describeEvent = ({ field, from, to, reason: { code } }: MessageEvent): string =>
  code ? `${field}: ${asText(to)}, because ${WAITS[code]}` : `${field}: ${asText(from)} → ${asText(to)}`;

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
