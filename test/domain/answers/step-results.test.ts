import { expect, test } from 'vitest';
import type { Counted } from '../../../src/domain/answers/counts.ts';
import { stepResultsOf } from '../../../src/domain/answers/results.ts';
import { addUpSteps, asDayCounts, countFollowUps } from '../../../src/domain/answers/step-results.ts';
import type { FollowUp } from '../../../src/domain/questions/follow-ups.ts';
import type { QuestionContent } from '../../../src/domain/questions/questions.ts';

const step = (key: string, type: string, fields: object = {}): FollowUp =>
  ({ key, type, title: key, description: '', config: {}, required: false, show_if: null, ...fields }) as FollowUp;

const REASON = step('reason', 'single_choice', {
  config: { options: [{ id: 'price', label: 'The price' }], allow_other: true },
  show_if: { step: 'main', op: 'lte', value: 6 },
});
const EASE = step('ease', 'csat', { config: { style: 'number' } });
const QUESTION = { type: 'nps', title: 'main', config: {}, follow_ups: [REASON, EASE] } as unknown as QuestionContent;

const answer = (values: Record<string, unknown>, fields: Partial<Counted> = {}): Counted => ({
  day: '2026-11-21',
  question_version: 1,
  state: 'completed',
  value: values.main,
  written: false,
  values: values as Counted['values'],
  ...fields,
});

test('the follow-ups of answers are counted by step, day and version', () => {
  const counts = countFollowUps(QUESTION, [
    answer({ main: 3, reason: { option_id: 'price' }, ease: 4 }),
    answer({ main: 6, reason: { other_text: 'The colour' } }), // skipped the last step
    answer({ main: 9, ease: 5 }), // is not asked for the reason
    answer({ main: 2 }, { state: 'partial' }), // left at the reason
    answer({ main: 1, ease: 1 }, { day: '2026-11-22', question_version: 2 }),
    answer({}, { state: 'dismissed' }),
  ]);
  const of = (key: string, day = '2026-11-21') => counts.find(row => row.step === key && row.day === day);
  expect(counts).toHaveLength(4);
  expect(of('reason')).toMatchObject({
    question_version: 1,
    completed: 2,
    partial: 0,
    skipped: 0,
    left: 1,
    written: 1,
  });
  expect(of('reason')?.choices).toEqual(
    new Map([
      ['price', 1],
      ['other', 1],
    ]),
  );
  expect(of('ease')).toMatchObject({ completed: 2, skipped: 1, left: 0 });
  expect(of('ease')?.scores.slice(4, 6)).toEqual([1, 1]);
  expect(of('ease', '2026-11-22')).toMatchObject({ question_version: 2, completed: 1 });
  expect(asDayCounts(of('reason') as never)).toMatchObject({ day: '2026-11-21', seen: 1, dismissed: 0, completed: 2 });
  expect(asDayCounts(of('reason') as never)).not.toHaveProperty('step');
});

test('a question without follow-ups has no counts of steps', () => {
  expect(countFollowUps({ ...QUESTION, follow_ups: [] }, [answer({ main: 9 })])).toEqual([]);
});

test('the totals of steps add up days and versions, and steps without answers have none', () => {
  const answers = [answer({ main: 3, ease: 4 }), answer({ main: 9, ease: 2 }, { day: '2026-11-22' })];
  const removed = step('gone', 'text');
  const main = [{ ...asDayCounts(countFollowUps(QUESTION, answers)[0] as never), completed: 2, seen: 1 }];
  const steps = addUpSteps(QUESTION, [REASON, EASE, removed], main, countFollowUps(QUESTION, answers));
  expect(steps.map(({ key }) => key)).toEqual(['main', 'reason', 'ease', 'gone']);
  expect(stepResultsOf(steps)).toMatchObject([
    { key: 'main', shown: 3, answered: 2, left: 1 },
    { key: 'reason', shown: 1, answered: 0, skipped: 1, left: 0 },
    { key: 'ease', shown: 2, answered: 2, skipped: 0, left: 0 },
    { key: 'gone', shown: 0, answered: 0, skipped: 0, left: 0 },
  ]);
});

test('adding up leaves the counts of the days as they are', () => {
  const followUps = countFollowUps(QUESTION, [answer({ main: 3, ease: 4 })]);
  const before = structuredClone(followUps);
  addUpSteps(QUESTION, [EASE], [], followUps);
  addUpSteps(QUESTION, [EASE], [], followUps);
  expect(followUps).toEqual(before);
});
