import { afterAll, describe, expect, test } from 'vitest';
import { limitParsedIds, newUuid, parsedIds, parseTypeId, toTypeId } from '../../src/domain/ids.ts';

describe('the cache of parsed ids', () => {
  afterAll(() => limitParsedIds(2_000_000));

  test('stays within its limit, and drops ids one by one', () => {
    limitParsedIds(2_000_000);
    parseTypeId('card', toTypeId('card', newUuid()));
    const { bytes } = parsedIds();
    limitParsedIds(10 * bytes);
    expect(parsedIds()).toEqual({ entries: 0, bytes: 0 });
    const uuids = Array.from({ length: 25 }, newUuid);
    const counts = uuids.map(uuid => {
      expect(parseTypeId('card', toTypeId('card', uuid))).toBe(uuid);
      return parsedIds().entries;
    });
    expect(counts).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, ...Array(16).fill(10)]);
    expect(parsedIds().bytes).toBe(10 * bytes);
  });

  test('does not accept a parsed id under another prefix', () => {
    const id = toTypeId('card', newUuid());
    expect(parseTypeId('card', id)).toBeDefined();
    expect(parseTypeId('question', id)).toBeUndefined();
    expect(parseTypeId('card', id)).toBeDefined();
  });

  test('holds no text that is not an id', () => {
    const { entries } = parsedIds();
    expect(parseTypeId('card', 'card_nobody')).toBeUndefined();
    expect(parsedIds().entries).toBe(entries);
  });
});
