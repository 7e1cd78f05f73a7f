import { beforeAll, describe, expect, test } from 'vitest';
import type { Schemas } from '../../../dashboard/api/schema.ts';
import { stepsOf } from '../../../dashboard/components/card/card-source.ts';
import { shownSteps } from '../../../dashboard/components/card/shown-steps.ts';
import { translateCard } from '../../../dashboard/components/card/translate.ts';
import { changesFor } from '../../../dashboard/pages/questions/changes.ts';
import { configOf, configValuesOf } from '../../../dashboard/pages/questions/config-values.ts';
import {
  bodyOf,
  cardTextOf,
  fieldNameOf,
  type QuestionValues,
  valuesOf,
} from '../../../dashboard/pages/questions/form.ts';
import { missingTexts, sourceTexts } from '../../../dashboard/pages/questions/languages/translations.ts';
import { operatorsFor } from '../../../dashboard/pages/questions/steps/conditions.ts';
import { freeKey, newFollowUp } from '../../../dashboard/pages/questions/steps/step-values.ts';
import { shownFollowUps } from '../../../src/domain/answers/step-counts.ts';
import { findPublishFaults } from '../../../src/domain/questions/question-checks.ts';
import { NewQuestion } from '../../../src/domain/questions/questions.ts';
import { QUESTION_TYPES } from '../../../src/domain/questions/types/index.ts';
import { OPERATORS } from '../../../src/domain/steps.ts';
import { activateTexts } from './activate-texts.ts';

beforeAll(() => activateTexts('en'));

const options = [
  { id: 'price', label: 'The price' },
  { id: 'quality', label: 'The quality' },
];

/** A question as the API returns it. */
const stored = (question: object): Schemas['Question'] =>
  ({ name: 'Name', ...NewQuestion.parse(question) }) as unknown as Schemas['Question'];

const QUESTION = stored({
  type: 'nps',
  title: 'How likely?',
  follow_ups: [
    {
      key: 'reason',
      type: 'single_choice',
      title: 'Why?',
      config: { options, allow_other: true },
      required: true,
      show_if: { step: 'main', op: 'lte', value: 6 },
    },
    {
      key: 'topics',
      type: 'multi_choice',
      title: 'Which?',
      config: { options },
      show_if: {
        all: [
          { step: 'main', op: 'in', value: [1, 2] },
          { step: 'reason', op: 'in', value: ['price', 'other'] },
        ],
      },
    },
    {
      key: 'thumb',
      type: 'thumbs',
      title: 'Good?',
      show_if: {
        any: [
          { step: 'topics', op: 'contains_all', value: ['price'] },
          { step: 'reason', op: 'not_answered' },
        ],
      },
    },
    { key: 'last', type: 'text', title: 'Else?', show_if: { step: 'thumb', op: 'eq', value: false } },
  ],
});

describe('the editor', () => {
  test('returns the steps and conditions of a stored question unchanged', () => {
    expect(bodyOf(valuesOf(QUESTION)).follow_ups).toEqual(QUESTION.follow_ups);
  });

  test('keeps the conditions on a step that gets another key', () => {
    const values = valuesOf(QUESTION);
    const renamed = values.follow_ups.map(step => (step.id === 'reason' ? { ...step, key: 'cause' } : step));
    const { follow_ups } = bodyOf({ ...values, follow_ups: renamed });
    expect(follow_ups.map(({ key }) => key)).toEqual(['cause', 'topics', 'thumb', 'last']);
    expect(JSON.stringify(follow_ups.map(({ show_if }) => show_if))).not.toContain('"reason"');
    expect(follow_ups[1]?.show_if).toMatchObject({ all: [{ step: 'main' }, { step: 'cause' }] });
  });

  test('saves a condition without a value, and a list without items, as a draft', () => {
    const values = valuesOf(QUESTION);
    const emptied = values.follow_ups.map(step => ({
      ...step,
      conditions: step.conditions.map(condition => ({ ...condition, value: [] })),
    }));
    const body = bodyOf({ ...values, follow_ups: emptied });
    expect(NewQuestion.safeParse(body).success).toBe(true);
    const faults = findPublishFaults(NewQuestion.parse(body) as never);
    expect(faults.map(fault => 'pointer' in fault && `${fault.pointer} ${fault.code}`)).toEqual([
      '/follow_ups/0/show_if/value required',
      '/follow_ups/1/show_if/all/0/value required',
      '/follow_ups/1/show_if/all/1/value required',
      '/follow_ups/2/show_if/any/0/value required',
      '/follow_ups/3/show_if/value required',
    ]);
  });

  test.each(QUESTION_TYPES)('offers the operators that the API accepts for %s, and no others', type => {
    const config = type.endsWith('choice') ? { options } : {};
    const accepted = OPERATORS.filter(op => {
      const question = NewQuestion.parse({
        type,
        title: 'Title',
        config,
        follow_ups: [{ key: 'next', type: 'text', title: 'Next', show_if: { step: 'main', op } }],
      });
      return !findPublishFaults(question as never).some(({ code }) => code === 'wrong-operator');
    });
    expect([...operatorsFor(type)].sort()).toEqual([...accepted].sort());
  });

  test('finds the field of a pointer into a condition', () => {
    expect(
      ['/title', '/follow_ups/2/show_if', '/follow_ups/2/show_if/op', '/follow_ups/0/show_if/any/4/value/1'].map(
        fieldNameOf,
      ),
    ).toEqual(['title', 'follow_ups.2.match', 'follow_ups.2.conditions.0.op', 'follow_ups.0.conditions.4.value.1']);
  });

  test('gives each step a key that no step has or had', () => {
    expect(freeKey([], 1)).toBe('step-1');
    expect(freeKey([{ ...newFollowUp('step-2'), key: 'renamed' }], 1)).toBe('step-3');
    expect(freeKey([newFollowUp('step-1')], 4)).toBe('step-v4-2');
  });
});

describe('the languages', () => {
  const german = {
    title: 'Wie wahrscheinlich?',
    follow_ups: {
      reason: { title: 'Warum?', config: { options: { price: 'Der Preis' } } },
      gone: { title: 'Entfernt' },
    },
  };
  const values = valuesOf({ ...QUESTION, locale: 'en', translations: { de: german } });

  test('are returned without texts of steps that the question does not have', () => {
    const { follow_ups, ...main } = german;
    expect(bodyOf(values).translations).toEqual({ de: { ...main, follow_ups: { reason: follow_ups.reason } } });
  });

  test('keep texts that the editor does not show', () => {
    const ending = { title: 'Danke', link: { label: 'Weiter' } };
    const translations = { de: { title: 'Wie wahrscheinlich?', ending } };
    expect(bodyOf(valuesOf({ ...QUESTION, translations })).translations).toEqual(translations);
  });

  test('follow a step that gets another key', () => {
    const renamed = values.follow_ups.map(step => (step.id === 'reason' ? { ...step, key: 'cause' } : step));
    const { de } = bodyOf({ ...values, follow_ups: renamed }).translations;
    expect(Object.keys(de?.follow_ups ?? {})).toEqual(['cause']);
  });

  test('lack what the server reports as missing', () => {
    const body = { ...bodyOf(values), description: '' };
    const faults = findPublishFaults(NewQuestion.parse(body) as never);
    const missing = missingTexts(sourceTexts(values), values.translations.de ?? {});
    expect(missing.length).toBeGreaterThan(3);
    expect(missing.map(({ place }) => `/translations/de/${place}`)).toEqual(
      faults.filter(({ code }) => code === 'missing-translation').map(fault => 'pointer' in fault && fault.pointer),
    );
  });

  test('are on the card, with own texts where one is missing', () => {
    const [main, reason, topics] = stepsOf(translateCard(cardTextOf(values), german));
    expect([main?.title, reason?.title, topics?.title]).toEqual(['Wie wahrscheinlich?', 'Warum?', 'Which?']);
    expect(reason?.config.options).toEqual([
      { id: 'price', label: 'Der Preis' },
      { id: 'quality', label: 'The quality' },
    ]);
  });

  test('are listed before publishing', () => {
    const translations = { de: { ...values.translations.de, title: 'Wie sehr?' }, fr: { title: 'Combien ?' } };
    expect(changesFor(values, { ...values, translations })).toEqual([
      { label: 'German · Question', before: 'Wie wahrscheinlich?', after: 'Wie sehr?' },
      { label: 'French · Question', after: 'Combien ?' },
    ]);
  });
});

describe('the changes before publishing', () => {
  const change = (edit: (steps: QuestionValues['follow_ups']) => QuestionValues['follow_ups']) => {
    const values = valuesOf(QUESTION);
    return changesFor(values, { ...values, follow_ups: edit(values.follow_ups) });
  };

  test('name the step, and nothing without a change', () => {
    expect(change(steps => steps)).toEqual([]);
    expect(
      change(([first, ...others]) => [{ ...(first as never as object), title: 'Why not?' } as never, ...others]),
    ).toEqual([{ label: 'Step 2 · Question', before: 'Why?', after: 'Why not?' }]);
  });

  test('have conditions as sentences, with the labels of options', () => {
    const [, topics] = change(steps => steps.map(step => ({ ...step, match: 'always' as const })));
    expect(topics).toEqual({
      label: 'Step 3 · Show this step',
      before: '“How likely?” is one of 1, 2 and “Why?” is one of The price, Other',
      after: 'Always',
    });
  });

  test('include removed steps and a new order', () => {
    expect(change(([first, second, , last]) => [second, first, last] as never)).toEqual([
      { label: 'Order of the steps', before: 'Why? → Which? → Else?', after: 'Which? → Why? → Else?' },
      { label: 'Removed step', before: 'Good?' },
    ]);
  });
});

describe('the card of an answer', () => {
  const rules = stepsOf(QUESTION as never);
  test.each([
    ['completed', { main: 9 }],
    ['completed', { main: 1, reason: { option_id: 'price' }, topics: { option_ids: ['price'] }, thumb: false }],
    ['completed', { main: 1, reason: { option_id: 'quality' } }],
    ['partial', { main: 1 }],
    ['partial', { main: 1, reason: { other_text: 'x' } }],
    ['dismissed', {}],
    ['seen', {}],
  ] as const)('%s %j shows the steps that the results count', (state, values) => {
    const shown = shownSteps(rules, { state, values });
    const counted = shownFollowUps(rules as never, { state, values });
    expect(shown[0]?.step.key).toBe('main');
    expect(shown.slice(1).map(({ step, outcome }) => [step.key, outcome])).toEqual(
      counted.map(({ key, outcome }) => [key, outcome]),
    );
  });
});

test.each([{ min: 0 }, { min: 0, max: 2 }, { max: 1 }, {}])('the selections %o are the same after an edit', limits => {
  const config = { options, allow_other: false, shuffle: false, ...limits };
  expect(configOf('multi_choice', configValuesOf(config))).toEqual(config);
});
