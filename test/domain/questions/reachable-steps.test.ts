import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findPublishFaults } from '../../../src/domain/questions/question-checks.ts';
import type { AnswerRules, QuestionContent, StepRules } from '../../../src/domain/questions/questions.ts';
import { createReachability, MAX_ATTEMPTS } from '../../../src/domain/questions/reachable-steps.ts';
import { type Condition, type ShowIf, visibleSteps } from '../../../src/domain/steps.ts';

const OPTIONS = ['a', 'b', 'c'].map(id => ({ id, label: id }));

/** A kind of step: its rules, all its values, and conditions on it. */
const KINDS = [
  { type: 'csat', config: {}, values: [1, 2, 3, 4, 5], ops: ['eq', 'ne', 'lt', 'gte'], operands: [1, 3, 5] },
  { type: 'thumbs', config: {}, values: [true, false], ops: ['eq'], operands: [true, false] },
  {
    type: 'single_choice',
    config: { options: OPTIONS },
    values: ['a', 'b', 'c'].map(option_id => ({ option_id })),
    ops: ['eq', 'ne'],
    operands: ['a', 'b'],
  },
  {
    type: 'multi_choice',
    config: { options: OPTIONS, max: 2 },
    values: [['a'], ['b'], ['c'], ['a', 'b'], ['a', 'c'], ['b', 'c']].map(option_ids => ({ option_ids })),
    ops: ['contains_all', 'contains_any'],
    operands: [['a'], ['a', 'b'], ['b', 'c']],
  },
] as const;

type Kind = (typeof KINDS)[number];

const conditionOn = (step: StepRules, kind: Kind): fc.Arbitrary<Condition> =>
  fc.oneof(
    fc.constantFrom('answered', 'not_answered').map(op => ({ step: step.key, op }) as Condition),
    fc
      .record({ op: fc.constantFrom(...kind.ops), value: fc.constantFrom(...(kind.operands as readonly unknown[])) })
      .map(comparison => ({ step: step.key, ...comparison }) as Condition),
  );

/** Four steps, of which each may depend on those before. */
const questions = fc.array(fc.constantFrom(...KINDS), { minLength: 4, maxLength: 4 }).chain(kinds => {
  const steps = kinds.map(({ type, config }, index) => ({
    ...{ key: index === 0 ? 'main' : `step-${index}`, type, config, show_if: null },
    required: index === 0,
  })) as unknown as StepRules[];
  const showIfs = steps.slice(1).map((_, index) => {
    const one = fc.nat(index).chain(at => conditionOn(steps[at] as StepRules, kinds[at] as Kind));
    const several = fc.array(one, { minLength: 2, maxLength: 3 });
    return fc.oneof(
      one as fc.Arbitrary<ShowIf | null>,
      several.map((all): ShowIf => ({ all })),
      several.map((any): ShowIf => ({ any })),
      fc.constant(null),
    );
  });
  return fc.tuple(...showIfs).map(conditions => ({
    kinds,
    steps: steps.map((step, index) => ({ ...step, show_if: conditions[index - 1] ?? null })),
  }));
});

/** Returns the keys that any answer shows, by trying all of them. */
function shownByAny(steps: readonly StepRules[], kinds: readonly Kind[]): Set<string> {
  const shown = new Set<string>();
  const tryAll = (index: number, values: Record<string, unknown>): void => {
    const step = steps[index];
    if (!step) for (const { key } of visibleSteps(steps, values)) shown.add(key);
    else {
      if (!step.required) tryAll(index + 1, values);
      for (const value of kinds[index]?.values ?? []) tryAll(index + 1, { ...values, [step.key]: value });
    }
  };
  tryAll(0, {});
  return shown;
}

const doubtful = (steps: readonly StepRules[]): boolean => /not_answered|contains_any/.test(JSON.stringify(steps));

describe('a step', () => {
  test('is never found unreachable if an answer shows it, and always if none does', () => {
    fc.assert(
      fc.property(questions, ({ steps, kinds }) => {
        const shown = shownByAny(steps, kinds);
        const reachability = createReachability(steps);
        for (const [index, { key }] of steps.entries()) {
          const canBeShown = reachability.canBeShown(index);
          if (shown.has(key) || !doubtful(steps)) expect([key, canBeShown]).toEqual([key, shown.has(key)]);
        }
      }),
      { numRuns: 300 },
    );
  });
});

/** Ten steps whose last one cannot be shown: each of the others has five alternatives that contradict later ones. */
const maze = (): QuestionContent => ({
  ...{ type: 'nps', title: 'Maze', description: '', config: {}, thanks: null, translations: {} },
  follow_ups: Array.from({ length: 9 }, (_, index) => ({
    ...{ key: `step-${index}`, type: 'nps', title: 'Step', description: '', config: {}, required: false },
    show_if:
      index === 0
        ? null
        : index === 8
          ? {
              all: [
                { step: 'step-7', op: 'answered' },
                { step: 'step-0', op: 'lt', value: 5 },
                { step: 'step-0', op: 'gt', value: 5 },
              ],
            }
          : {
              any: Array.from({ length: 5 }, (_, at) => ({ step: `step-${index - 1}`, op: 'in', value: [at, at + 1] })),
            },
  })) as QuestionContent['follow_ups'],
});

describe('a question with millions of combinations of conditions', () => {
  test('is decided within one budget for all of its steps, in favor of its author', () => {
    const content = maze();
    const steps = [{ key: 'main', type: 'nps', config: {}, required: true, show_if: null }, ...content.follow_ups];
    const reachability = createReachability(steps as unknown as AnswerRules);
    const shown = steps.map((_, index) => reachability.canBeShown(index));
    expect(reachability.attempts()).toBeLessThanOrEqual(MAX_ATTEMPTS);
    expect(shown.slice(0, 9)).toEqual(Array(9).fill(true));
    expect(findPublishFaults(content).every(({ code }) => code === 'unreachable-step')).toBe(true);
  });
});
