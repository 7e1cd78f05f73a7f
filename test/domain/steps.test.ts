import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Condition, type ConditionalStep, OPERATORS, visibleSteps } from '../../src/domain/steps.ts';
import { contract } from '../clients/contract.ts';
import { KEYS, steps, values } from '../support/steps.ts';

const { visible, cards } = contract('steps') as {
  visible: { name: string; steps: ConditionalStep[]; cases: { values: Record<string, unknown>; shown: string[] }[] }[];
  cards: {
    name: string;
    card: { steps: ConditionalStep[] };
    answers: { name: string; values: Record<string, unknown>; shown: string[] }[];
  }[];
};

const keys = (steps: readonly ConditionalStep[]) => steps.map(({ key }) => key);

describe('the cases for all clients', () => {
  test.each(visible.flatMap(({ name, steps, cases }) => cases.map(each => ({ name, steps, ...each }))))(
    '$name: $values',
    ({ steps, values, shown }) => {
      expect(keys(visibleSteps(steps, values))).toEqual(shown);
    },
  );

  test.each(cards.flatMap(({ card, answers }) => answers.map(each => ({ steps: card.steps, ...each }))))(
    '$name: $values',
    ({ steps, values, shown }) => {
      expect(keys(visibleSteps(steps, values))).toEqual(shown);
    },
  );

  test('every operator has a case', () => {
    const conditions = visible.flatMap(({ steps }) => steps.flatMap(({ show_if }) => show_if ?? []));
    const used = conditions.flatMap(showIf =>
      Object.values(showIf as object)
        .flat()
        .concat(showIf)
        .map(each => (each as Condition).op),
    );
    expect([...OPERATORS].filter(operator => !used.includes(operator))).toEqual([]);
  });
});

describe('for any steps and values', () => {
  test('values of hidden steps change nothing', () => {
    fc.assert(
      fc.property(steps, values, (all, given) => {
        const shown = keys(visibleSteps(all, given));
        const sent = Object.fromEntries(Object.entries(given).filter(([key]) => shown.includes(key)));
        expect(keys(visibleSteps(all, sent))).toEqual(shown);
      }),
    );
  });

  test('a later step never affects an earlier one', () => {
    fc.assert(
      fc.property(steps, values, fc.integer({ min: 1, max: KEYS.length }), (all, given, count) => {
        const first = KEYS.slice(0, count);
        const shown = keys(visibleSteps(all, given)).filter(key => first.includes(key));
        expect(keys(visibleSteps(all.slice(0, count), given))).toEqual(shown);
      }),
    );
  });

  test('`not_answered` is the opposite of `answered`', () => {
    fc.assert(
      fc.property(steps, values, (all, given) => {
        const asks = KEYS.flatMap(step => [
          { key: `${step}+`, show_if: { step, op: 'answered' as const } },
          { key: `${step}-`, show_if: { step, op: 'not_answered' as const } },
        ]);
        const shown = keys(visibleSteps([...all, ...asks], given));
        for (const step of KEYS) expect(shown.includes(`${step}+`)).toBe(!shown.includes(`${step}-`));
      }),
    );
  });
});
