import type { FollowUp } from '../questions/follow-ups.ts';
import { answerRules, type QuestionContent } from '../questions/questions.ts';
import { MAIN_STEP } from '../steps.ts';
import { addCounts, type Counted, noCounts } from './counts.ts';
import type { CountedStep, DayCounts } from './results.ts';
import { addStepCounts, asCounts, countStep, noStepCounts, type StepCounts, shownFollowUps } from './step-counts.ts';

/** The counts of a follow-up by day and version. */
export interface StepDayCounts extends StepCounts, Pick<DayCounts, 'day' | 'question_version'> {
  step: string;
}

/** Returns the form in which a step's counts are used like those of a question. */
export const asDayCounts = ({ step: _, day, question_version, ...counts }: StepDayCounts): DayCounts => ({
  day,
  question_version,
  ...asCounts(counts),
});

/** Counts the follow-ups of answers that are not in the results, such as those to a preview, by day and version. */
export function countFollowUps(
  content: Pick<QuestionContent, 'type' | 'config' | 'follow_ups'>,
  answers: readonly Counted[],
): StepDayCounts[] {
  const rules = answerRules(content);
  const sums = new Map<string, StepDayCounts>();
  for (const { day, question_version, state, values } of answers)
    for (const shown of shownFollowUps(rules, { state, values })) {
      const key = `${day} ${question_version} ${shown.key}`;
      const sum = sums.get(key) ?? { step: shown.key, day, question_version, ...noStepCounts() };
      sums.set(key, sum);
      countStep(sum, shown, state, 1);
    }
  return [...sums.values()];
}

/**
 * Returns the question itself and its follow-ups, each with its total.
 *
 * @param steps the follow-ups in order, which may include removed ones
 * @param main the counts of the question itself
 */
export function addUpSteps(
  { type, title, config }: Pick<QuestionContent, 'type' | 'title' | 'config'>,
  steps: readonly FollowUp[],
  main: readonly DayCounts[],
  followUps: readonly StepDayCounts[],
): CountedStep[] {
  const total = noCounts();
  for (const row of main) addCounts(total, row);
  const totals = new Map<string, StepCounts>();
  for (const row of followUps) totals.set(row.step, addStepCounts(totals.get(row.step) ?? noStepCounts(), row));
  return [
    { key: MAIN_STEP, type, title, config, counts: total, skipped: 0 },
    ...steps.map(step => {
      const counts = totals.get(step.key) ?? noStepCounts();
      return { ...step, counts: asCounts(counts), skipped: counts.skipped };
    }),
  ];
}
