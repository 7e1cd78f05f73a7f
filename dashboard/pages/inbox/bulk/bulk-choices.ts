import type { Member } from '../../../api/names.ts';
import { t } from '../../../i18n.ts';
import { conversationStatus, PRIORITIES, priorityName } from '../../../words.ts';
import { type CustomField, type CustomValue, fieldText } from '../custom-values.ts';
import { snoozeText } from '../snooze/snooze-times.ts';
import type { BulkChange } from './bulk-run.ts';

/** A change of many conversations, and its name. */
export interface NamedChange {
  what: string;
  change: BulkChange;
}

interface Choice extends NamedChange {
  id: string;
  label: string;
  hint?: string;
}

/** Statuses that can be set without further values. */
const SETTABLE = ['open', 'pending', 'resolved'] as const;

export const statusChoices = (): Choice[] =>
  SETTABLE.map(status => {
    const label = conversationStatus(status);
    return { id: status, label, what: t('Status: {status}', { status: label }), change: { status } };
  });

/** Returns the change that snoozes until a time, named by the clock of a zone. */
export const snoozeUntil = (until: string, timeZone: string | undefined): NamedChange => ({
  what: t('Snoozed until {time}', { time: snoozeText(until, timeZone) }),
  change: { status: 'snoozed', snoozed_until: until },
});

const assignment = (id: string | null, label: string, name = label): Choice => ({
  id: id ?? '',
  label,
  what: t('Assignee: {name}', { name }),
  change: { assignee_id: id },
});

/** Oneself first, then no assignee and the other members. */
export function assigneeChoices(members: readonly Member[], me: string): Choice[] {
  const nameOf = ({ name, email }: Member) => name || email;
  const own = members.find(({ id }) => id === me);
  const others = members.filter(({ id }) => id !== me);
  return [
    ...(own ? [assignment(me, t('Me'), nameOf(own))] : []),
    assignment(null, t('Unassigned')),
    ...others.map(member => assignment(member.id, nameOf(member))),
  ];
}

export const priorityChoices = (): Choice[] =>
  PRIORITIES.map(priority => {
    const label = priorityName(priority);
    return { id: priority, label, what: t('Priority: {priority}', { priority: label }), change: { priority } };
  });

/** Returns the change of tags; undefined without any. */
export function tagChange(added: readonly string[], removed: readonly string[]): NamedChange | undefined {
  if (added.length === 0 && removed.length === 0) return undefined;
  const what = [...added.map(tag => `+ ${tag}`), ...removed.map(tag => `− ${tag}`)].join(', ');
  return {
    what: t('Tags: {tags}', { tags: what }),
    change: {
      ...(added.length > 0 ? { add_tags: [...added] } : {}),
      ...(removed.length > 0 ? { remove_tags: [...removed] } : {}),
    },
  };
}

/** Returns the change of one of the tenant's fields; null removes its value. */
export const fieldChange = ({ key, label }: CustomField, value: CustomValue | null): NamedChange => ({
  what: fieldText(label, value),
  change: { custom: { [key]: value } },
});
