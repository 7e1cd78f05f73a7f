import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { describeIssues, isDeeperThan, jsonPointer } from '../../src/domain/validation.ts';

test('a JSON pointer resolves to the value at its path', () => {
  expect(jsonPointer([])).toBe('');
  expect(jsonPointer(['a/b', 0, 'c~d', ''])).toBe('/a~1b/0/c~0d/');
});

describe('describing faults', () => {
  test('has a separate pointer for each unknown field', () => {
    const { error } = z.strictObject({ list: z.array(z.strictObject({})) }).safeParse({ list: [{ x: 1, y: 2 }], z: 3 });
    expect(describeIssues(error as z.ZodError).map(({ pointer, code }) => `${code} ${pointer}`)).toEqual([
      'unknown-field /list/0/x',
      'unknown-field /list/0/y',
      'unknown-field /z',
    ]);
  });

  test('stops at fifty', () => {
    const { error } = z.array(z.string()).safeParse(Array(1000).fill(1));
    expect(describeIssues(error as z.ZodError)).toHaveLength(50);
  });
});

describe('depth', () => {
  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

  test('counts objects and arrays, not scalars', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(8), (document, limit) => {
        expect(isDeeperThan(document, limit)).toBe(depthOf(document) > limit);
      }),
    );
  });

  test('of a hundred thousand levels is computed without a stack overflow', () => {
    expect(isDeeperThan(JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`), 20)).toBe(true);
  });
});
