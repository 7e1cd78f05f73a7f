import fc from 'fast-check';
import { v4, v7 } from 'uuid';
import { afterAll, describe, expect, test } from 'vitest';
import { type ElementType, toArray } from '../../../src/storage/database/arrays.ts';
import { sqlState } from '../../../src/storage/database/errors.ts';
import { createDatabase } from '../../support/database.ts';

const database = await createDatabase();
afterAll(() => database[Symbol.asyncDispose]());

/** Every type with sample values, and the text form in which the driver would send one. */
const VALUES: Record<ElementType, { values: fc.Arbitrary<unknown>; toText: (value: never) => string }> = {
  uuid: {
    values: fc.tuple(fc.uuid(), fc.boolean()).map(([id, isUpper]) => (isUpper ? id.toUpperCase() : id)),
    toText: String,
  },
  boolean: { values: fc.boolean(), toText: String },
  int: { values: fc.integer(), toText: String },
  bigint: { values: fc.maxSafeInteger(), toText: String },
  timestamptz: {
    values: fc
      .tuple(fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }), fc.boolean())
      .map(([time, isNumber]) => (isNumber ? time.getTime() : time.toISOString())),
    toText: (value: string | number) => new Date(value).toISOString(),
  },
  text: {
    values: fc.string({ unit: 'binary', maxLength: 100 }).map(drawn => drawn.replaceAll('\u0000', '')),
    toText: String,
  },
  jsonb: {
    values: fc
      .jsonValue({ stringUnit: 'binary' })
      .filter(value => value !== null && !JSON.stringify(value).includes('\\u0000')),
    toText: (value: unknown) => JSON.stringify(value),
  },
};

describe('an array', () => {
  test.each(Object.entries(VALUES))('of %s equals its text form', async (type, { values, toText }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(values), { maxLength: 50 }), async drawn => {
        const text = drawn.map(value => (value === null ? null : toText(value as never)));
        const rows = await database.query<{ same: boolean; count: number }>(
          `select $1::${type}[] is not distinct from $2::${type}[] as same, cardinality($1::${type}[]) as count`,
          [toArray(drawn, type as ElementType), text],
        );
        expect(rows).toEqual([{ same: true, count: drawn.length }]);
      }),
      { numRuns: 50 },
    );
  });

  test('larger than the buffer is complete, and so is the next one', async () => {
    const long = Array.from({ length: 300 }, (_, index) => 'é€😀'.repeat(index));
    const ids = Array.from({ length: 20_000 }, () => v7());
    const read = (array: Buffer, type: string) => database.query(`select $1::${type}[] as read`, [array]);
    const [texts, uuids] = [toArray(long, 'text'), toArray(ids, 'uuid')];
    expect(await read(texts, 'text')).toEqual([{ read: long }]);
    expect(await read(uuids, 'uuid')).toEqual([{ read: ids }]);
  });

  test.each<[ElementType, unknown]>([
    ['uuid', `${v4().slice(0, -1)}g`],
    ['uuid', `${v4().slice(0, -1)}é`],
    ['uuid', `š${v4().slice(1)}`], // U+0161, one byte of which is an "a"
    ['uuid', v4().slice(1)],
    ['uuid', `${v4()}0`],
    ['uuid', v4().replace('-', '0')],
    ['int', 2 ** 31],
    ['bigint', 2 ** 63],
    ['timestamptz', 'half past nine'],
    ['timestamptz', '0000-01-01T00:00:00.000Z'],
  ])('of %s rejects %s like PostgreSQL', async (type, value) => {
    const refused = await database.query(`select $1::${type}[]`, [[String(value)]]).catch(sqlState);
    expect(refused).toMatch(/^22/);
    expect(() => toArray([null, value], type)).toThrow(expect.objectContaining({ code: refused }));
  });

  test('of timestamps ends with the year 9999', () => {
    const tooLate = expect.objectContaining({ code: '22008' });
    expect(() => toArray(['9999-12-31T23:59:59.999Z'], 'timestamptz')).not.toThrow();
    expect(() => toArray(['+010000-01-01T00:00:00.000Z'], 'timestamptz')).toThrow(tooLate);
  });
});
