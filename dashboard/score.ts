import type { Results, Score } from './api/names.ts';
import type { Tone } from './components/badge.tsx';
import { formatNumber, t } from './i18n.ts';

/** Formats a score: NPS with sign, shares in percent, averages with up to two decimals. */
export function formatScore(measure: Score['measure'], value: number): string {
  if (measure === 'nps') return formatNumber(value, { maximumFractionDigits: 0, signDisplay: 'exceptZero' });
  if (measure === 'mean') return formatNumber(value, { maximumFractionDigits: 2 });
  return formatNumber(value / 100, { style: 'percent', maximumFractionDigits: 0 });
}

export const scoreText = (score: Score | null): string =>
  score?.value == null ? '–' : formatScore(score.measure, score.value);

/** The difference of two scores with its sign; undefined if one of them is missing. */
export function changeText(now: Score | null, before: Score | null): string | undefined {
  if (now?.value == null || before?.value == null) return undefined;
  const change = now.value - before.value;
  return change === 0 ? t('unchanged') : `${change > 0 ? '▲' : '▼'} ${sizeText(now.measure, Math.abs(change))}`;
}

/** The size of a change of a score. Shares change by percentage points. */
function sizeText(measure: Score['measure'], size: number): string {
  if (measure === 'nps' || measure === 'mean') return formatScore(measure, size).replace('+', '');
  const count = Math.round(size);
  return t('{count, plural, one {# percentage point} other {# percentage points}}', { count });
}

export const measureName = (measure: Score['measure']): string =>
  ({ nps: t('NPS'), csat: t('Satisfied'), mean: t('Average'), positive: t('Thumbs up') })[measure];

/** Short explanation of a measure. */
export const measureHint = (measure: Score['measure']): string =>
  ({
    nps: t('% promoters minus % detractors'),
    csat: t('Share of answers 4 and 5'),
    mean: t('Average of all answers'),
    positive: t('Share of thumbs up'),
  })[measure];

/** Lowest good and highest bad value of a scale (contract section 3). */
const THRESHOLDS: Partial<Record<Results['type'], { bad: number; good: number }>> = {
  nps: { bad: 6, good: 9 },
  csat: { bad: 2, good: 4 },
};

/** Classifies a value as good, neutral or bad, consistent with the score of its type. */
export function valueTone(type: Results['type'], value: unknown): Tone {
  if (type === 'thumbs') return value === true ? 'good' : 'bad';
  const thresholds = THRESHOLDS[type];
  if (!thresholds || typeof value !== 'number') return 'info';
  if (value >= thresholds.good) return 'good';
  return value <= thresholds.bad ? 'bad' : 'neutral';
}
