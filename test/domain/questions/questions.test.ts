import { describe, expect, test } from 'vitest';
import {
  fixedParts,
  followUpRules,
  NewQuestion,
  nextStatuses,
  QUESTION_STATUSES,
  QuestionPatch,
} from '../../../src/domain/questions/questions.ts';
import { QUESTION_TYPES, type QuestionType, TYPES } from '../../../src/domain/questions/types/index.ts';

const OPTIONS = [
  { id: 'a', label: 'A' },
  { id: 'b', label: 'B' },
];
const options = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `o${index}`, label: 'x' }));
const takes = (type: QuestionType, config: unknown) => TYPES[type].config.safeParse(config).success;

describe('the config of a question', () => {
  test.each<[QuestionType, unknown]>([
    ['nps', { labels: { low: 'Never', high: 'Always' } }],
    ['csat', { style: 'smiley' }],
    ['ces', { scale: 5 }],
    ['ces', { scale: 7 }],
    ['rating', { scale: 3, style: 'number' }],
    ['rating', { scale: 10 }],
    ['thumbs', {}],
    ['single_choice', { options: OPTIONS, allow_other: true, shuffle: true }],
    ['single_choice', { options: options(30) }],
    ['multi_choice', { options: OPTIONS, min: 1, max: 2 }],
    ['multi_choice', { options: OPTIONS, min: 0 }],
    ['text', { min_length: 0, max_length: 5000, input: 'email' }],
    ['date', {}],
    ['consent', {}],
    ['statement', { url: 'https://example.com/news' }],
    ['statement', {}],
  ])('of type %s accepts %j', (type, config) => {
    expect(takes(type, config)).toBe(true);
  });

  test.each<[QuestionType, unknown]>([
    ['nps', { scale: 10 }],
    ['nps', { labels: { middle: 'x' } }],
    ['csat', { style: 'heart' }],
    ['ces', { scale: 6 }],
    ['rating', { scale: 2 }],
    ['rating', { scale: 11 }],
    ['rating', { scale: 4.5 }],
    ['thumbs', { labels: {} }],
    ['single_choice', {}],
    ['single_choice', { options: options(1) }],
    ['single_choice', { options: options(31) }],
    ['single_choice', { options: [OPTIONS[0], OPTIONS[0]] }],
    ['single_choice', { options: [{ id: 'with space', label: 'A' }, OPTIONS[1]] }],
    ['single_choice', { options: [{ id: 'a', label: '' }, OPTIONS[1]] }],
    ['single_choice', { options: OPTIONS, min: 1 }],
    ['multi_choice', { options: OPTIONS, min: 2, max: 1 }],
    ['text', { max_length: 5001 }],
    ['text', { min_length: 10, max_length: 5 }],
    ['text', { input: 'phone' }],
    ['statement', { url: 'javascript:alert(1)' }],
    ['statement', { url: 'https://example.com/\u0000' }],
    ['statement', { url: 'https://example.com/\ud800' }],
  ])('of type %s rejects %j', (type, config) => {
    expect(takes(type, config)).toBe(false);
  });
});

describe('a new question', () => {
  test('gets every default of its type', () => {
    expect(NewQuestion.parse({ type: 'rating', title: 'How was it?' })).toEqual({
      type: 'rating',
      title: 'How was it?',
      description: '',
      translations: {},
      follow_ups: [],
      config: { scale: 5, style: 'star' },
      audience: null,
      schedule: { start_at: null, end_at: null },
      trigger: null,
      frequency: {
        ...{ repeat: 'until_answered', every_days: null, max_displays: null },
        ...{ snooze_after_dismiss_days: 30, ignore_cooldown: false },
      },
      sampling_percent: 100,
      response_limit: null,
      allow_public: false,
      priority: 0,
      thanks: null,
      placement: null,
    });
  });

  test.each([
    { type: 'nps' },
    { type: 'slider', title: 'x' },
    { type: 'nps', title: '' },
    { type: 'nps', title: 'x'.repeat(301) },
    { type: 'nps', title: 'a\u0000b' },
    { type: 'nps', title: 'lone \udc00' },
    { type: 'nps', title: 'x', status: 'live' },
    { type: 'nps', title: 'x', id: 'question_1' },
    { type: 'nps', title: 'x', audience: {} },
    { type: 'nps', title: 'x', priority: 1001 },
    { type: 'nps', title: 'x', priority: 1.5 },
    { type: 'nps', title: 'x', frequency: { repeat: 'every_days' } },
    { type: 'nps', title: 'x', frequency: { every_days: 3 } },
    { type: 'nps', title: 'x', frequency: { snooze_after_dismiss_days: -1 } },
    { type: 'nps', title: 'x', allow_public: 'yes' },
    { type: 'nps', title: 'x', config: null },
  ])('rejects %j', body => {
    expect(NewQuestion.safeParse(body).success).toBe(false);
  });

  test('exists in each of the eleven types', () => {
    expect(QUESTION_TYPES).toEqual([
      'nps',
      'csat',
      'ces',
      'rating',
      'thumbs',
      'single_choice',
      'multi_choice',
      'text',
      'date',
      'consent',
      'statement',
    ]);
    for (const type of QUESTION_TYPES) {
      const config = type.endsWith('choice') ? { options: OPTIONS } : {};
      expect(NewQuestion.parse({ type, title: 'x', config }).type).toBe(type);
    }
  });
});

test('a patch contains only mutable fields', () => {
  expect(QuestionPatch.safeParse({}).success).toBe(true);
  expect(QuestionPatch.safeParse({ frequency: { repeat: 'once' } }).data).toEqual({ frequency: { repeat: 'once' } });
  for (const field of ['id', 'status', 'version', 'created_at', 'published_at'])
    expect(QuestionPatch.safeParse({ [field]: 'x' }).success).toBe(false);
});

test('each state has its allowed transitions', () => {
  expect(Object.fromEntries(QUESTION_STATUSES.map(status => [status, nextStatuses(status)]))).toEqual({
    draft: ['live'],
    scheduled: ['live', 'closed'],
    live: ['paused', 'closed'],
    paused: ['live', 'closed'],
    closed: ['archived'],
    archived: [],
  });
});

test('type, scale and option ids define the meaning of stored values', () => {
  const parts = (type: QuestionType, config: unknown) => fixedParts({ type, config: TYPES[type].config.parse(config) });
  expect(parts('rating', { scale: 5 })).not.toEqual(parts('rating', { scale: 6 }));
  expect(parts('rating', { scale: 5, style: 'star' })).toEqual(parts('rating', { scale: 5, style: 'number' }));
  expect(parts('single_choice', { options: OPTIONS })).toEqual(
    parts('single_choice', { options: OPTIONS.toReversed().map(option => ({ ...option, label: 'renamed' })) }),
  );
  expect(parts('single_choice', { options: OPTIONS })).not.toEqual(
    parts('single_choice', { options: [...OPTIONS, { id: 'c', label: 'C' }] }),
  );
});

test('a statement needs no answer, also if it is marked as required', () => {
  const step = { key: 'note', config: {}, required: true, show_if: null };
  expect(followUpRules({ ...step, type: 'text' }).required).toBe(true);
  expect(followUpRules({ ...step, type: 'statement' }).required).toBe(false);
});
