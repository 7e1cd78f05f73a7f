import { z } from 'zod';

/** Whether PostgreSQL can hold the text as it is: no U+0000, no lone surrogate (reliability: refused before the 202). */
export const isStorable = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed();

const STORABLE = 'must not contain U+0000 or a lone surrogate';

/** A schema of storable text of `min`…`max` UTF-16 units. */
export const text = (max: number, min = 0) => z.string().min(min).max(max).refine(isStorable, STORABLE);

/** A user identity: 1…256 characters, NFC, no control characters (contract section 2). */
export const Identity = z
  .string()
  .min(1)
  .max(256)
  .refine(isStorable, STORABLE)
  .refine(value => !/\p{Cc}/u.test(value), 'must not contain control characters')
  .refine(value => value === value.normalize('NFC'), 'must be in Unicode normalization form C')
  .meta({
    description: 'Names a user in your own system; send integer ids as strings',
    example: 'user|42',
  });

/** A label that the team puts on a record. */
export const Tag = text(50, 1).refine(value => value.trim() === value, 'must not start or end with a space');

/** At most 20 labels, each once. */
export const Tags = z
  .array(Tag)
  .max(20)
  .refine(tags => new Set(tags).size === tags.length, 'must not repeat a tag')
  .meta({ description: 'Labels of the team, at most 20, each at most 50 characters' });

/** RFC 3339 in UTC or with an offset; comes out as a `Date`. */
export const Timestamp = z.iso
  .datetime({ offset: true })
  .max(40)
  .transform(value => new Date(value))
  .meta({ description: 'RFC 3339 time', example: '2026-11-21T07:00:00.000Z' });

/** A time as the API sends it. */
export const TimestampOut = z.iso.datetime().meta({ description: 'RFC 3339, UTC, milliseconds' });
