import { type Condition, conditionsOf, holds } from '../steps.ts';
import type { StepRules } from './questions.ts';
import { definitionOf } from './types/index.ts';

/**
 * Maximum number of attempts to fulfill a condition, for all steps of a question together. Real questions need a few hundred;
 * 10 steps whose conditions all have 5 alternatives would need millions. Steps count as reachable once it is spent.
 */
export const MAX_ATTEMPTS = 5000;

/** Decides which steps of a question any answer can show. */
export interface Reachability {
  /** Whether any answer shows the step at `index`, also in case of doubt. */
  canBeShown(index: number): boolean;
  /** Returns the number of attempts so far. */
  attempts(): number;
}

/** The values of a step that are still possible, one bit each, so that conditions are combined by one operation. */
interface Possible {
  values: number;
  /** Whether a condition needs the step to be shown. */
  isShown: boolean;
  /** The options that a multiple choice must contain. */
  required: number;
  /** For each `contains_any`, the options of which a multiple choice must contain one. */
  wanted: readonly number[];
}

/** The bit of the missing value. The other values follow: scores, or 30 options and `other`, fit into 32 bits. */
const MISSING = 1;
/** The bit for a multiple choice with any options. */
const CHOSEN = 2;

/** A step as a set of values. */
interface ValueSet {
  index: number;
  rules: StepRules;
  /** The values before any condition. */
  all: Possible;
  /** Returns the values that fulfill a condition. */
  fulfilling(condition: Condition): Possible;
  /** Whether a value remains. */
  hasValue(possible: Possible): boolean;
}

/** The conditions that are still to be fulfilled. */
interface Open {
  condition: Condition;
  next: Open | null;
}

const bitsOf = (values: readonly unknown[], isIn: (value: unknown) => boolean): number =>
  values.reduce<number>((bits, value, index) => (isIn(value) ? bits | (1 << index) : bits), 0);

const countBits = (bits: number): number => {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
};

/** Returns the values that fulfill both. */
const both = (one: Possible, other: Possible): Possible => ({
  values: one.values & other.values,
  isShown: one.isShown || other.isShown,
  required: one.required | other.required,
  wanted: other.wanted.length > 0 ? [...one.wanted, ...other.wanted] : one.wanted,
});

const possibleValues = (values: number, isShown = false): Possible => ({ values, isShown, required: 0, wanted: [] });

/**
 * Creates the decision for a question. The conditions of a step must already refer to earlier steps, with operators of their
 * types.
 *
 * It tries every combination of the alternatives in `any`, each with the conditions of the steps that it refers to. Values
 * are sets, computed once for each condition, so that an attempt is cheap. Only to intersect the sets of each step would need
 * no attempts, but would miss a condition that contradicts those of the steps that it refers to.
 */
export function createReachability(rules: readonly StepRules[]): Reachability {
  let attempts = 0;
  const sets = new Map(rules.map((step, index) => [step.key, valueSet(step, index)]));
  const known = new Map<Condition, Possible>();

  const fulfilling = (set: ValueSet, condition: Condition): Possible => {
    const found = known.get(condition) ?? set.fulfilling(condition);
    known.set(condition, found);
    return found;
  };

  /** Whether the open conditions can be met in addition to those on each step so far. */
  const fulfill = (open: Open | null, required: readonly (Possible | undefined)[]): boolean => {
    if (!open || attempts >= MAX_ATTEMPTS) return true;
    attempts++;
    const { condition, next } = open;
    const set = sets.get(condition.step);
    if (!set) return false;
    const before = required[set.index] ?? set.all;
    const after = both(before, fulfilling(set, condition));
    if (!set.hasValue(after)) return false;
    const then = required.with(set.index, after);
    return after.isShown && !before.isShown ? show(set.rules, next, then) : fulfill(next, then);
  };

  const show = (step: StepRules, open: Open | null, required: readonly (Possible | undefined)[]): boolean => {
    if (!step.show_if) return fulfill(open, required);
    const { conditions, needsAll } = conditionsOf(step.show_if);
    if (!needsAll) return conditions.some(condition => fulfill({ condition, next: open }, required));
    const all = conditions.reduceRight<Open | null>((next, condition) => ({ condition, next }), open);
    return fulfill(all, required);
  };

  return {
    canBeShown(index) {
      const step = rules[index];
      return step !== undefined && show(step, null, new Array(rules.length).fill(undefined));
    },
    attempts: () => attempts,
  };
}

function valueSet(rules: StepRules, index: number): ValueSet {
  const missing = rules.required && rules.show_if === null ? 0 : MISSING;
  const definition = definitionOf(rules.type);
  const choices = definition.choices?.(rules.config);
  if (choices) return { index, rules, ...choiceSet(choices, missing) };
  const values = [undefined, ...definition.values(rules.config)];
  return {
    index,
    rules,
    all: possibleValues(bitsOf(values, value => value !== undefined) | missing),
    fulfilling: condition =>
      possibleValues(
        bitsOf(values, value => holds(condition, value)),
        condition.op !== 'not_answered',
      ),
    hasValue: ({ values }) => values !== 0,
  };
}

/**
 * Returns the values of a multiple choice: any options up to the maximum. Several `contains_any` ignore the maximum, so that a
 * step counts as reachable in case of doubt.
 */
function choiceSet(
  { ids, max }: { ids: string[]; max: number },
  missing: number,
): Pick<ValueSet, 'all' | 'fulfilling' | 'hasValue'> {
  return {
    all: possibleValues(CHOSEN | missing),
    fulfilling({ op, value }) {
      if (op === 'not_answered') return possibleValues(MISSING);
      const chosen = possibleValues(CHOSEN, true);
      if (op === 'answered') return chosen;
      const options = bitsOf(ids, id => (value as unknown[]).includes(id));
      return op === 'contains_all' ? { ...chosen, required: options } : { ...chosen, wanted: [options] };
    },
    hasValue({ values, required, wanted: [wanted = 0, ...others] }) {
      if ((values & CHOSEN) === 0) return values !== 0;
      const count = countBits(required);
      if (count > max) return false;
      return wanted === 0 || others.length > 0 || (wanted & required) !== 0 || count < max;
    },
  };
}
