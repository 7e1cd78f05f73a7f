import { describe, expect, test } from 'vitest';
import { type Counted, type Counts, count, noCounts } from '../../../src/domain/answers/counts.ts';
import { type DayCounts, resultsOf, scoreOf } from '../../../src/domain/answers/results.ts';
import { type QuestionType, TYPES } from '../../../src/domain/questions/types/index.ts';

/** Counts by score. */
const given = (times: Record<number, number | undefined>): number[] =>
  Array.from({ length: 11 }, (_, score) => times[score] ?? 0);

const contentOf = (type: QuestionType, config: object = {}) => ({ type, config: TYPES[type].config.parse(config) });

/** Earlier versions accepted the second id. */
const OPTIONS = [
  { id: 'a', label: 'A' },
  { id: '__proto__', label: 'Odd' },
];

const counted = (fields: Partial<Counted> = {}): Counted => ({
  day: '2026-11-21',
  question_version: 1,
  state: 'completed',
  value: 9,
  written: false,
  values: {},
  ...fields,
});

const countsOf = (...answers: Counted[]): Counts => {
  const counts = noCounts();
  for (const answer of answers) count(counts, answer, 1);
  return counts;
};

const onDay = (day: string, question_version: number, ...answers: Partial<Counted>[]): DayCounts => ({
  ...countsOf(...answers.map(counted)),
  day,
  question_version,
});

describe('the Net Promoter Score', () => {
  // calculated by hand: p and d are the shares of promoters and detractors, the margin 1.959964 √((p + d − (p − d)²) ÷
  // n)
  test.each([
    { times: { 0: 0 }, value: null, interval: null, why: 'nobody answered' },
    { times: { 9: 1 }, value: 100, interval: null, why: 'one group alone says nothing of the spread' },
    { times: { 8: 40 }, value: 0, interval: null, why: 'one group alone says nothing of the spread' },
    { times: { 0: 3, 6: 4 }, value: -100, interval: null, why: 'one group alone says nothing of the spread' },
    {
      times: { 9: 25, 10: 25, 7: 30, 6: 10, 0: 10 },
      value: 30,
      interval: { low: 14.69, high: 45.31 },
      why: '√(0.61 ÷ 100) = 0.0781',
    },
    {
      times: { 10: 1, 8: 1 },
      value: 50,
      interval: { low: -19.3, high: 100 },
      why: '√(0.25 ÷ 2) = 0.3536, and no more than 100',
    },
    { times: { 10: 1, 6: 1 }, value: 0, interval: { low: -100, high: 100 }, why: '√(1 ÷ 2) = 0.7071' },
    { times: { 9: 2, 8: 3, 6: 5 }, value: -30, interval: { low: -78.41, high: 18.41 }, why: '√(0.61 ÷ 10) = 0.247' },
    {
      times: { 10: 500, 7: 300, 3: 200 },
      value: 30,
      interval: { low: 25.16, high: 34.84 },
      why: '√(0.61 ÷ 1000) = 0.0247',
    },
  ])('of $times is $value within $interval: $why', ({ times, value, interval }) => {
    const scores = given(times);
    const answers = scores.reduce((sum, number) => sum + number, 0);
    expect(scoreOf('nps', scores)).toEqual({ measure: 'nps', value, answers, interval });
  });

  test('counts 9 and 10 as promoters, 0 to 6 as detractors, and 7 and 8 as neither', () => {
    const single = Array.from({ length: 11 }, (_, score) => scoreOf('nps', given({ [score]: 1 }))?.value);
    expect(single).toEqual([-100, -100, -100, -100, -100, -100, -100, 0, 0, 100, 100]);
  });
});

test.each([
  ['csat', { 1: 1, 3: 1, 4: 1, 5: 3 }, 'csat', 66.67], // 4 of 6
  ['csat', { 1: 2 }, 'csat', 0],
  ['ces', { 1: 1, 6: 1, 7: 2 }, 'mean', 5.25], // 21 ÷ 4
  ['rating', { 3: 2, 10: 1 }, 'mean', 5.33], // 16 ÷ 3
  ['thumbs', { 0: 1, 1: 2 }, 'positive', 66.67],
  ['thumbs', {}, 'positive', null],
] as const)('the score of %s %j is the %s %d', (type, times, measure, value) => {
  expect(scoreOf(type, given(times))).toMatchObject({ measure, value, interval: null });
});

test.each(['single_choice', 'multi_choice', 'text', 'date', 'consent', 'statement'] as const)(
  'a %s question has no score',
  type => {
    expect(scoreOf(type, given({ 1: 3 }))).toBeNull();
  },
);

describe('the counts of an answer', () => {
  test.each([
    [{ state: 'seen', value: 9 }, { seen: 1 }],
    [{ state: 'dismissed', value: 9 }, { dismissed: 1 }],
    [{ state: 'partial', value: undefined }, { partial: 1 }],
    [
      { state: 'partial', value: 3 },
      { partial: 1, scores: given({ 3: 1 }) },
    ],
    [{ value: 0 }, { completed: 1, scores: given({ 0: 1 }) }],
    [{ value: true }, { completed: 1, scores: given({ 1: 1 }) }],
    [{ value: false }, { completed: 1, scores: given({ 0: 1 }) }],
    [
      { value: 'words', written: true },
      { completed: 1, written: 1 },
    ],
    [{ value: 11 }, { completed: 1 }],
    [{ value: -1 }, { completed: 1 }],
    [{ value: 1.5 }, { completed: 1 }],
    [{ value: { option_id: 'a' } }, { completed: 1, choices: new Map([['a', 1]]) }],
    [
      { value: { option_ids: ['a', 'b', 'a'] } },
      {
        completed: 1,
        choices: new Map([
          ['a', 1],
          ['b', 1],
        ]),
      },
    ],
    [{ value: { other_text: 'x' } }, { completed: 1, choices: new Map([['other', 1]]) }],
    [{ value: { option_ids: ['other'], other_text: 'x' } }, { completed: 1, choices: new Map([['other', 1]]) }],
  ] as [Partial<Counted>, Partial<Counts>][])('%j counts as %j, and as zero after its removal', (fields, expected) => {
    const counts = countsOf(counted(fields));
    expect(counts).toEqual({ ...noCounts(), ...expected });
    count(counts, counted(fields), -1);
    counts.choices = new Map([...counts.choices].filter(([, number]) => number !== 0));
    expect(counts).toEqual(noCounts());
  });
});

describe('results', () => {
  test('without answers are zeros, without a rate or a score', () => {
    expect(resultsOf(contentOf('nps'), [], 'day')).toEqual({
      ...{ seen: 0, dismissed: 0, partial: 0, completed: 0, written: 0, displays: 0, answered: 0 },
      response_rate: null,
      score: { measure: 'nps', value: null, answers: 0, interval: null },
      values: Array.from({ length: 11 }, (_, value) => ({ value, count: 0, share: null })),
      over_time: [],
      versions: [],
    });
  });

  test('sum days and versions, and separate the versions, newest first', () => {
    const rows = [
      onDay('2026-11-20', 1, { value: 2 }, { state: 'seen' }, { state: 'dismissed' }),
      onDay('2026-11-21', 1, { value: 5 }),
      onDay('2026-11-21', 2, { value: 4, state: 'partial', written: true }),
    ];
    const results = resultsOf(contentOf('csat'), rows, 'day');
    expect(results).toMatchObject({
      ...{ seen: 1, dismissed: 1, partial: 1, completed: 2, written: 1, displays: 5, answered: 3, response_rate: 0.6 },
      score: { measure: 'csat', value: 66.67, answers: 3 },
      values: [
        { value: 1, count: 0, share: 0 },
        { value: 2, count: 1, share: 0.3333 },
        { value: 3, count: 0, share: 0 },
        { value: 4, count: 1, share: 0.3333 },
        { value: 5, count: 1, share: 0.3333 },
      ],
    });
    expect(results.versions).toMatchObject([
      { version: 2, displays: 1, answered: 1, score: { value: 100 } },
      { version: 1, displays: 4, answered: 2, score: { value: 50 } },
    ]);
    expect(results.over_time).toMatchObject([
      { start: '2026-11-20', displays: 3, answered: 1, response_rate: 0.3333, score: { value: 0 } },
      { start: '2026-11-21', displays: 2, answered: 2, response_rate: 1, score: { value: 100 } },
    ]);
  });

  test.each([
    ['day', ['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02']],
    ['week', ['2026-02-23', '2026-03-02']], // both Mondays; the first of March is a Sunday
    ['month', ['2026-02-01', '2026-03-01']],
  ] as const)('by %s begin with %j, the empty ones among them', (grouping, starts) => {
    const rows = [onDay('2026-02-27', 1, {}), onDay('2026-03-02', 1, {}, {})];
    const { over_time } = resultsOf(contentOf('nps'), rows, grouping);
    expect(over_time.map(({ start }) => start)).toEqual(starts);
    expect(over_time.map(({ displays }) => displays).reduce((a, b) => a + b)).toBe(3);
    expect([over_time[0]?.displays, over_time.at(-1)?.displays]).toEqual([1, 2]);
  });

  test('by week cross the turn of the year, and by month a leap day', () => {
    const weeks = resultsOf(contentOf('nps'), [onDay('2027-12-31', 1, {}), onDay('2028-01-03', 1, {})], 'week');
    expect(weeks.over_time.map(({ start }) => start)).toEqual(['2027-12-27', '2028-01-03']);
    const months = resultsOf(contentOf('nps'), [onDay('2028-01-31', 1, {}), onDay('2028-03-01', 1, {})], 'month');
    expect(months.over_time.map(({ start }) => start)).toEqual(['2028-01-01', '2028-02-01', '2028-03-01']);
  });

  test('omit answers that were added and removed', () => {
    const results = resultsOf(contentOf('nps'), [{ ...noCounts(), day: '2026-11-21', question_version: 1 }], 'day');
    expect(results).toMatchObject({ over_time: [], versions: [] });
  });

  test("of choices list every option in order, and the users' own texts last", () => {
    const config = { options: OPTIONS, allow_other: true, shuffle: false };
    const rows = [
      onDay(
        '2026-11-21',
        1,
        { value: { option_ids: ['a', '__proto__'] } },
        { value: { option_ids: ['a', 'other'], other_text: 'x' } },
      ),
    ];
    const { values, score } = resultsOf({ type: 'multi_choice', config }, rows, 'day');
    expect(values).toEqual([
      { value: 'a', label: 'A', count: 2, share: 1 },
      { value: '__proto__', label: 'Odd', count: 1, share: 0.5 },
      { value: 'other', count: 1, share: 0.5 },
    ]);
    expect(score).toBeNull();
    const single = resultsOf({ type: 'single_choice', config }, [], 'day');
    expect(single.values).toMatchObject([
      { value: 'a', count: 0, share: null },
      { value: '__proto__' },
      { value: 'other' },
    ]);
  });

  test('of choices list an option with the id "other" once', () => {
    const config = { options: [{ id: 'other', label: 'Something else' }], allow_other: true, shuffle: false };
    const { values } = resultsOf({ type: 'single_choice', config }, [], 'day');
    expect(values).toEqual([{ value: 'other', label: 'Something else', count: 0, share: null }]);
  });

  test.each([
    ['ces', { scale: 5 }, [1, 2, 3, 4, 5]],
    ['rating', { scale: 3 }, [1, 2, 3]],
    ['thumbs', {}, [false, true]],
    ['consent', {}, [true]],
    ['text', {}, []],
    ['date', {}, []],
    ['statement', {}, []],
  ] as const)('of %s %j list %j', (type, config, values) => {
    expect(resultsOf(contentOf(type, config), [], 'day').values.map(({ value }) => value)).toEqual(values);
  });
});
