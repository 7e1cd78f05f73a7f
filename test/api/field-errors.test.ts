import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { OPERATIONS } from '../../src/api/routes/index.ts';
import { NewAnswer } from '../../src/domain/answers/answers.ts';
import { FIELD_CODES } from '../../src/domain/field-errors.ts';
import { TYPES } from '../../src/domain/questions/types/index.ts';
import { type Fault, parseInput } from '../../src/domain/validation.ts';

const schemas: [name: string, schema: z.ZodType][] = [
  ...OPERATIONS.flatMap(({ id, body }): [string, z.ZodType][] => (body ? [[`the body of ${id}`, body]] : [])),
  ...OPERATIONS.flatMap(({ id, query }): [string, z.ZodType][] => (query ? [[`the query of ${id}`, query]] : [])),
  ...Object.entries(TYPES).map(([type, { config }]): [string, z.ZodType] => [`the config of ${type}`, config]),
  ['an item of recordAnswers', NewAnswer],
];

/** Words of zod's own messages. */
const WORDS_OF_ZOD =
  /invalid input|invalid option|invalid (?:string|number|key)|too (?:big|small)|expected|received|unrecognized/i;
const SENTENCE = /^(?:Must|Required|The name must|This field)\b.*\.$/s;

const TEXTS = [
  '',
  ' ',
  'x',
  ' x ',
  'x'.repeat(20_000),
  'a\u0000b',
  '\ud800',
  'e\u0301',
  'a\u0007',
  '1',
  '-1',
  '99999999999',
];
const BAD = [
  ...[undefined, null, true, 0, -1, 1.5, 2 ** 53, -(2 ** 60), 1e300, Number.POSITIVE_INFINITY, ...TEXTS],
  ...[[], [null], [1], ['a', 'a'], Array(200).fill('a'), Array(200).fill({}), {}, { x: 1 }, { 'bad name!': 'x' }],
  ...[{ type: 'x' }, { type: 5 }, { option_id: 5 }, { low: 1 }, { id: 'a b', label: '' }, '2026-02-30', '0000-01-01'],
  ...['0000-01-01T00:00:00Z', 'tenant_x', 'http:x', 'javascript:alert(1)', 'https://*.example.com', 'a@b'],
  Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`f${index}`, index])),
];

const unwrap = (schema: z.ZodType): z.core.$ZodTypeDef & Record<string, unknown> => {
  const def = schema._zod.def as unknown as Record<string, unknown> & z.core.$ZodTypeDef;
  const inner = def.innerType ?? (def.type === 'pipe' ? def.in : undefined);
  return inner ? unwrap(inner as z.ZodType) : def;
};

/** Yields values that are wrong at one place, for every place that a schema describes; items of equal arrays once. */
function* wrongValues(schema: z.ZodType, arrays = new Set<unknown>()): Generator<unknown> {
  yield* BAD;
  const def = unwrap(schema);
  if (def.type === 'union') for (const option of def.options as z.ZodType[]) yield* wrongValues(option, arrays);
  if (def.type === 'array' && !arrays.has(def.element)) {
    arrays.add(def.element);
    for (const item of wrongValues(def.element as z.ZodType, arrays)) yield [item, item];
  }
  if (def.type !== 'object') return;
  const shape = def.shape as Record<string, z.ZodType>;
  const type = shape.type && unwrap(shape.type);
  const chosen = type?.type === 'literal' ? { type: (type.values as unknown[])[0] } : {};
  for (const [name, field] of Object.entries(shape))
    for (const value of wrongValues(field, arrays)) yield { ...chosen, [name]: value };
}

/** Every issue of a failed parse, including those of the branches of unions. */
const allIssues = (issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] =>
  issues.flatMap(issue => [issue, ...(issue.code === 'invalid_union' ? allIssues(issue.errors.flat()) : [])]);

function expectSentences(faults: readonly Fault[]): void {
  for (const { code, detail } of faults) {
    if (!Object.hasOwn(FIELD_CODES, code)) expect.fail(`unknown code ${code}: ${detail}`);
    if (!SENTENCE.test(detail) || WORDS_OF_ZOD.test(detail)) expect.fail(`not a sentence of ours: ${detail}`);
  }
}

describe.each(schemas)('%s', (_, schema) => {
  test('is refused with a code of the catalogue and a sentence, whatever is wrong', () => {
    let refused = 0;
    for (const value of wrongValues(schema)) {
      const parsed = parseInput(schema, value);
      if (parsed.success) continue;
      refused++;
      expectSentences(parsed.faults);
    }
    expect(refused).toBeGreaterThan(10);
  });

  test('is refused in this way for any JSON document', () => {
    fc.assert(
      fc.property(fc.jsonValue(), document => {
        const parsed = parseInput(schema, document);
        if (!parsed.success) expectSentences(parsed.faults);
      }),
      { numRuns: 100 },
    );
  });

  test('has a code of the catalogue for each of its own rules', () => {
    for (const value of wrongValues(schema)) {
      const { error } = schema.safeParse(value);
      for (const issue of allIssues(error?.issues ?? []))
        if (issue.code === 'custom') expect(Object.keys(FIELD_CODES)).toContain(issue.params?.code);
    }
  });
});
