import type { Schemas } from '../../api/schema.ts';
import { formatTime, t } from '../../i18n.ts';
import { type ConversationStatus, conversationStatus, type Priority, priorityName } from '../../words.ts';

type MessageEvent = Schemas['MessageEvent'];

/** Returns the name of a member. */
export type NameOf = (memberId: string) => string;

function valueText(field: MessageEvent['field'], value: unknown, nameOf: NameOf): string {
  const text = String(value);
  if (field === 'status') return conversationStatus(text as ConversationStatus) ?? text;
  if (field === 'priority') return priorityName(text as Priority) ?? text;
  if (field === 'assignee_id') return value === null ? t('Unassigned') : nameOf(text);
  if (field === 'snoozed_until') return value === null ? t('None') : formatTime(text);
  if (Array.isArray(value)) return value.join(', ') || t('None');
  return text || t('None');
}

const fieldName = (field: MessageEvent['field']): string =>
  ({
    status: t('Status'),
    snoozed_until: t('Snoozed until'),
    assignee_id: t('Assignee'),
    priority: t('Priority'),
    tags: t('Tags'),
    subject: t('Subject'),
    merged_into_id: t('Merged into'),
  })[field];

const waitText = (code: NonNullable<MessageEvent['reason']['code']>): string =>
  code === 'members-away' ? t('every member of the rule is away') : t('no member of the rule has a place');

/** Describes a change in the language of the reader, with names instead of ids. `body` is for events without data. */
export function eventText({ event, body }: Pick<Schemas['Message'], 'event' | 'body'>, nameOf: NameOf): string {
  const name = event && fieldName(event.field);
  if (!event || !name) return body;
  const [before, after] = [event.from, event.to].map(value => valueText(event.field, value, nameOf));
  if (event.reason.code) return `${name}: ${after} (${waitText(event.reason.code)})`;
  return `${name}: ${before} → ${after}`;
}
