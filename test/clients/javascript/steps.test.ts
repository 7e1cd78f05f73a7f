import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isKnownShowIf, visibleSteps } from '../../../clients/javascript/src/session/steps.ts';
import type { ShowIf } from '../../../clients/javascript/src/types.ts';
import { type ConditionalStep, visibleSteps as visibleStepsOfServer } from '../../../src/domain/steps.ts';
import { steps, values } from '../../support/steps.ts';
import { contract } from '../contract.ts';

interface Case {
  name: string;
  values: Record<string, unknown>;
  shown: string[];
}
const { visible, cards } = contract('steps') as {
  visible: { name: string; steps: ConditionalStep[]; cases: Case[] }[];
  cards: { card: { steps: ConditionalStep[] }; answers: Case[] }[];
};

const CASES = [
  ...visible.flatMap(({ name, steps, cases }) => cases.map(each => ({ ...each, name, steps }))),
  ...cards.flatMap(({ card, answers }) => answers.map(each => ({ ...each, steps: card.steps }))),
];

test.each(CASES)('$name: $values', ({ steps, values, shown }) => {
  expect(visibleSteps(steps, values).map(({ key }) => key)).toEqual(shown);
});

test('any steps and values show what they show on the server', () => {
  fc.assert(
    fc.property(steps, values, (all, given) => {
      expect(visibleSteps(all, given)).toEqual(visibleStepsOfServer(all, given));
    }),
    { numRuns: 1000 },
  );
});

describe('the form of a condition', () => {
  test('is known for any steps of this server', () => {
    fc.assert(fc.property(steps, all => all.every(({ show_if }) => isKnownShowIf(show_if))));
    for (const { steps } of CASES) expect(steps.filter(({ show_if }) => !isKnownShowIf(show_if))).toEqual([]);
  });

  const condition = { step: 'main', op: 'eq', value: 1 };
  test.each<unknown>([
    { ...condition, op: 'matches' },
    { ...condition, op: 'toString' },
    { ...condition, value: { from: 1 } },
    { ...condition, value: [1, null] },
    { ...condition, ignore_case: true },
    { op: 'answered' },
    { none: [condition, condition] },
    { all: [condition, condition], at_least: 1 },
    { all: [condition, { any: [condition, condition] }] },
    { all: condition },
    { all: null },
    {},
    [[condition]],
    [[]],
    true,
    7,
    'main',
  ])('is unknown: %j', showIf => {
    expect(isKnownShowIf(showIf as ShowIf)).toBe(false);
  });
});
