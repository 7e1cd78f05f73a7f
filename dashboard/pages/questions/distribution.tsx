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

function Scale({ type, values, hrefs }: Pick<Results, 'type' | 'values'> & { hrefs?: string[] }) {
  const tones = values.map(({ value }) => CHART_TONE[valueTone(type, value)] ?? 'accent');
  return (
    <Chart
      kind="bar"
      label={t('Answers per value')}
      where={t('Value')}
      points={values.map(nameOf)}
      series={[{ label: t('Answers'), tone: 'accent', tones, values: values.map(({ count }) => count) }]}
      legend={type === 'nps' ? npsLegend(values, tones) : undefined}
      hrefs={hrefs}
      format={formatNumber}
    />
  );
}

const Shares = ({ values, hrefs }: { values: Values; hrefs?: string[] }) => (
  <Bars
    caption={t('Answers per value')}
    where={t('Value')}
    bars={values.map((value, at) => ({
      label: nameOf(value),
      count: value.count,
      share: value.share,
      href: hrefs?.[at],
    }))}
  />
);

interface DistributionProps extends Pick<Results, 'type' | 'values'> {
  title?: string;
  lead?: string;
  /** Returns the path of the list of answers with this value. */
  answersOf?(value: string): string;
}

/** Distribution of answers: a column chart for scales, horizontal bars with long labels for options. */
export function Distribution({ type, values, title, lead, answersOf }: DistributionProps) {
  const hrefs = answersOf && values.map(({ value }) => answersOf(String(value)));
  return (
    <Panel title={title ?? t('Distribution')} lead={lead ?? t('Select a value to see the answers.')}>
      {values.every(({ value }) => typeof value === 'number') ? (
        <Scale type={type} values={values} hrefs={hrefs} />
      ) : (
        <Shares values={values} hrefs={hrefs} />
      )}
    </Panel>
  );
}
