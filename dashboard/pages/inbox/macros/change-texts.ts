import { formatNumber, t } from '../../../i18n.ts';
import { conversationStatus, priorityName } from '../../../words.ts';
import { fieldText } from '../custom-values.ts';
import type { NameOf } from '../event-text.ts';
import type { Macro } from './use-macros.ts';

const UNITS: [unit: string, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

/** Formats a span of time in the largest unit that it is a multiple of. */
export function spanText(seconds: number): string {
  const [unit, size] = UNITS.find(([, length]) => seconds % length === 0) ?? ['second', 1];
  return formatNumber(seconds / size, { style: 'unit', unit, unitDisplay: 'long' });
}

/** Names for the ids and keys in the changes of a macro. */
export interface ChangeNames {
  nameOf: NameOf;
  /** Returns the label of a custom field. */
  labelOf(key: string): string;
}

/** Returns the changes of a macro, a short text each. */
export function changeTexts({ changes }: Pick<Macro, 'changes'>, { nameOf, labelOf }: ChangeNames): string[] {
  const { status, snooze_for_s, assignee_id, priority, add_tags = [], remove_tags = [], custom = {} } = changes;
  const texts = [
    snooze_for_s !== undefined && t('Snooze for {time}', { time: spanText(snooze_for_s) }),
    snooze_for_s === undefined && status && t('Set to “{status}”', { status: conversationStatus(status) }),
    assignee_id && t('Assign to {name}', { name: nameOf(assignee_id) }),
    assignee_id === null && t('Remove the assignee'),
    priority && t('Priority: {priority}', { priority: priorityName(priority) }),
    add_tags.length > 0 && t('Add {tags}', { tags: add_tags.map(tag => `#${tag}`).join(' ') }),
    remove_tags.length > 0 && t('Remove {tags}', { tags: remove_tags.map(tag => `#${tag}`).join(' ') }),
    ...Object.entries(custom).map(([key, value]) => fieldText(labelOf(key), value)),
  ];
  return texts.filter((text): text is string => Boolean(text));
}
