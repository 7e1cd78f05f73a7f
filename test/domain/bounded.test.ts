import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { OPERATIONS } from '../../src/api/routes/index.ts';
import { NewAnswer } from '../../src/domain/answers/answers.ts';
import { arrayOf, fields, MAX_FAULTS, recordOf } from '../../src/domain/bounded.ts';
import { IdentityItem } from '../../src/domain/people/identities.ts';
import { QuestionPatch } from '../../src/domain/questions/questions.ts';
import { TYPES } from '../../src/domain/questions/types/index.ts';
import { text } from '../../src/domain/text.ts';
import { parseInput, parseItem } from '../../src/domain/validation.ts';

type Node = z.core.$ZodType & { _zod: { def: Record<string, unknown>; traits: Set<string> } };

/** Returns the schemas inside a schema. */
function partsOf({ _zod: { def } }: Node): Node[] {
  const { innerType, in: input, element, keyType, valueType, catchall, shape, options } = def as Record<string, Node>;
  const single = [innerType, input, element, keyType, valueType, catchall].filter(part => part !== undefined);
  return [...single, ...Object.values(shape ?? {}), ...((options ?? []) as unknown as Node[])];
}

function collect(schema: Node, found = new Set<Node>()): Set<Node> {
  if (found.has(schema)) return found;
  found.add(schema);
  for (const part of partsOf(schema)) collect(part, found);
  return found;
}

const bodies = [
  ...OPERATIONS.flatMap(({ body }) => body ?? []),
  NewAnswer,
  IdentityItem,
  ...Object.values(TYPES).map(({ config }) => config),
];

/** Returns a text that counts how often it is parsed. */
function counted() {
  const count = { parsed: 0 };
  const schema = text(10).refine(() => {
    count.parsed++;
    return false;
  });
  return { schema, count };
}

const named = (length: number, value: unknown) =>
  Object.fromEntries(Array.from({ length }, (_, index) => [`n${index}`, value]));

describe('a body', () => {
  test('has only lists and records that count their items before they parse them', () => {
    const parts = bodies.flatMap(body => [...collect(body as unknown as Node)]);
    const open = parts.filter(({ _zod: { def, traits } }) =>
      def.type === 'array'
        ? !traits.has('BoundedArray')
        : def.type === 'record'
          ? !traits.has('BoundedRecord')
          : def.type === 'object' &&
              !['never', undefined].includes((def.catchall as Node | undefined)?._zod.def.type as string)
            ? !traits.has('BoundedObject')
            : false,
    );
    expect(open.map(({ _zod: { def } }) => def.type)).toEqual([]);
  });

  test('with too many conditions has one fault, without a look at them', () => {
    const list = (item: unknown) => Array.from({ length: 20 }, () => item);
    const audience = { all: list({ any: list({ all: list({ verified: 'no' }) }) }) };
    expect(parseInput(QuestionPatch, { audience })).toEqual({
      success: false,
      faults: [{ path: ['audience'], code: 'too-many', detail: 'Must have at most 20 conditions in total.' }],
    });
  });
});

describe('the faults', () => {
  test('of too many items or members are found without parsing one', () => {
    const { schema, count } = counted();
    for (const [container, sent] of [
      [arrayOf(schema).max(50), Array(15_000).fill('')],
      [recordOf(text(9), schema, 50, 'languages'), named(15_000, '')],
      [fields([/^n/, 'n'], schema, 50, 'fields'), named(15_000, '')],
    ] as [z.ZodType, unknown][])
      expect(parseInput(container, sent)).toMatchObject({ success: false, faults: [{ path: [], code: 'too-many' }] });
    expect(count.parsed).toBe(0);
  });

  test('are no longer looked for after the fiftieth, at any depth', () => {
    const { schema, count } = counted();
    const nested = arrayOf(
      recordOf(text(9), arrayOf(fields([/^n/, 'n'], schema, 90, 'fields')).max(90), 90, 'names'),
    ).max(90);
    const sent = Array(20).fill(named(20, Array(20).fill(named(20, ''))));
    const parsed = parseInput(nested, sent);
    expect(parsed.success ? [] : parsed.faults).toHaveLength(MAX_FAULTS);
    expect(count.parsed).toBeLessThanOrEqual(MAX_FAULTS + 20);
  });

  test('of an item of a batch are looked for up to the first', () => {
    const { schema, count } = counted();
    expect(parseItem(fields([/^n/, 'n'], schema, 90, 'fields'), named(80, '')).success).toBe(false);
    expect(count.parsed).toBe(1);
  });

  test('are the same as those of zod for a value with few', () => {
    const schema = recordOf(text(3), arrayOf(text(1)).max(3), 5, 'names');
    expect(parseInput(schema, { a: ['1', '22'], long: ['1'], b: 5 })).toMatchObject({
      faults: [
        { path: ['a', 1], code: 'too-long' },
        { path: ['long'], code: 'too-long' },
        { path: ['b'], code: 'wrong-type' },
      ],
    });
    expect(parseInput(schema, { a: ['1'] })).toEqual({ success: true, data: { a: ['1'] } });
  });
});
