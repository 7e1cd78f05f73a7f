import type { Schemas } from '../../api/schema.ts';
import { t } from '../../i18n.ts';
import { type ConversationStatus, conversationStatus, type Priority, priorityName, valueText } from '../../words.ts';
import { snoozeText } from './snooze/snooze-times.ts';

type Message = Schemas['Message'];
type MessageEvent = NonNullable<Message['event']>;

/** Returns the name of a member. */
export type NameOf = (memberId: string) => string;

/** Whose names a message needs. */
export interface People {
  /** The user of the conversation. */
  identity: string;
  nameOf: NameOf;
  /** Returns the name of a macro; undefined if it was deleted. */
  macroName(macroId: string): string | undefined;
  /** Returns the label of a custom field; its key if it was removed. */
  fieldLabel(key: string): string;
  /** Returns the name of an assignment rule; undefined if it was deleted, and for members who may not read rules. */
  ruleName(ruleId: string): string | undefined;
  /** Time zone of the tenant; that of the browser until it is known. */
  timeZone: string | undefined;
}

/** Author name: a member's name, an API key's name or the user's identity. */
export function authorText({ author }: Pick<Message, 'author'>, { identity, nameOf }: People): string {
  if (author.type === 'user') return identity;
  if (author.type === 'system') return 'Parley';
  if (author.type === 'api') return author.name ?? t('Via the API');
  return author.name ?? nameOf(author.id ?? '');
}

/** The subject of a sentence: as the author, but an API key without a name is a thing that acts. */
const subjectText = (message: Pick<Message, 'author'>, people: People): string =>
  message.author.type === 'api' && !message.author.name ? t('An API key') : authorText(message, people);

/** A sentence about a change: `who` is the author, `people` has the names. */
type Sentence = (event: MessageEvent, who: string, people: People) => string;

const statusSentence: Sentence = ({ from, to, reason }, who) => {
  if (reason.type === 'timer')
    return to === 'open' ? t('The snooze ended') : t('Resolved because the user did not reply');
  if (reason.type === 'user' && to === 'open')
    return from === 'resolved' ? t('{who} wrote and reopened the conversation', { who }) : t('{who} wrote', { who });
  if (to === 'resolved') return t('{who} resolved the conversation', { who });
  if (to === 'pending') return t('{who} set the conversation to wait for the user', { who });
  if (to === 'snoozed') return t('{who} snoozed the conversation', { who });
  if (from === 'resolved') return t('{who} reopened the conversation', { who });
  return from === 'snoozed' ? t('{who} ended the snooze', { who }) : t('{who} opened the conversation', { who });
};

const waitText = (code: NonNullable<MessageEvent['reason']['code']>): string =>
  code === 'members-away' ? t('every member of the rule is away') : t('no member of the rule has a place');

const assigneeSentence: Sentence = ({ from, to, reason }, who, { nameOf }) => {
  if (reason.code) return t('Nobody was assigned: {reason}', { reason: waitText(reason.code) });
  if (to === null) return t('{who} removed {name} as assignee', { who, name: nameOf(String(from)) });
  if (reason.type === 'member' && reason.id === to) return t('{who} took the conversation', { who });
  return t('{who} assigned the conversation to {name}', { who, name: nameOf(String(to)) });
};

const tagsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

const tagsSentence: Sentence = ({ from, to }, who) => {
  const [before, after] = [tagsOf(from), tagsOf(to)];
  const added = after.filter(tag => !before.includes(tag)).map(tag => `#${tag}`);
  const removed = before.filter(tag => !after.includes(tag)).map(tag => `#${tag}`);
  const values = { who, added: added.join(' '), removed: removed.join(' ') };
  if (removed.length === 0) return t('{who} added {added}', values);
  return added.length === 0
    ? t('{who} removed {removed}', values)
    : t('{who} added {added} and removed {removed}', values);
};

/** The changed values of custom fields, with the labels of the fields. */
const customSentence: Sentence = ({ to }, who, { fieldLabel }) => {
  const changed = Object.entries((to ?? {}) as Record<string, unknown>).map(
    ([key, value]) => `${fieldLabel(key)}: ${value === null ? t('None') : valueText(value)}`,
  );
  return t('{who} changed {fields}', { who, fields: changed.join(', ') });
};

const SENTENCES: Partial<Record<MessageEvent['field'], Sentence>> = {
  status: statusSentence,
  snoozed_until: ({ to }, who, { timeZone }) =>
    t('{who} snoozed the conversation until {time}', { who, time: snoozeText(String(to), timeZone) }),
  assignee_id: assigneeSentence,
  priority: ({ to }, who) =>
    to === 'none'
      ? t('{who} removed the priority', { who })
      : t('{who} set the priority to {priority}', { who, priority: priorityName(to as Priority) ?? String(to) }),
  tags: tagsSentence,
  subject: ({ to }, who) =>
    to ? t('{who} changed the subject to “{subject}”', { who, subject: to }) : t('{who} removed the subject', { who }),
  custom: customSentence,
  merged_into_id: ({ to }, who) =>
    to
      ? t('{who} merged the conversation into another one', { who })
      : t('{who} deleted the conversation into which this one was merged', { who }),
};

function causeText({ reason }: MessageEvent, { macroName, ruleName }: People): string {
  if (reason.type === 'rule') {
    const rule = reason.id && ruleName(reason.id);
    return rule ? t('(rule “{rule}”)', { rule }) : t('(rule)');
  }
  if (reason.type !== 'macro') return '';
  const name = reason.id && macroName(reason.id);
  return name ? t('with “{macro}”', { macro: name }) : t('with a saved reply');
}

/**
 * Describes a change as a sentence in the language of the reader, with names instead of ids.
 *
 * An event without data, or with a field of a later version, has the text of the server.
 */
export function eventText(message: Pick<Message, 'event' | 'body' | 'author'>, people: People): string {
  const { event, body } = message;
  const who = subjectText(message, people);
  const sentence = event && SENTENCES[event.field];
  if (!event || !sentence) return `${who}: ${body}`;
  return [sentence(event, who, people), causeText(event, people)].filter(Boolean).join(' ');
}

/** Returns the name of a field's value, as in `Priority: Urgent`. */
export function fieldValueText(field: MessageEvent['field'], value: string | null, nameOf: NameOf): string {
  if (field === 'assignee_id') return value === null ? t('Unassigned') : nameOf(value);
  if (field === 'status') return conversationStatus(value as ConversationStatus) ?? value;
  if (field === 'priority') return priorityName(value as Priority) ?? value;
  return value ?? '';
}
