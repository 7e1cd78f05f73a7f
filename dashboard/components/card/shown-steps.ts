import { visibleSteps } from '../../../clients/javascript/src/session/steps.ts';
import type { CardStep } from '../../../clients/javascript/src/types.ts';

/** A step that an answer has shown. */
export interface ShownStep {
  step: CardStep;
  /** `left`: the answer ended here, without a value. */
  outcome: 'answered' | 'skipped' | 'left';
}

interface GivenAnswer {
  state: string;
  values: Readonly<Record<string, unknown>>;
}

/**
 * Returns the steps that an answer has shown, in order. Steps are shown one after the other, so of an answer that is not
 * completed the last one shown is the first without a value after those with one.
 */
export function shownSteps(steps: CardStep[], { state, values }: GivenAnswer): ShownStep[] {
  const visible = visibleSteps(steps, values);
  const hasValue = ({ key }: CardStep) => Object.hasOwn(values, key);
  const end = state === 'completed' ? visible.length : visible.findLastIndex(hasValue) + 1;
  return visible.slice(0, end + 1).map((step, index) => {
    const isAnswered = hasValue(step) || (step.type === 'statement' && index < end);
    return { step, outcome: isAnswered ? 'answered' : index < end ? 'skipped' : 'left' };
  });
}
