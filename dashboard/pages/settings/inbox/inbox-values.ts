import type { Tenant } from '../../../api/names.ts';
import type { Schemas } from '../../../api/schema.ts';
import { PRIORITIES, type Priority } from '../../../words.ts';

type OfficePeriod = Schemas['OfficePeriod'];
type CustomField = Schemas['CustomField'];

/** Days of the week; 1 is Monday. */
export const DAYS = [1, 2, 3, 4, 5, 6, 7] as const;
const WORKDAYS = 5;

/** Reply targets and office hours in the form. A priority without a target is null. */
export interface ReplyValues {
  reply_targets: Record<Priority, number | null>;
  office_hours: OfficePeriod[];
}

/** A time field has no 24:00; as the end of a period, midnight is that. */
const toField = (period: OfficePeriod): OfficePeriod => ({
  ...period,
  to: period.to === '24:00' ? '00:00' : period.to,
});
const toPeriod = (period: OfficePeriod): OfficePeriod => ({
  ...period,
  to: period.to === '00:00' ? '24:00' : period.to,
});

export const replyValuesOf = ({ reply_targets, office_hours }: Tenant): ReplyValues => ({
  reply_targets: Object.fromEntries(
    PRIORITIES.map(priority => [priority, reply_targets[priority] ?? null]),
  ) as ReplyValues['reply_targets'],
  office_hours: office_hours.map(toField),
});

/** Returns the settings of the form, with the periods in its order, so that faults are at their fields. */
export const repliesOf = ({ reply_targets, office_hours }: ReplyValues) => ({
  reply_targets: Object.fromEntries(Object.entries(reply_targets).filter(([, minutes]) => minutes !== null)),
  office_hours: office_hours.map(toPeriod),
});

/** Returns the next period of a day: in the morning, or from the end of the last one to the evening. */
export function nextPeriod(periods: readonly OfficePeriod[], day: number): OfficePeriod {
  const last = periods.filter(period => period.day === day).at(-1);
  if (!last) return { day, from: '09:00', to: '17:00' };
  const from = last.to === '00:00' || last.to >= '23:00' ? '22:00' : last.to;
  return { day, from, to: from < '18:00' ? '18:00' : '23:00' };
}

/** Monday to Friday from nine to five. */
export const usualHours = (): OfficePeriod[] =>
  DAYS.slice(0, WORKDAYS).map(day => ({ day, from: '09:00', to: '17:00' }));

/** A custom field in the form; options are one per line. */
export interface FieldValues {
  key: string;
  label: string;
  type: CustomField['type'];
  options: string;
  /** Whether the field is new, so that its key follows from its label. */
  isNew: boolean;
}

export const fieldValuesOf = (fields: readonly CustomField[]): FieldValues[] =>
  fields.map(({ options = [], ...field }) => ({ ...field, options: options.join('\n'), isNew: false }));

export const newField = (): FieldValues => ({ key: '', label: '', type: 'text', options: '', isNew: true });

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean);

export const fieldsOf = (values: readonly FieldValues[]): CustomField[] =>
  values.map(({ key, label, type, options }) => ({
    key: key.trim(),
    label: label.trim(),
    type,
    ...(type === 'choice' ? { options: linesOf(options) } : {}),
  }));

const MAX_KEY = 40;

/** Returns a key for a label: “Order number” is `order_number`. */
export const keyOf = (label: string): string =>
  label
    .normalize('NFD')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+/, '')
    .replace(/_+$/, '')
    .slice(0, MAX_KEY);
