import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findPublishFaults } from '../../../src/domain/questions/question-checks.ts';
import { NewQuestion, type QuestionContent } from '../../../src/domain/questions/questions.ts';
import { type ShowIf, visibleSteps } from '../../../src/domain/steps.ts';
import {
  aBlock,
  aRule,
  aSurvey,
  type Block,
  type Data,
  type Element,
  elementOf,
  type Survey,
  shownElements,
} from './formbricks-survey.ts';

const EXAMPLES = '../../../clients/javascript/examples/formbricks';
interface Plan {
  steps: { element: Element; key: string; show_if: ShowIf | null }[];
  others: { element: Element; reason: string }[];
  losses: string[];
}
const { planSurvey } = (await import(`${EXAMPLES}/plan.mjs`)) as { planSurvey(survey: Survey): Plan };
const { contentOf, isRequired } = (await import(`${EXAMPLES}/content.mjs`)) as {
  contentOf(element: Element): object;
  isRequired(element: Element): boolean;
};
const { valueIn } = (await import(`${EXAMPLES}/survey.mjs`)) as {
  valueIn(response: { data: Data }, element: Element): unknown;
};

/** Each step by its key, with its condition. */
const stepsOf = (survey: Survey) =>
  Object.fromEntries(planSurvey(survey).steps.map(({ key, show_if }) => [key, show_if]));
const reasonsOf = (survey: Survey) =>
  Object.fromEntries(planSurvey(survey).others.map(({ element, reason }) => [element.id, reason]));

const nps = elementOf('nps', 'nps');
const text = (id: string) => elementOf(id, 'openText', { required: false });

/** A score that branches in three, which meet again at the last page. */
const branches = (): Survey =>
  aSurvey(
    aBlock('b1', [nps], {
      rules: [
        aRule('b4', ['nps', 'isGreaterThanOrEqual', 9]),
        aRule('b3', ['nps', 'isGreaterThan', 6], ['nps', 'isLessThan', 9]),
      ],
    }),
    aBlock('b2', [text('wrong')], {
      rules: [aRule('b5', ['wrong', 'isSubmitted']), aRule('end', ['wrong', 'isSkipped'])],
    }),
    aBlock('b3', [elementOf('better', 'openText')], { rules: [aRule('b5', ['better', 'isSubmitted'])] }),
    aBlock('b4', [elementOf('love', 'multipleChoiceMulti')]),
    aBlock('b5', [text('else')]),
  );

describe('the logic of a survey of Formbricks', () => {
  test('becomes the conditions of steps', () => {
    expect(stepsOf(branches())).toEqual({
      main: null,
      wrong: { step: 'main', op: 'lte', value: 6 },
      better: { step: 'main', op: 'in', value: [7, 8] },
      love: { step: 'main', op: 'gte', value: 9 },
      else: {
        any: [
          { step: 'main', op: 'gte', value: 7 },
          { step: 'wrong', op: 'answered' },
        ],
      },
    });
  });

  test('of a choice refers to its options, and to several at once', () => {
    const survey = aSurvey(
      aBlock('b1', [elementOf('where', 'multipleChoiceSingle')], {
        rules: [aRule('b3', ['where', 'equals', 'where-1'])],
      }),
      aBlock('b2', [elementOf('tools', 'multipleChoiceMulti')]),
      aBlock('b3', [text('why')], { rules: [aRule('end', ['tools', 'includesOneOf', ['tools-1', 'tools-2']])] }),
      aBlock('b4', [text('last')]),
    );
    expect(stepsOf(survey)).toMatchObject({ tools: { step: 'main', op: 'ne', value: 'where-1' }, why: null });
    expect(reasonsOf(survey).last).toContain('no condition like'); // "contains none of" does not exist
  });

  test('of a page of an earlier Formbricks, one question each, is the same', () => {
    const { blocks, ...rest } = branches();
    const pageOf = (id: string) => blocks.find(block => block.id === id)?.elements[0]?.id ?? id;
    const questions = blocks.map(({ elements, logic = [], logicFallback }: Block) => ({
      ...(elements[0] as Element),
      logic: logic.map(rule => ({
        ...rule,
        actions: rule.actions.map(each => ({ ...each, objective: 'jumpToQuestion', target: pageOf(each.target) })),
      })),
      ...(logicFallback ? { logicFallback: pageOf(logicFallback) } : {}),
    }));
    expect(stepsOf({ ...rest, blocks: [], questions } as unknown as Survey)).toEqual(stepsOf(branches()));
  });

  test('that depends on a click on the button of a statement is reported, since a statement has no value', () => {
    const survey = aSurvey(
      aBlock('b1', [nps], { rules: [aRule('b3', ['nps', 'isLessThan', 9])] }),
      aBlock('b2', [elementOf('review', 'cta')], { rules: [aRule('b4', ['review', 'isClicked'])] }),
      aBlock('b3', [text('wrong')]),
      aBlock('b4', [text('all')]),
    );
    expect(stepsOf(survey)).toEqual({ main: null, review: { step: 'main', op: 'gte', value: 9 }, all: null });
    expect(reasonsOf(survey)).toEqual({ wrong: expect.stringContaining('no condition like') });
  });

  test('of Formbricks before 2.6 is reported for the questions that it concerns, and for no other', () => {
    const logic = [{ condition: 'lessThan', value: 7, destination: 'why' }];
    const questions = [
      { ...nps, logic: [...logic, { condition: 'submitted', destination: 'all' }] },
      text('why'),
      text('all'),
    ];
    const survey = { ...aSurvey(), blocks: undefined, questions } as unknown as Survey;
    expect(stepsOf(survey)).toEqual({ main: null, all: null });
    expect(reasonsOf(survey)).toEqual({ why: expect.stringContaining('no condition like') });
  });

  test('that Parley cannot express is reported for the questions that it concerns, and for no other', () => {
    const survey = aSurvey(
      aBlock('b1', [nps], { rules: [aRule('b3', ['plan', 'equals', 'pro'])] }),
      aBlock('b2', [text('free')]),
      aBlock('b3', [elementOf('face', 'fileUpload'), text('all')]),
    );
    expect(stepsOf(survey)).toEqual({ main: null, all: null });
    expect(reasonsOf(survey)).toEqual({
      free: expect.stringContaining('no condition like'),
      face: 'Parley has nothing like fileUpload',
    });
  });

  test('that jumps back, or a question that nobody sees, is reported', () => {
    const back = aSurvey(
      aBlock('b1', [nps]),
      aBlock('b2', [text('why')], { rules: [aRule('b1', ['why', 'isSubmitted'])] }),
    );
    expect(reasonsOf(back)).toEqual({ why: expect.stringContaining('jumps back') });
    const unseen = aSurvey(
      aBlock('b1', [nps], { rules: [aRule('b3', ['nps', 'isSubmitted'])] }),
      aBlock('b2', [text('why')]),
      aBlock('b3', [text('more')]),
    );
    expect(reasonsOf(unseen)).toEqual({ why: 'no answer leads to it' });
    expect(stepsOf(unseen)).toEqual({ main: null, more: null });
  });

  test('fills at most ten steps', () => {
    const survey = aSurvey(...Array.from({ length: 12 }, (_, page) => aBlock(`b${page}`, [text(`t${page}`)])));
    expect(Object.keys(stepsOf(survey))).toHaveLength(10);
    expect(Object.keys(reasonsOf(survey))).toEqual(['t10', 't11']);
  });
});

describe('an element of a survey', () => {
  const options = (...ids: string[]) => ids.map(id => ({ id, label: { default: `Option ${id}` } }));
  const numbered = (count: number) => options(...Array.from({ length: count }, (_, number) => `c${number}`));

  test.each([
    ['more options than a choice has', { choices: numbered(31) }, 'it has 31'],
    ['only one option next to "other"', { choices: options('a', 'other') }, 'it has 1'],
    ['an option id with a space', { choices: options('a', 'b c') }, 'the id of an option'],
    ['an option id twice', { choices: options('a', 'a') }, 'the id of an option'],
    ['an option without text', { choices: [...options('a'), { id: 'b', label: { default: '<p></p>' } }] }, 'no text'],
    ['no headline', { headline: { default: '' } }, 'it has no text'],
  ])('with %s is left out, and the steps around it stay', (_, change, reason) => {
    const place = { ...elementOf('place', 'multipleChoiceSingle'), ...change };
    const survey = aSurvey(aBlock('b1', [nps]), aBlock('b2', [place]), aBlock('b3', [text('why')]));
    expect(stepsOf(survey)).toEqual({ main: null, why: null });
    expect(reasonsOf(survey)).toEqual({ place: expect.stringContaining(reason) });
  });

  test('with the most options of a choice is a step', () => {
    const place = { ...elementOf('place', 'multipleChoiceSingle'), choices: numbered(30) };
    expect(stepsOf(aSurvey(aBlock('b1', [place])))).toEqual({ main: null });
  });
});

const TYPES = ['nps', 'rating', 'multipleChoiceSingle', 'multipleChoiceMulti', 'openText', 'consent', 'cta'];
const CONDITIONS: Record<string, (id: string, number: number) => [string, string, unknown?][]> = {
  nps: (id, n) => ['isLessThan', 'isGreaterThanOrEqual', 'equals', 'doesNotEqual'].map(op => [id, op, n]),
  rating: (id, n) => ['isLessThanOrEqual', 'isGreaterThan', 'equals'].map(op => [id, op, 1 + (n % 5)]),
  multipleChoiceSingle: (id, n) => [
    [id, 'equals', `${id}-${n % 3}`],
    [id, 'doesNotEqual', `${id}-${n % 3}`],
    [id, 'equalsOneOf', [`${id}-0`, 'other']],
  ],
  multipleChoiceMulti: (id, n) =>
    ['includesOneOf', 'includesAllOf', 'doesNotIncludeOneOf'].map(op => [id, op, [`${id}-0`, `${id}-${n % 3}`]]),
  openText: () => [],
  consent: id => [[id, 'isAccepted']],
  cta: id => [
    [id, 'isClicked'],
    [id, 'isNotClicked'],
  ],
};

/** A survey of up to six pages with jumps ahead on any answer before them. */
const anySurvey = fc
  .array(fc.record({ type: fc.constantFrom(...TYPES), required: fc.boolean() }), { minLength: 2, maxLength: 6 })
  .chain(parts => {
    const elements = parts.map(({ type, required }, page) => elementOf(`e${page}`, type, { required }));
    const rulesAt = (page: number) => {
      const conditions = elements
        .slice(0, page + 1)
        .flatMap(({ id, type }) => [
          ...[0, 3, 6, 9].flatMap(number => CONDITIONS[type]?.(id, number) ?? []),
          [id, 'isSubmitted'] as [string, string],
          [id, 'isSkipped'] as [string, string],
        ]);
      const targets = [...elements.slice(page + 1).map((_, ahead) => `b${page + 1 + ahead}`), 'end'];
      const some = fc.array(fc.constantFrom(...conditions), { minLength: 1, maxLength: 2 });
      return fc.array(
        fc.tuple(fc.constantFrom(...targets), some, fc.constantFrom('and', 'or')).map(([target, list, connector]) => {
          const rule = aRule(target, ...list);
          return { ...rule, conditions: { ...rule.conditions, connector } };
        }),
        { maxLength: 2 },
      );
    };
    return fc
      .tuple(...elements.map((_, page) => rulesAt(page)))
      .map(all =>
        aSurvey(...elements.map((element, page) => aBlock(`b${page}`, [element], { rules: all[page] ?? [] }))),
      );
  });

/** Numbers from which the answer to each element is chosen; an optional element may be skipped. */
const anyAnswers = fc.array(fc.array(fc.nat(60), { minLength: 6, maxLength: 6 }), { minLength: 20, maxLength: 20 });

test('a step is shown for exactly the answers for which Formbricks shows it, and the question can be published', () => {
  let conditional = 0;
  fc.assert(
    fc.property(anySurvey, anyAnswers, (survey, answers) => {
      const { steps } = planSurvey(survey);
      if (steps.length === 0) return; // statements only
      const [main, ...followUps] = steps.map(({ element, key, show_if }) => ({
        ...contentOf(element),
        ...(key === 'main' ? {} : { key, show_if, required: isRequired(element) }),
      }));
      const question = NewQuestion.parse({ ...main, follow_ups: followUps });
      expect(findPublishFaults(question as QuestionContent)).toEqual([]);
      conditional += steps.filter(({ show_if }) => show_if !== null).length;
      for (const numbers of answers) {
        const { shown, data } = shownElements(survey, numbers, steps[0]?.element.id);
        const values = Object.fromEntries(steps.map(({ element, key }) => [key, valueIn({ data }, element)]));
        const expected = steps.filter(({ element }) => shown.includes(element.id)).map(({ key }) => key);
        expect(visibleSteps(steps, values).map(({ key }) => key)).toEqual(expected);
      }
    }),
    { numRuns: 150 },
  );
  expect(conditional).toBeGreaterThan(20);
});
