import type { Schemas } from '../../api/schema.ts';
import { t } from '../../i18n.ts';

export type Comparison = NonNullable<Schemas['AudienceNodeInput']['op']>;
type Value = Schemas['ComparedValueInput'];

/** The type of a compared value: of an attribute, of a property of an event, or of a fact about the device. */
export type ValueType = 'string' | 'number' | 'boolean' | 'date' | 'version';

/** A comparison in the form. The value is a text, of which lists have several separated by commas. */
export interface ComparisonValues {
  type: ValueType;
  op: Comparison;
  text: string;
  /** A stored value that the text does not express, such as one with a comma in a list. It is kept until the comparison is edited. */
  stored?: Omit<ComparisonValues, 'stored'> & { value: Value };
}

const PRESENCE: Comparison[] = ['set', 'not_set'];
const EQUALITY: Comparison[] = ['eq', 'ne', 'in', 'not_in'];
const ORDER: Comparison[] = ['gte', 'lte', 'gt', 'lt'];

/** The comparisons for each type; the first is the most common one. */
const COMPARISONS: Record<ValueType, Comparison[]> = {
  string: [...EQUALITY, 'contains', 'starts_with', 'ends_with', ...PRESENCE],
  number: [...ORDER, ...EQUALITY, ...PRESENCE],
  boolean: ['eq', ...PRESENCE],
  date: ['older_than_days', 'newer_than_days', 'before', 'after', ...PRESENCE],
  version: [...ORDER, ...EQUALITY, ...PRESENCE],
};

export const comparisonsFor = (type: ValueType): Comparison[] => COMPARISONS[type];

export const comparisonName = (op: Comparison): string =>
  ({
    eq: t('is'),
    ne: t('is not'),
    in: t('is one of'),
    not_in: t('is none of'),
    lt: t('is less than'),
    lte: t('is at most'),
    gt: t('is greater than'),
    gte: t('is at least'),
    contains: t('contains'),
    starts_with: t('starts with'),
    ends_with: t('ends with'),
    before: t('is before'),
    after: t('is after'),
    older_than_days: t('is more days ago than'),
    newer_than_days: t('is fewer days ago than'),
    set: t('has a value'),
    not_set: t('has no value'),
  })[op];

export const typeNames = (): Record<Exclude<ValueType, 'version'>, string> => ({
  string: t('Text'),
  number: t('Number'),
  boolean: t('Yes or no'),
  date: t('Date'),
});

export const hasValue = (op: Comparison): boolean => !PRESENCE.includes(op);
export const hasList = (op: Comparison): boolean => op === 'in' || op === 'not_in';
const countsDays = (op: Comparison): boolean => op.endsWith('_days');

export const newComparison = (type: ValueType): ComparisonValues => ({
  type,
  op: COMPARISONS[type][0] as Comparison,
  text: type === 'boolean' ? 'true' : '',
});

/** Returns a text as the value that the API expects; a text that is no number stays one, so that the API refuses it. */
function scalarOf(type: ValueType, text: string): string | number | boolean {
  if (type === 'number') return text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text);
  return type === 'boolean' ? text === 'true' : text;
}

/** Returns the comparison as the API expects it; without a value, where one is missing. */
export function comparisonOf({ type, op, text, stored }: ComparisonValues): { op: Comparison; value?: Value } {
  if (stored && stored.type === type && stored.op === op && stored.text === text) return { op, value: stored.value };
  if (!hasValue(op) || text.trim() === '') return { op };
  const texts = hasList(op) ? text.split(',').map(each => each.trim()) : [text.trim()];
  const values = texts.filter(Boolean).map(each => scalarOf(countsDays(op) ? 'number' : type, each));
  return { op, value: (hasList(op) ? values : values[0]) as Value }; // the API refuses a list with a text that is no number
}

function typeOfStored(op: string, value: unknown): ValueType {
  if (/^(before|after|(older|newer)_than_days)$/.test(op)) return 'date';
  const [first] = [value].flat();
  return typeof first === 'number' || typeof first === 'boolean' ? (typeof first as ValueType) : 'string';
}

/** Editor values of a stored comparison. */
export function comparisonValuesOf(
  { op, value }: { op?: string; value?: unknown },
  type = typeOfStored(op ?? '', value),
): ComparisonValues {
  const values = {
    type,
    op: (op ?? 'set') as Comparison,
    text: value === undefined ? '' : [value].flat().map(String).join(', '),
  };
  const isExpressed = JSON.stringify(comparisonOf(values).value) === JSON.stringify(value);
  return isExpressed ? values : { ...values, stored: { ...values, value: value as Value } };
}
