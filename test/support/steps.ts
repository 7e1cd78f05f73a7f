import fc from 'fast-check';
import { type Condition, type ConditionalStep, OPERATORS, type ShowIf } from '../../src/domain/steps.ts';

/** Keys of the steps, in order. */
export const KEYS = ['main', 'one', 'two', 'three', 'four'];
const operand = fc.oneof(fc.integer({ min: 0, max: 10 }), fc.boolean(), fc.constantFrom('a', 'b', 'other'));
const conditionOn = (earlier: string[]): fc.Arbitrary<Condition> =>
  fc.record({
    step: fc.constantFrom(...earlier),
    op: fc.constantFrom(...OPERATORS),
    value: fc.oneof(operand, fc.array(operand, { minLength: 1, maxLength: 3 })),
  });
const showIfOn = (earlier: string[]): fc.Arbitrary<ShowIf | null> => {
  const several = fc.array(conditionOn(earlier), { minLength: 2, maxLength: 5 });
  return fc.oneof(
    fc.constant(null),
    conditionOn(earlier),
    several.map(all => ({ all })),
    several.map(any => ({ any })),
  );
};
/** Any steps whose conditions refer to earlier ones. */
export const steps = fc.tuple(
  ...KEYS.map((key, index) =>
    index === 0
      ? fc.constant({ key, show_if: null })
      : showIfOn(KEYS.slice(0, index)).map(show_if => ({ key, show_if })),
  ),
) as fc.Arbitrary<ConditionalStep[]>;
const value = fc.oneof(
  operand,
  fc.record({ option_id: fc.constantFrom('a', 'b') }),
  fc.record({ option_ids: fc.subarray(['a', 'b', 'c']) }),
  fc.record({ other_text: fc.string() }),
);
/** Any values of these steps. */
export const values = fc.dictionary(fc.constantFrom(...KEYS), value);
