import { beforeAll, expect, test } from 'vitest';
import { changeText } from '../../../dashboard/score.ts';
import { activateTexts } from './activate-texts.ts';

beforeAll(() => activateTexts('en'));

const change = (measure: 'nps' | 'csat' | 'mean' | 'positive', before: number | null, now: number) => {
  const score = { measure, answers: 9, interval: null };
  return changeText({ ...score, value: now }, { ...score, value: before });
};

test('a share changes by percentage points, other scores by their own unit', () => {
  expect(change('csat', 66.4, 60)).toBe('▼ 6 percentage points');
  expect(change('positive', 60, 61)).toBe('▲ 1 percentage point');
  expect(change('nps', -3, 12)).toBe('▲ 15');
  expect(change('mean', 4.5, 4.25)).toBe('▼ 0.25');
  expect(change('csat', 60, 60)).toBe('unchanged');
  expect(change('csat', null, 60)).toBeUndefined();
});
