import type { AnswerRules } from '../questions/questions.ts';
import { definitionOf } from '../questions/types/index.ts';
import { visibleSteps } from '../steps.ts';
import { type AnswerState, isAnswered } from './answers.ts';
import { addValues, type Counted, type Counts, countValue, hasText, noCounts } from './counts.ts';

/** The counts of one follow-up step in some answers. */
export interface StepCounts {
  /** Number of partial and completed answers with a value for the step. */
  partial: number;
  completed: number;
  /** Number of answers that continued without a value. */
  skipped: number;
  /** Number of answers that ended at the step, without a value. */
  left: number;
  /** Number of values with a text by the user. */
  written: number;
  scores: number[];
  choices: Map<string, number>;
}

/** Empty counts of a step. */
export const noStepCounts = (): StepCounts => {
  const { scores, choices } = noCounts();
  return { partial: 0, completed: 0, skipped: 0, left: 0, written: 0, scores, choices };
};

/** The outcome of a shown step: `left` for the one at which an answer ended. */
interface ShownStep {
  key: string;
  outcome: 'answered' | 'skipped' | 'left';
  value: unknown;
}

/**
 * Returns the follow-ups that an answer has shown, with their outcome.
 *
 * Steps are shown one after the other, so of an answer that is not completed the last one shown is the first without a
 * value after those with one. A statement, which has no value, is answered by continuing.
 */
export function shownFollowUps(
  rules: AnswerRules,
  { state, values }: { state: AnswerState; values: Counted['values'] },
): ShownStep[] {
  if (!isAnswered(state) || rules.length === 1) return [];
  const visible = visibleSteps(rules, values);
  const hasValue = ({ key }: { key: string }) => Object.hasOwn(values, key);
  const end = state === 'completed' ? visible.length : visible.findLastIndex(hasValue) + 1;
  return visible.slice(0, end + 1).flatMap((step, index): ShownStep[] => {
    if (index === 0) return []; // the question itself: `question_results`
    const passed = hasValue(step) || (definitionOf(step.type).isOnlyRead && index < end);
    return [
      { key: step.key, outcome: passed ? 'answered' : index < end ? 'skipped' : 'left', value: values[step.key] },
    ];
  });
}

/** Adds a shown step of an answer, or with `by` -1 subtracts it. */
export function countStep(counts: StepCounts, { outcome, value }: ShownStep, state: AnswerState, by: 1 | -1): void {
  if (outcome !== 'answered') {
    counts[outcome] += by;
    return;
  }
  counts[state === 'completed' ? 'completed' : 'partial'] += by;
  if (hasText(value)) counts.written += by;
  countValue(counts, value, by);
}

/** Adds other counts of a step, or with `by` -1 subtracts them. Returns the first. */
export function addStepCounts(counts: StepCounts, more: StepCounts, by: 1 | -1 = 1): StepCounts {
  for (const name of ['partial', 'completed', 'skipped', 'left', 'written'] as const) counts[name] += by * more[name];
  addValues(counts, more, by);
  return counts;
}

/** Returns the counts of a step in the form of a question's: `seen` is shown without a value. */
export const asCounts = ({ skipped, left, ...counts }: StepCounts): Counts => ({
  ...counts,
  seen: skipped + left,
  dismissed: 0,
});
