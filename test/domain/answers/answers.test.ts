import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  compareSyncs,
  NewAnswer,
  type SyncMark,
  validateContent,
  validateValue,
} from '../../../src/domain/answers/answers.ts';
import { toTypeId } from '../../../src/domain/ids.ts';
import { answerRules } from '../../../src/domain/questions/questions.ts';
import { QUESTION_TYPES, type QuestionType, TYPES } from '../../../src/domain/questions/types/index.ts';

const QUESTION_ID = toTypeId('question', '01936d5e-8f00-7000-8000-000000000002');
const OPTIONS = [
  { id: 'a', label: 'A' },
  { id: 'b', label: 'B' },
  { id: 'c', label: 'C' },
];
const NAMED_OTHER = [
  { id: 'a', label: 'A' },
  { id: 'other', label: 'Another one' },
];
const content = (type: QuestionType, config: unknown = {}) => ({ type, config: TYPES[type].config.parse(config) });

type Case = [type: QuestionType, config: object, taken: unknown[], refused: unknown[]];

const CASES: Case[] = [
  ['nps', {}, [0, 10, -0], [-1, 11, 9.5, '9', true, {}]],
  ['csat', {}, [1, 5], [0, 6, 2.5, '3']],
  ['ces', { scale: 5 }, [1, 5], [0, 6]],
  ['ces', { scale: 7 }, [1, 7], [0, 8]],
  ['rating', { scale: 3 }, [1, 3], [0, 4]],
  ['rating', { scale: 10 }, [10], [11]],
  ['thumbs', {}, [true, false], [1, 0, 'true', {}]],
  [
    'single_choice',
    { options: OPTIONS },
    [{ option_id: 'a' }],
    [{}, { option_id: 'x' }, { option_id: 'other' }, { other_text: 'y' }, { option_ids: ['a'] }, 'a', 1],
  ],
  [
    'single_choice',
    { options: OPTIONS, allow_other: true },
    [
      { option_id: 'a' },
      { other_text: 'y' },
      { option_id: 'other', other_text: 'y' },
      { other_text: '' },
      { option_id: 'other', other_text: '' },
    ],
    [{}, { option_id: 'other' }, { option_id: 'a', other_text: 'y' }],
  ],
  [
    'multi_choice',
    { options: OPTIONS, min: 1, max: 2 },
    [{ option_ids: ['a'] }, { option_ids: ['a', 'b'] }],
    [
      { option_ids: [] },
      { option_ids: ['a', 'b', 'c'] },
      { option_ids: ['a', 'a'] },
      { option_ids: ['x'] },
      { option_ids: ['a'], other_text: 'y' },
      { option_id: 'a' },
      ['a'],
    ],
  ],
  [
    'multi_choice',
    { options: OPTIONS, allow_other: true, max: 2 },
    [
      { option_ids: [], other_text: 'y' },
      { option_ids: ['a', 'other'], other_text: 'y' },
      { option_ids: [], other_text: '' },
      { option_ids: ['a', 'other'], other_text: '' },
    ],
    [{ option_ids: ['a', 'b'], other_text: 'y' }, { option_ids: ['other'] }, { option_ids: [] }],
  ],
  // The question's own option may have this id.
  ['single_choice', { options: NAMED_OTHER }, [{ option_id: 'other' }], [{ option_id: 'other', other_text: 'y' }]],
  [
    'multi_choice',
    { options: NAMED_OTHER },
    [{ option_ids: ['a', 'other'] }],
    [{ option_ids: ['other'], other_text: 'y' }],
  ],
  [
    'multi_choice',
    { options: NAMED_OTHER, allow_other: true, max: 1 },
    [{ option_ids: ['other'] }, { option_ids: [], other_text: 'y' }, { option_ids: ['other'], other_text: 'y' }],
    [{ option_ids: ['a', 'other'] }],
  ],
  ['multi_choice', { options: OPTIONS, min: 0 }, [{ option_ids: [] }], [{}]],
  ['text', { min_length: 2, max_length: 4 }, ['ab', 'abcd', '😀', '😀😀😀😀'], ['a', 'abcde', '😀😀😀😀😀', 12, {}]],
  [
    'text',
    { input: 'email' },
    ['a@example.com', 'a@localhost', "o'neil+x@b-c.example"],
    ['a', 'a@b@c', 'a b@example.com', 'a@-b.example', 'a@example..com', '@example.com'],
  ],
  [
    'text',
    { input: 'url' },
    ['https://example.com', 'http://localhost:3000/a?b#c'],
    ['example', 'javascript:alert(1)', 'ftp://example.com', 'data:text/html,x', 'https:/'],
  ],
  ['text', { input: 'number' }, ['12', '-1.5', '0,3'], ['1e3', 'twelve', '.']],
  [
    'date',
    {},
    ['2026-02-28', '2028-02-29'],
    ['2026-02-29', '2026-2-1', '2026-02-28T00:00:00Z', '0000-01-01', 20260228],
  ],
  ['consent', {}, [true], [false, 1, 'true']],
  ['statement', {}, [], [true, 1, 'x', {}]],
];

describe('a value', () => {
  test('of every type has cases here', () => {
    expect(new Set(CASES.map(([type]) => type))).toEqual(new Set(QUESTION_TYPES));
  });

  test.each(CASES)('of %s %j accepts each of %j and rejects each of %j', (...aCase) => {
    const [type, config, taken, refused] = aCase;
    for (const value of taken) expect([value, validateValue(content(type, config), value)]).toEqual([value, undefined]);
    for (const value of refused)
      expect([value, typeof validateValue(content(type, config), value)]).toEqual([value, 'string']);
  });

  test('of any JSON is validated without an exception', () => {
    fc.assert(
      fc.property(fc.constantFrom(...CASES), fc.jsonValue(), ([type, config], value) => {
        expect(['string', 'undefined']).toContain(typeof validateValue(content(type, config), value));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the content of an answer', () => {
  const judge = (type: QuestionType, answer: Partial<NewAnswer>) =>
    validateContent(
      answerRules({ ...content(type, type.endsWith('choice') ? { options: OPTIONS } : {}), follow_ups: [] }),
      {
        state: 'completed',
        values: {},
        comment: null,
        ...answer,
      } as NewAnswer,
    )?.pointer;

  test('must have the main value once it is completed, except for a statement', () => {
    for (const type of QUESTION_TYPES) expect(judge(type, {})).toBe(type === 'statement' ? undefined : '/values/main');
    expect(judge('nps', { state: 'partial' })).toBeUndefined();
    expect(judge('nps', { state: 'seen' })).toBeUndefined();
    expect(judge('nps', { state: 'dismissed' })).toBeUndefined();
  });

  test('names the step with the invalid value', () => {
    expect(judge('nps', { values: { main: 11 } })).toBe('/values/main');
    expect(judge('nps', { values: { main: 9, 'a/b~': 1 } })).toBe('/values/a~1b~0');
    expect(judge('nps', { state: 'seen', values: { main: 11 } })).toBe('/values/main');
  });

  test('may have a comment only with a score', () => {
    expect(judge('nps', { values: { main: 9 }, comment: 'good' })).toBeUndefined();
    expect(judge('thumbs', { values: { main: true }, comment: 'good' })).toBeUndefined();
    expect(judge('text', { values: { main: 'x' }, comment: 'good' })).toBe('/comment');
    expect(judge('statement', { comment: 'good' })).toBe('/comment');
  });
});

describe('the shape of an answer', () => {
  const sync = (fields: Record<string, unknown> = {}) => ({
    id: '01936d5e-8f00-7000-8000-000000000001',
    revision: 1,
    question_id: QUESTION_ID,
    question_version: 1,
    state: 'completed',
    values: { main: 9 },
    ...fields,
  });
  const takes = (fields: Record<string, unknown>) => NewAnswer.safeParse(sync(fields)).success;
  const custom = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`c${index}`, 1]));

  test.each([
    {},
    { id: '0b2c4a70-4c1e-4f0a-9d6e-5b1f6c7d8e9f' },
    { id: '01936D5E-8F00-7000-8000-000000000001' },
    { comment: null },
    { comment: 'x'.repeat(5000) },
    { displayed_at: '2026-11-21T07:00:00+02:00' },
    { metadata: { platform: 'ios', ...custom(20) } },
    { metadata: { flag: true, number: -1.5 } },
    { duration_ms: 0 },
  ])('accepts %j', fields => {
    expect(takes(fields)).toBe(true);
  });

  test.each([
    { id: 'x' },
    { id: '00000000-0000-0000-0000-000000000000' },
    { id: 'c232ab00-9414-11ec-b3c8-9f6bdeced846' }, // version 1
    { revision: 0 },
    { revision: 1.5 },
    { revision: 2 ** 31 },
    { question_id: '01936d5e-8f00-7000-8000-000000000002' },
    { question_version: 0 },
    { state: 'done' },
    { values: { main: null } },
    { values: { main: [1] } },
    { values: { main: Number.POSITIVE_INFINITY } },
    { comment: 'x'.repeat(5001) },
    { comment: 'a\u0000' },
    { comment: '\ud83d' },
    { values: { main: 'a\u0000' } },
    { values: { main: { other_text: '\udc00' } } },
    { metadata: { platform: 'a\u0000' } },
    { metadata: { 'with space': 1 } },
    { metadata: { nested: {} } },
    { metadata: custom(21) },
    { displayed_at: 'yesterday' },
    { displayed_at: '2026-11-21' },
    { displayed_at: '0000-01-01T00:00:00Z' },
    { answered_at: '9999-12-31T23:59:59-23:00' },
    { duration_ms: -1 },
    { tags: [] },
    { received_at: '2026-11-21T07:00:00Z' },
  ])('rejects %j', fields => {
    expect(takes(fields)).toBe(false);
  });

  test('is validated identically by the compiled schema, with the same faults', () => {
    const compiled = z.compile(NewAnswer, { strict: true });
    const fields = fc.record(
      {
        identity: fc.oneof(fc.string(), fc.jsonValue()),
        values: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue()),
        comment: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
        displayed_at: fc.oneof(
          fc.date({ noInvalidDate: true }).map(date => date.toJSON()),
          fc.jsonValue(),
        ),
        duration_ms: fc.oneof(fc.integer(), fc.jsonValue()),
        metadata: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 0 })), fc.jsonValue()),
        unknown: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    const item = fc.oneof(fields.map(sync), fc.jsonValue());
    fc.assert(
      fc.property(item, sent => {
        const [own, other] = [compiled, NewAnswer].map(schema => schema.safeParse(sent));
        expect(own?.data).toEqual(other?.data);
        expect(own?.error?.issues).toEqual(other?.error?.issues);
      }),
    );
  });
});

describe('two syncs of one id', () => {
  const mark = (fields: Partial<SyncMark> = {}): SyncMark => ({
    revision: 2,
    state: 'partial',
    content_hash: 'h',
    card_id: 'card',
    question_id: 'question',
    identity: 'user|42',
    identity_verified: true,
    ...fields,
  });

  test.each([
    [{}, {}, 'duplicate'],
    [{}, { content_hash: 'other' }, 'revision-conflict'],
    [{}, { identity: 'user|43' }, 'revision-conflict'],
    [{}, { card_id: 'other', revision: 3 }, 'revision-conflict'],
    [{}, { revision: 3 }, 'newer'],
    [{}, { revision: 1 }, 'superseded'],
    [{ state: 'completed' }, { revision: 3 }, 'superseded'],
    [{ state: 'completed' }, { state: 'completed' }, 'duplicate'],
    [{ state: 'completed' }, { content_hash: 'other' }, 'revision-conflict'],
  ] as const)('known %j and incoming %j: %s', (known, incoming, comparison) => {
    expect(compareSyncs(mark(known), mark(incoming))).toBe(comparison);
  });
});
