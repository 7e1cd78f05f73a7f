import type { Results } from '../../api/names.ts';
import type { Tone } from '../../components/badge.tsx';
import { Bars } from '../../components/chart/bars.tsx';
import { Chart } from '../../components/chart/chart.tsx';
import type { ChartTone, LegendEntry } from '../../components/chart/chart-props.ts';
import { Panel } from '../../components/page.tsx';
import { formatNumber, formatShare, t } from '../../i18n.ts';
import { valueTone } from '../../score.ts';
import { valueText } from '../../words.ts';

type Values = Results['values'];

const CHART_TONE: Partial<Record<Tone, ChartTone>> = { good: 'good', neutral: 'quiet', bad: 'bad' };

/** The three groups of an NPS. */
const NPS_GROUPS = (): { label: string; tone: ChartTone }[] => [
  { label: t('Detractors'), tone: 'bad' },
  { label: t('Passives'), tone: 'quiet' },
  { label: t('Promoters'), tone: 'good' },
];

/** The label of a value; `other` stands for free-text answers. */
const nameOf = ({ value, label }: Values[number]): string =>
  label ?? (value === 'other' ? t('Other') : valueText(value));

function npsLegend(values: Values, tones: ChartTone[]): LegendEntry[] {
  const shareOf = (tone: ChartTone) =>
    values.reduce((sum, { share }, at) => sum + (tones[at] === tone ? (share ?? 0) : 0), 0);
  return NPS_GROUPS().map(({ label, tone }) => ({ label: `${label} ${formatShare(shareOf(tone))}`, tone }));
}

function Scale({ type, values }: Pick<Results, 'type' | 'values'>) {
  const tones = values.map(({ value }) => CHART_TONE[valueTone(type, value)] ?? 'accent');
  return (
    <Chart
      kind="bar"
      label={t('Answers per value')}
      where={t('Value')}
      points={values.map(nameOf)}
      series={[{ label: t('Answers'), tone: 'accent', tones, values: values.map(({ count }) => count) }]}
      legend={type === 'nps' ? npsLegend(values, tones) : undefined}
      format={formatNumber}
    />
  );
}

const Shares = ({ values }: { values: Values }) => (
  <Bars
    caption={t('Answers per value')}
    where={t('Value')}
    bars={values.map(value => ({ label: nameOf(value), count: value.count, share: value.share }))}
  />
);

/** Distribution of answers: a column chart for scales, horizontal bars with long labels for options. */
export const Distribution = ({ type, values }: Pick<Results, 'type' | 'values'>) => (
  <Panel title={t('Distribution')}>
    {values.every(({ value }) => typeof value === 'number') ? (
      <Scale type={type} values={values} />
    ) : (
      <Shares values={values} />
    )}
  </Panel>
);
