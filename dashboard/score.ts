import type { Score } from './api/names.ts';
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
  ({ nps: t('NPS'), csat: t('Satisfied'), mean: t('Mean'), positive: t('Thumbs up') })[measure];

/** What a measure is, in a sentence. */
export const measureHint = (measure: Score['measure']): string =>
  ({
    nps: t('Share of 9 and 10 less share of 0 to 6'),
    csat: t('Share of 4 and 5'),
    mean: t('Mean of all answers'),
    positive: t('Share of thumbs up'),
  })[measure];
