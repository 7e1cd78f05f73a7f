import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { text } from '../../src/domain/text.ts';
import { bodyErrors, jsonPointer, parseInput, UNKNOWN_FIELD } from '../../src/domain/validation.ts';

test('a JSON pointer resolves to the value at its path', () => {
  expect(jsonPointer([])).toBe('');
  expect(jsonPointer(['a/b', 0, 'c~d', ''])).toBe('/a~1b/0/c~0d/');
});

/** The pointer, code and detail of each fault. */
const faultsOf = (schema: z.ZodType, sent: unknown): string[][] => {
  const parsed = parseInput(schema, sent);
  return parsed.success ? [] : bodyErrors(parsed.faults).map(error => Object.values(error));
};

test('a member named __proto__, which zod drops, is unknown, except in a value that is passed on as it was', () => {
  const Body = z.strictObject({ items: z.array(z.unknown()), names: z.record(z.string(), z.string()).optional() });
  expect(faultsOf(Body, JSON.parse('{"items":[{"__proto__":1}]}'))).toEqual([]);
  for (const [sent, pointer] of [
    ['{"items":[],"names":{"a":"b","__proto__":"c"}}', '/names/__proto__'],
    ['{"items":[],"names":{"\\u005f_proto__":"c"}}', '/names/__proto__'],
    ['{"items":[],"__proto__":{"names":{}}}', '/__proto__'],
  ] as const)
    expect(faultsOf(Body, JSON.parse(sent))).toEqual([[pointer, 'unknown-field', UNKNOWN_FIELD]]);
});

describe('describing faults', () => {
  const Scale = z.strictObject({ scale: z.union([z.literal(5), z.literal(7)]) });
  const Shape = z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('circle'), radius: z.int().min(1) }),
    z.strictObject({ type: z.literal('square'), side: z.int() }),
  ]);
  const Value = z.union([z.number(), z.boolean(), z.strictObject({ option_id: z.string().max(3) })]);
  const List = z.union([z.array(z.number()), z.array(text(3))]);
  const Conditions = z.array(z.strictObject({ step: z.string(), op: z.enum(['eq', 'ne']) }));
  const OneOf = z.union([z.strictObject({ any: z.number() }), z.strictObject({ all: Conditions })]);

  test.each([
    ['a missing field', Scale, {}, '/scale', 'required', 'Required: send 5 or 7.'],
    ['another literal', Scale, { scale: 6 }, '/scale', 'unknown-value', 'Must be 5 or 7.'],
    ['an unknown discriminator', Shape, { type: 'line' }, '/type', 'unknown-value', 'Must be "circle" or "square".'],
    ['a missing discriminator', Shape, { side: 1 }, '/type', 'required', 'Required: send "circle" or "square".'],
    ['the chosen branch', Shape, { type: 'circle', radius: 0 }, '/radius', 'out-of-range', 'Must be at least 1.'],
    [
      'the branch of the JSON type',
      Value,
      { option_id: 'long' },
      '/option_id',
      'too-long',
      'Must have at most 3 characters.',
    ],
    ['the branch of the type of the items', List, ['long'], '/0', 'too-long', 'Must have at most 3 characters.'],
    [
      'no branch',
      Value,
      'text',
      '',
      'wrong-type',
      'Must be a number such as 5, true or false or an object {…}, not a string.',
    ],
    [
      'a number that overflows',
      Value,
      Number.POSITIVE_INFINITY,
      '',
      'out-of-range',
      expect.stringContaining('Send it as a string.'),
    ],
    [
      'null',
      z.strictObject({ a: z.string() }),
      { a: null },
      '/a',
      'wrong-type',
      'Must be a string such as "text", not null.',
    ],
    ['no body', z.strictObject({}), undefined, '', 'required', 'Required: send an object {…}.'],
  ])('of %s names the rule', (_, schema, sent, ...fault) => {
    expect(faultsOf(schema, sent)).toEqual([fault]);
  });

  test('has a separate pointer for each unknown field', () => {
    const schema = z.strictObject({ list: z.array(z.strictObject({})) });
    expect(faultsOf(schema, { list: [{ x: 1, y: 2 }], z: 3 }).map(([pointer, code]) => `${code} ${pointer}`)).toEqual([
      'unknown-field /list/0/x',
      'unknown-field /list/0/y',
      'unknown-field /z',
    ]);
  });

  test('are those of the branch with the member that was sent', () => {
    const faults = faultsOf(OneOf, { all: [{}, {}] }).map(([pointer]) => pointer);
    expect(faults).toEqual(['/all/0/step', '/all/0/op', '/all/1/step', '/all/1/op']);
  });

  test('stops at fifty', () => {
    expect(faultsOf(z.array(z.string()), Array(1000).fill(1))).toHaveLength(50);
  });
});
