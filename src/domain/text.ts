import { z } from 'zod';

/** Whether PostgreSQL can store the text: no U+0000, no lone surrogate (reliability: refused before the 202). */
export const isStorable = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed();

const STORABLE = 'must not contain U+0000 or a lone surrogate';

/** Counts the characters (Unicode code points) of a text, like JSON Schema and PostgreSQL. */
const countCharacters = (text: string): number => {
  let count = 0;
  for (const _ of text) count++;
  return count;
};

function faultOf(text: string, max: number, min: number): string | undefined {
  if (text.length > max && (text.length > 2 * max || countCharacters(text) > max))
    return `must have at most ${max} characters`;
  if (text.length < min) return `must have at least ${min} character${min === 1 ? '' : 's'}`;
  return isStorable(text) ? undefined : STORABLE;
}

/**
 * Returns a schema of storable text of `min`…`max` characters. A single check, since each costs time for every received
 * text.
 */
export const text = (max: number, min = 0) =>
  z
    .string()
    .check(({ value, issues }) => {
      const fault = faultOf(value, max, min);
      if (fault) issues.push({ code: 'custom', message: fault, input: value });
    })
    .meta({ ...(min > 0 ? { minLength: min } : {}), maxLength: max });

/**
 * Returns a schema of an object with field names of one form and values of one schema.
 *
 * It replaces `z.record` at half the cost: that creates three objects per field name.
 */
export const fields = <Value extends z.ZodType>(names: RegExp, value: Value) =>
  z
    .object({})
    .catchall(value)
    .check(({ value, issues }) => {
      for (const name of Object.keys(value))
        if (!names.test(name)) issues.push({ code: 'custom', message: 'has no such name', input: name, path: [name] });
    })
    .meta({ propertyNames: { type: 'string', pattern: names.source } });

/** A user identity: 1…256 characters, NFC, no control characters (contract section 2). */
export const Identity = text(256, 1)
  .refine(value => !/\p{Cc}/u.test(value), 'must not contain control characters')
  .refine(value => value === value.normalize('NFC'), 'must be in Unicode normalization form C')
  .meta({
    description: 'Id of a user in your own system; send integer ids as strings',
    example: 'user|42',
  });

/** The search rules, for parameter descriptions. */
export const SEARCHED =
  'matches all words or word prefixes, in any order, ignoring case and accents. A query without a letter, digit or pictograph has no matches';

/** The words to search for. */
export const SearchWords = text(200, 1).refine(words => words.trim() !== '', 'must hold more than spaces');

/** A label that the team attaches to a record. */
export const Tag = text(50, 1).refine(value => value.trim() === value, 'must not start or end with a space');

/** At most 20 distinct labels. */
export const Tags = z
  .array(Tag)
  .max(20)
  .refine(tags => new Set(tags).size === tags.length, 'must not repeat a tag')
  .meta({ description: 'Labels set by the team: at most 20, each at most 50 characters', uniqueItems: true });

/** Whether a time has a four-digit year in UTC, after applying the offset: the range of RFC 3339 and PostgreSQL. */
function isWithinCalendar(time: Date): boolean {
  const year = time.getUTCFullYear();
  return year >= 1 && year <= 9999;
}

/** RFC 3339 in UTC or with an offset, parsed into a `Date`. */
export const Timestamp = z.iso
  .datetime({ offset: true })
  .max(40)
  .transform(value => new Date(value))
  .refine(isWithinCalendar, 'must lie in the years 1 to 9999')
  .meta({ description: 'RFC 3339 time', example: '2026-11-21T07:00:00.000Z' });

/** A day of the calendar, `YYYY-MM-DD`, in the years 1 to 9999. */
export const Day = z.iso
  .date()
  .refine(day => !day.startsWith('0000'), 'must lie in the years 1 to 9999')
  .meta({ description: 'A day, `YYYY-MM-DD`', example: '2026-11-21' });

/** A time in replies. */
export const TimestampOut = z.iso.datetime().meta({ description: 'RFC 3339, UTC, milliseconds' });
