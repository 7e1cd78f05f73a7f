import type { Tenant } from '../../api/names.ts';
import { t } from '../../i18n.ts';
import { valueText } from '../../words.ts';
import type { Conversation } from './conversation-changes.ts';

export type CustomField = Tenant['custom_fields'][number];
export type CustomValue = NonNullable<Conversation['custom']>[string];

/** Returns the type of the control of a field without options. */
export const inputTypeOf = ({ type }: CustomField): 'text' | 'number' | 'date' =>
  type === 'number' || type === 'date' ? type : 'text';

/** Returns the value of a field for the text of its control; null for none. */
export function readValue({ type }: CustomField, text: string): CustomValue | null {
  if (text.trim() === '') return null;
  if (type === 'number') return Number(text);
  return type === 'boolean' ? text === 'true' : text.trim();
}

/** Returns the options of a field that is chosen. */
export const optionsOf = ({ type, options = [] }: CustomField): [value: string, label: string][] =>
  type === 'boolean'
    ? [
        ['true', valueText(true)],
        ['false', valueText(false)],
      ]
    : options.map(option => [option, option]);

/** Whether a field is a choice among options. */
export const hasOptions = ({ type }: CustomField): boolean => type === 'boolean' || type === 'choice';

/** Returns the text of a field that is set to a value; null for none. */
export const fieldText = (label: string, value: CustomValue | null): string =>
  value === null ? t('{field}: no value', { field: label }) : `${label}: ${valueText(value)}`;
