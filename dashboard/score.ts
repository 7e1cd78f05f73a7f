import type { Results, Score } from './api/names.ts';
import type { Tone } from './components/badge.tsx';
import { formatNumber, t } from './i18n.ts';

/** A score as it is written: an NPS with its sign, shares in percent, means with a digit after the point. */
export function formatScore(measure: Score['measure'], value: number): string {
  if (measure === 'nps') return formatNumber(value, { maximumFractionDigits: 0, signDisplay: 'exceptZero' });
  if (measure === 'mean') return formatNumber(value, { maximumFractionDigits: 2 });
  return formatNumber(value / 100, { style: 'percent', maximumFractionDigits: 0 });
}

export const scoreText = (score: Score | null): string =>
  score?.value == null ? '–' : formatScore(score.measure, score.value);

export const measureName = (measure: Score['measure']): string =>
  ({ nps: t('NPS'), csat: t('Satisfied'), mean: t('Average'), positive: t('Thumbs up') })[measure];

/** What a measure is, in a sentence. */
export const measureHint = (measure: Score['measure']): string =>
  ({
    nps: t('% promoters minus % detractors'),
    csat: t('Share of answers 4 and 5'),
    mean: t('Average of all answers'),
    positive: t('Share of thumbs up'),
  })[measure];

/** From which value on an answer is good, and up to which it is bad, where a scale says so (contract section 3). */
const JUDGED: Partial<Record<Results['type'], { bad: number; good: number }>> = {
  nps: { bad: 6, good: 9 },
  csat: { bad: 2, good: 4 },
};

/** Whether a value is a good or a bad one, as the score of its type counts it. */
export function valueTone(type: Results['type'], value: unknown): Tone {
  if (type === 'thumbs') return value === true ? 'good' : 'bad';
  const judged = JUDGED[type];
  if (!judged || typeof value !== 'number') return 'info';
  if (value >= judged.good) return 'good';
  return value <= judged.bad ? 'bad' : 'neutral';
}
