import { z } from 'zod';
import { MAX_FAULTS } from './bounded.ts';
import { BEYOND_PRECISION, type FieldCode, isFieldCode } from './field-errors.ts';
import type { ProblemError } from './problem.ts';

/** Returns the JSON pointer (RFC 6901) of a path. */
export const jsonPointer = (path: readonly PropertyKey[]): string =>
  path.map(part => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

export const UNKNOWN_FIELD = 'This field is not known here. Remove it or correct its name.';

/** A fault of a value: the path to it, its code, and a sentence that states the rule. */
export interface Fault {
  path: PropertyKey[];
  code: FieldCode;
  detail: string;
}

export type Parsed<T> = { success: true; data: T } | { success: false; faults: Fault[] };

export type Schema<T> = z.ZodType<T>;

type Issue = z.core.$ZodIssue;
type IssueOf<Code extends Issue['code']> = Extract<Issue, { code: Code }>;

/** Makes zod leave a message empty unless the schema has its own, so that its default texts never reach a reply. */
const OWN_MESSAGES = { error: () => '', async: false } as const;
const FIRST_FAULT = { ...OWN_MESSAGES, abortEarly: true };

const PROTO = '__proto__';

/**
 * Returns the path of the first member named `__proto__` that the parsed data lacks: zod drops it silently, from strict
 * objects and records too. A value that zod has passed on as it was, such as an item that is parsed later, lacks nothing.
 */
function findDropped(sent: unknown, data: unknown): PropertyKey[] | undefined {
  if (typeof sent !== 'object' || sent === null || sent === data || typeof data !== 'object' || data === null)
    return undefined;
  if (Object.hasOwn(sent, PROTO) && !Object.hasOwn(data, PROTO)) return [PROTO];
  for (const name of Object.keys(sent)) {
    const path = findDropped(sent[name as never], data[name as never]);
    if (path) return [name, ...path];
  }
  return undefined;
}

/**
 * Parses a value. Returns its data, or at most 50 faults. A fault in a union is that of the branch that was meant.
 *
 * It uses zod's own step, because `safeParse` describes every fault, also those that no reply contains.
 */
export function parseInput<T>(schema: Schema<T>, sent: unknown): Parsed<T> {
  return parseWith(schema, sent, OWN_MESSAGES);
}

/** Like `parseInput`, for an item of a batch, of which only the first fault is reported: zod stops there. */
export const parseItem = <T>(schema: Schema<T>, sent: unknown): Parsed<T> => parseWith(schema, sent, FIRST_FAULT);

function parseWith<T>(schema: Schema<T>, sent: unknown, context: z.core.ParseContextInternal): Parsed<T> {
  const { value, issues } = schema._zod.run({ value: sent, issues: [] }, context) as z.core.ParsePayload<T>;
  if (issues.length === 0) {
    const path = findDropped(sent, value);
    return path
      ? { success: false, faults: [{ path, code: 'unknown-field', detail: UNKNOWN_FIELD }] }
      : { success: true, data: value };
  }
  const described = issues.slice(0, MAX_FAULTS).map(issue => z.core.util.finalizeIssue(issue, context, z.config()));
  return { success: false, faults: described.flatMap(issue => faultsOf(issue, sent)).slice(0, MAX_FAULTS) };
}

/** Returns faults of a body as errors with JSON pointers. `base` is the pointer of the parsed value in the body. */
export const bodyErrors = (faults: readonly Fault[], base = ''): ProblemError[] =>
  faults.map(({ path, code, detail }) => ({ pointer: base + jsonPointer(path), code, detail }));

/** Returns faults of a query as errors with the names of parameters. */
export const parameterErrors = (faults: readonly Fault[]): ProblemError[] =>
  faults.map(({ path, code, detail }) => ({ parameter: String(path[0] ?? ''), code, detail }));

/** Returns the value at a path of a JSON document; `undefined` where there is none. */
const valueAt = (document: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      value !== null && typeof value === 'object' && Object.hasOwn(value, key) ? value[key as never] : undefined,
    document,
  );

function faultsOf(issue: Issue, sent: unknown): Fault[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.slice(0, MAX_FAULTS).map(key => ({
      path: [...issue.path, key],
      code: 'unknown-field',
      detail: UNKNOWN_FIELD,
    }));
  if (issue.code === 'invalid_union' && !issue.message && !issue.discriminator)
    return faultsOfUnion(issue.errors, valueAt(sent, issue.path)).map(fault => ({
      ...fault,
      path: [...issue.path, ...fault.path],
    }));
  if (issue.code === 'invalid_key')
    return issue.issues.flatMap(inner => faultsOf({ ...inner, path: issue.path }, sent));
  return [{ path: issue.path, ...describe(issue, valueAt(sent, issue.path)) }];
}

/** Whether a branch of a union refuses the value as a whole: by its JSON type, or because it requires another literal. */
const isRefusal = (issues: readonly Issue[]): boolean =>
  issues.some(({ code, path }) => path.length === 0 && (code === 'invalid_type' || code === 'invalid_value'));

/** Whether a value is a number such as `1e400`, which JSON parsers read as infinity. */
const isInfinite = (value: unknown): boolean =>
  value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY;

const countUnknown = (issues: readonly Issue[]): number =>
  issues.filter(({ code, path }) => code === 'unrecognized_keys' && path.length === 0).length;
const countOtherType = (issues: readonly Issue[]): number =>
  issues.filter(({ code }) => code === 'invalid_type').length;

/** Orders branches by unknown members of the value, then by its parts of another type, then by all faults. */
const byDistance = (one: readonly Issue[], other: readonly Issue[]): number =>
  countUnknown(one) - countUnknown(other) || countOtherType(one) - countOtherType(other) || one.length - other.length;

/** Returns the faults of the nearest branch that accepts the value's JSON type, or one fault that lists every alternative. */
function faultsOfUnion(branches: readonly (readonly Issue[])[], value: unknown): Fault[] {
  const meant = branches.filter(issues => !isRefusal(issues));
  if (isInfinite(value)) return [{ path: [], code: 'out-of-range', detail: BEYOND_PRECISION }];
  const [nearest] = meant.toSorted(byDistance);
  if (nearest) return nearest.flatMap(issue => faultsOf(issue, value));
  const [first] = branches.flat();
  if (value === undefined) return [{ path: [], code: 'required', detail: `Required: send ${alternatives(branches)}.` }];
  const code = branches.flat().every(issue => issue.code === 'invalid_value') ? 'unknown-value' : 'wrong-type';
  return first ? [{ path: [], code, detail: `Must be ${alternatives(branches)}${insteadOf(code, value)}.` }] : [];
}

const alternatives = (branches: readonly (readonly Issue[])[]): string =>
  listed(branches.flatMap(([issue]) => (issue ? expectations(issue) : [])));

/** Returns what an issue requires of the whole value, as parts of a sentence. */
const expectations = (issue: Issue): string[] =>
  issue.code === 'invalid_value'
    ? issue.values.map(quoted)
    : issue.code === 'invalid_type'
      ? [TYPES[issue.expected] ?? 'another type']
      : [];

const quoted = (value: unknown): string =>
  JSON.stringify(typeof value === 'bigint' ? String(value) : value) ?? String(value);

/** Returns the values of a discriminator. */
const optionsOf = (issue: IssueOf<'invalid_union'>): string[] =>
  'options' in issue ? (issue.options ?? []).map(quoted) : [];

/** Joins alternatives, each once: `a, b or c`. */
function listed(alternatives: readonly string[]): string {
  const parts = [...new Set(alternatives)];
  return parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} or ${parts.at(-1)}`;
}

/** JSON types in sentences, with an example of those that callers confuse. */
const TYPES: Record<string, string> = {
  string: 'a string such as "text"',
  number: 'a number such as 5',
  int: 'an integer such as 5',
  boolean: 'true or false',
  object: 'an object {…}',
  record: 'an object {…}',
  array: 'an array […]',
  null: 'null',
};

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (Number.isNaN(value)) return 'other text'; // a query parameter that is not a number
  return TYPE_NAMES[typeof value] ?? typeof value;
}

const TYPE_NAMES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  boolean: 'a boolean',
  object: 'an object',
};

const insteadOf = (code: FieldCode, value: unknown): string => (code === 'wrong-type' ? `, not ${typeOf(value)}` : '');

type Description = Pick<Fault, 'code' | 'detail'>;

/** Describes an issue of one value. A message of the schema's own wins over the general sentence. */
function describe(issue: Issue, value: unknown): Description {
  if (value === undefined && issue.code !== 'custom')
    return { code: 'required', detail: issue.message ? `Required. ${issue.message}` : describeMissing(issue) };
  const { code, detail } = describeRule(issue, value);
  return { code, detail: issue.message || detail };
}

function describeMissing(issue: Issue): string {
  const expected = issue.code === 'invalid_union' ? optionsOf(issue) : expectations(issue);
  return expected.length > 0 ? `Required: send ${listed(expected)}.` : 'Required.';
}

function describeRule(issue: Issue, value: unknown): Description {
  switch (issue.code) {
    case 'invalid_type':
      return describeType(issue, value);
    case 'invalid_value':
      return { code: 'unknown-value', detail: `Must be ${listed(issue.values.map(quoted))}.` };
    case 'invalid_union':
      return { code: 'unknown-value', detail: `Must be ${listed(optionsOf(issue))}.` };
    case 'too_big':
      return describeSize(issue.origin, `at most ${issue.maximum}`, 'too-long', 'too-many');
    case 'too_small':
      return describeSize(issue.origin, `at least ${issue.minimum}`, 'too-short', 'too-few');
    case 'invalid_format':
      return { code: 'invalid-format', detail: describeFormat(issue) };
    case 'custom':
      return { code: isFieldCode(issue.params?.code) ? issue.params.code : 'not-allowed', detail: 'Is not allowed.' };
    default:
      return { code: 'not-allowed', detail: 'Is not allowed.' };
  }
}

function describeType({ expected }: IssueOf<'invalid_type'>, value: unknown): Description {
  if (expected === 'never') return { code: 'unknown-field', detail: UNKNOWN_FIELD };
  const isNumber = typeof value === 'number';
  if (isNumber && isInfinite(value) && (expected === 'number' || expected === 'int'))
    return { code: 'out-of-range', detail: BEYOND_PRECISION };
  const instead = expected === 'int' && isNumber ? 'a fraction' : typeOf(value);
  return { code: 'wrong-type', detail: `Must be ${TYPES[expected] ?? expected}, not ${instead}.` };
}

/** A bound of a number, the characters of a text, or the items of a list. */
function describeSize(origin: string, bound: string, text: FieldCode, list: FieldCode): Description {
  if (origin === 'string') return { code: text, detail: `Must have ${bound} characters.` };
  if (origin === 'number' || origin === 'int') return { code: 'out-of-range', detail: `Must be ${bound}.` };
  return { code: list, detail: `Must have ${bound} ${bound.endsWith(' 1') ? 'item' : 'items'}.` };
}

const FORMATS: Record<string, string> = {
  email: 'an e-mail address such as ada@example.com',
  url: 'an http or https URL such as https://example.com/page',
  uuid: 'a UUID such as 01936d5e-8f00-7000-8000-000000000001',
  date: 'a calendar day such as 2026-11-21',
  datetime: 'an RFC 3339 time such as 2026-11-21T07:00:00.000Z',
};

const describeFormat = ({ format, pattern }: IssueOf<'invalid_format'>): string =>
  `Must be ${FORMATS[format] ?? `of the form ${pattern ?? format}`}.`;
