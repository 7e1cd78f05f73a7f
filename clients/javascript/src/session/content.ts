import type { AnswerState, AnswerValue, CardStep } from '../types.ts';
import { emptyValueOf, type Fault, faultOf, MAX_TEXT } from './rules.ts';
import { visibleSteps } from './steps.ts';

/** The content of an answer. */
export interface Content {
  state: AnswerState;
  values: Record<string, AnswerValue>;
  comment: string | null;
}

/** What the user has entered: a value by step key, valid or not, and the comment. */
export interface Entered {
  values: { [step: string]: AnswerValue | undefined };
  comment: string;
}

/** How the user ended an answer; undefined while it is open. */
export type End = 'completed' | 'dismissed' | undefined;

const isTooLong = ({ comment }: Entered): boolean => comment.trim().length > MAX_TEXT;

const isValid = (step: CardStep, value: AnswerValue | undefined): boolean =>
  value !== undefined && !faultOf(step, value);

/** The valid values of some steps. */
const validIn = (steps: CardStep[], { values }: Entered): Content['values'] =>
  Object.fromEntries(
    steps.filter(step => isValid(step, values[step.key])).map(({ key }) => [key, values[key] as AnswerValue]),
  );

/** The steps that the entered values show, in order. */
export const shownIn = (steps: CardStep[], entered: Entered): CardStep[] =>
  visibleSteps(steps, validIn(steps, entered));

/** Faults of the values of an answer that is to be completed, in the order of the shown steps. */
export const faultsIn = (steps: CardStep[], entered: Entered): Fault[] =>
  shownIn(steps, entered).flatMap(step => {
    const value = entered.values[step.key] ?? emptyValueOf(step);
    const isMissing = value === undefined && step.required && step.type !== 'statement';
    const fault = value === undefined ? undefined : faultOf(step, value);
    const faults: Fault[] = isMissing ? [{ step: step.key, code: 'required' }] : fault ? [fault] : [];
    if (step.key === 'main' && isTooLong(entered)) faults.push({ step: 'main', code: 'too-long', limit: MAX_TEXT });
    return faults;
  });

/**
 * The content to record: the valid values of the shown steps. The server rejects others, also before the answer is complete.
 * An answer with a value of `main` always counts: if it is declined, it is `partial`.
 */
export function contentOf(steps: CardStep[], entered: Entered, end?: End): Content {
  const values = validIn(shownIn(steps, entered), entered);
  const comment = isTooLong(entered) ? null : entered.comment.trim() || null;
  const isEmpty = comment === null && Object.keys(values).length === 0;
  const isCounted = end === 'dismissed' && values.main !== undefined;
  return { state: isCounted ? 'partial' : (end ?? (isEmpty ? 'seen' : 'partial')), values, comment };
}
