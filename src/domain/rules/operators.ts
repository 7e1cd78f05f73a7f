import { z } from 'zod';
import type { FieldCode } from '../field-errors.ts';
import { listOf, PreciseNumber, text } from '../text.ts';

/** How an audience or a trigger compares a value. */
export const VALUE_OPERATORS = [
  'eq',
  'ne',
  'in',
  'not_in',
  'lt',
  'lte',
  'gt',
  'gte',
  'contains',
  'starts_with',
  'ends_with',
  'before',
  'after',
  'older_than_days',
  'newer_than_days',
  'set',
  'not_set',
] as const;
export type ValueOperator = (typeof VALUE_OPERATORS)[number];

/** Maximum number of values in the list of `in` and `not_in`. */
export const MAX_LISTED_VALUES = 100;

/** A value with which an audience or a trigger compares. */
export const ComparedValue = z
  .union([
    text(256),
    PreciseNumber,
    z.boolean(),
    listOf(text(256), MAX_LISTED_VALUES),
    listOf(PreciseNumber, MAX_LISTED_VALUES),
    listOf(z.boolean(), MAX_LISTED_VALUES),
  ])
  .meta({
    id: 'ComparedValueInput',
    description:
      'A string, number or boolean; a list of one type for `in` and `not_in`; a number of days for `older_than_days` and `newer_than_days`; absent for `set` and `not_set`',
  });
export type ComparedValue = z.output<typeof ComparedValue>;

/** `ComparedValue` in replies. Its lists have one type: generated Python clients cannot read a list of a union. */
export const ComparedValueOut = z
  .union([z.string(), z.number(), z.boolean(), z.array(z.string()), z.array(z.number()), z.array(z.boolean())])
  .meta({ id: 'ComparedValue', description: 'Absent for operators without a value' });

/** A fault of an operator's value: its code, and the rule. */
export type OperandFault = [code: FieldCode, rule: string];

const DATE = /^\d{4}-\d\d-\d\d(?:[Tt]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d))?$/;

/** Returns the time of a day (its start in UTC) or of an RFC 3339 time, in milliseconds since 1970; undefined for others. */
export function parseDate(value: unknown): number | undefined {
  if (typeof value !== 'string' || !DATE.test(value)) return undefined;
  const time = Date.parse(value.toUpperCase());
  if (Number.isNaN(time)) return undefined;
  const [day = ''] = value.split(/[Tt]/);
  const start = new Date(`${day}T00:00:00Z`); // invalid for 0001-12-45, which Date.parse reads as 12 January 1945
  return !Number.isNaN(start.getTime()) && start.toISOString().startsWith(day) ? time : undefined; // refuses 2026-02-30
}

/** Maximum number of days of `older_than_days` and `newer_than_days`: a hundred years. */
const MAX_DAYS = 36_500;

const needsNumber = (value: unknown): OperandFault | undefined =>
  typeof value === 'number' ? undefined : ['wrong-type', 'Must be a number such as 5.'];
const needsText = (value: unknown): OperandFault | undefined => {
  if (typeof value !== 'string') return ['wrong-type', 'Must be a string such as "text".'];
  return value === '' ? ['too-short', 'Must have at least 1 character.'] : undefined;
};
const needsDate = (value: unknown): OperandFault | undefined => {
  if (typeof value !== 'string') return ['wrong-type', 'Must be a string such as "2026-11-21".'];
  return parseDate(value) === undefined
    ? ['invalid-format', 'Must be a day such as 2026-11-21, or an RFC 3339 time such as 2026-11-21T07:00:00.000Z.']
    : undefined;
};
const needsDays = (value: unknown): OperandFault | undefined => {
  if (typeof value !== 'number') return ['wrong-type', 'Must be a number such as 30.'];
  const isDays = Number.isInteger(value) && value >= 0 && value <= MAX_DAYS;
  return isDays ? undefined : ['out-of-range', `Must be an integer from 0 to ${MAX_DAYS}.`];
};
const needsScalar = (value: unknown): OperandFault | undefined =>
  Array.isArray(value) ? ['wrong-type', 'Must be a single value.'] : undefined;
const needsList = (value: unknown): OperandFault | undefined =>
  Array.isArray(value) ? undefined : ['wrong-type', 'Must be a list such as ["a", "b"].'];

const CHECKS: Record<Exclude<ValueOperator, 'set' | 'not_set'>, (value: unknown) => OperandFault | undefined> = {
  ...{ eq: needsScalar, ne: needsScalar, in: needsList, not_in: needsList },
  ...{ lt: needsNumber, lte: needsNumber, gt: needsNumber, gte: needsNumber },
  ...{ contains: needsText, starts_with: needsText, ends_with: needsText },
  ...{ before: needsDate, after: needsDate, older_than_days: needsDays, newer_than_days: needsDays },
};

/** Returns the fault of an operator's value, if any. */
export function faultOfOperand(op: ValueOperator, value: unknown): OperandFault | undefined {
  if (op === 'set' || op === 'not_set')
    return value === undefined ? undefined : ['not-allowed', `Must be omitted for "${op}".`];
  return value === undefined ? ['required', `Required for "${op}".`] : CHECKS[op](value);
}
