import { expect, test } from 'vitest';
import { formatDuration } from '../../../dashboard/i18n.ts';
import { activateTexts } from './activate-texts.ts';

const NOW = Date.UTC(2026, 10, 26);
const durations = (...minutes: number[]) => minutes.map(each => formatDuration(new Date(NOW - each * 60_000), NOW));

test('a duration has abbreviated minutes and hours, and other units in full', () => {
  activateTexts('en');
  expect(durations(0, 5, 60, 1440, 5 * 1440, 90 * 1440)).toEqual([
    ...['1 min', '5 mins', '1 hr', '1 day', '5 days', '3 months'],
  ]);
  activateTexts('de');
  expect(durations(5, 60, 1440, 5 * 1440, 90 * 1440)).toEqual(['5 Min.', '1 Std.', '1 Tag', '5 Tage', '3 Monate']);
});
