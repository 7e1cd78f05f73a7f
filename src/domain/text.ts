import { z } from 'zod';
import { arrayOf } from './bounded.ts';
import { EXAMPLE_TIME } from './documented.ts';
import { BEYOND_PRECISION, type FieldCode, issueOf, rule } from './field-errors.ts';

/** Whether PostgreSQL can store the text: no U+0000, no lone surrogate (reliability: refused before the 202). */
export const isStorable = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed();

const UNSTORABLE: [FieldCode, string] = ['invalid-characters', 'Must not contain U+0000 or a lone surrogate.'];
/** The rule that a text must be storable, for refinements. */
export const STORABLE = rule(...UNSTORABLE);

/** Counts the characters (Unicode code points) of a text, like JSON Schema and PostgreSQL. */
const countCharacters = (text: string): number => {
  let count = 0;
  for (const _ of text) count++;
  return count;
};

/** Returns the fault of a text with more than `max` characters, or fewer than `min` UTF-16 units, as browsers count. */
export function findLengthFault(text: string, max: number, min: number): [FieldCode, string] | undefined {
  if (text.length > max && (text.length > 2 * max || countCharacters(text) > max))
    return ['too-long', `Must have at most ${max} characters.`];
  if (text.length < min) return ['too-short', `Must have at least ${min} character${min === 1 ? '' : 's'}.`];
  return undefined;
}

const faultOf = (text: string, max: number, min: number): [FieldCode, string] | undefined =>
  findLengthFault(text, max, min) ?? (isStorable(text) ? undefined : UNSTORABLE);

/**
 * Returns a schema of storable text of `min`…`max` characters. A single check, since each costs time for every received
 * text. `example` is for the error of another type, and for examples.
 */
export const text = (max: number, min = 0, example = '') =>
  z
    .string(example && `Must be a string such as "${example}".`)
    .check(({ value, issues }) => {
      const fault = faultOf(value, max, min);
      if (fault) issues.push(issueOf(...fault, value));
    })
    .meta({ ...(min > 0 ? { minLength: min } : {}), maxLength: max, ...(example ? { example } : {}) });

const BLANK = rule('too-short', 'Must have at least 1 character other than white space.');

/** Returns a schema of a name, title or label: a text of 1…`max` characters that people can see. */
export const label = (max: number, example = '') =>
  text(max, 1, example).refine(value => value === '' || value.trim() !== '', BLANK);

/** Returns a schema of an id that `objects`, in the plural, have as the name of a member. */
export const memberName = (example: string, objects: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, `Must be 1 to 64 of the characters A-Z a-z 0-9 _ -, such as "${example}".`)
    .refine(
      name => name !== '__proto__',
      rule('not-allowed', `Must not be "__proto__", which ${objects} cannot have as a name.`),
    );

/** A number that JSON parsers read without rounding to another integer: at most 2⁵³ - 1, positive or negative. */
export const PreciseNumber = z
  .number()
  .min(-Number.MAX_SAFE_INTEGER, BEYOND_PRECISION)
  .max(Number.MAX_SAFE_INTEGER, BEYOND_PRECISION);

/** A user identity: 1…256 characters, NFC, no control characters (contract section 2). */
export const Identity = text(256, 1, 'user|42')
  .refine(value => !/\p{Cc}/u.test(value), rule('invalid-characters', 'Must not contain control characters.'))
  .refine(
    value => value === value.normalize('NFC'),
    rule('invalid-characters', 'Must be in Unicode normalization form C (NFC).'),
  )
  .meta({
    description: 'Id of a user in your own system; send integer ids as strings',
    example: 'user|42',
  });

/** A link that cannot run a script: http or https, at most 2000 characters. */
export const WebAddress = z
  .url({ protocol: /^https?$/ })
  .max(2000)
  .refine(isStorable, STORABLE);

/** The search rules, for parameter descriptions. */
export const SEARCHED =
  'matches all words or word prefixes, in any order, ignoring case and accents. A query without a letter, digit or pictograph has no matches';

/** The words to search for. */
export const SearchWords = text(200, 1).refine(
  words => words.trim() !== '',
  rule('too-short', 'Must contain a word, not only spaces.'),
);

/** A label that the team attaches to a record. */
export const Tag = text(50, 1).refine(
  value => value.trim() === value,
  rule('invalid-characters', 'Must not start or end with a space.'),
);

/** Maximum number of labels of one record. */
export const MAX_TAGS = 20;

/** At most 20 distinct labels. */
export const Tags = arrayOf(Tag)
  .max(MAX_TAGS)
  .refine(tags => new Set(tags).size === tags.length, rule('repeated-item', 'Must not contain a tag twice.'))
  .meta({ description: 'Labels set by the team: at most 20, each at most 50 characters', uniqueItems: true });

/** Whether a time has a four-digit year in UTC, after applying the offset: the range of RFC 3339 and PostgreSQL. */
function isWithinCalendar(time: Date): boolean {
  const year = time.getUTCFullYear();
  return year >= 1 && year <= 9999;
}

const YEARS = rule('out-of-range', 'Must be in the years 1 to 9999.');

/** RFC 3339 in UTC or with an offset, parsed into a `Date`. */
export const Timestamp = z.iso
  .datetime({ offset: true, error: `Must be an RFC 3339 time such as ${EXAMPLE_TIME}.` })
  .max(40)
  .transform(value => new Date(value))
  .refine(isWithinCalendar, YEARS)
  .meta({ description: 'RFC 3339 time', example: EXAMPLE_TIME });

/** A day of the calendar, `YYYY-MM-DD`, in the years 1 to 9999. */
export const Day = z.iso
  .date()
  .refine(day => !day.startsWith('0000'), YEARS)
  .meta({ description: 'A day, `YYYY-MM-DD`', example: '2026-11-21' });

/** A list of 1 to `most` items of one type. */
export const listOf = <Item extends z.ZodType>(item: Item, most: number) => arrayOf(item).min(1).max(most);

/** A time in replies. */
export const TimestampOut = z.iso.datetime().meta({ description: 'RFC 3339, UTC, milliseconds' });
