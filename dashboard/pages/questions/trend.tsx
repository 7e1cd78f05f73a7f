import { useList } from '../../api/hooks.ts';
import type { Results, Score } from '../../api/names.ts';
import { Chart } from '../../components/chart/chart.tsx';
import type { Mark } from '../../components/chart/chart-props.ts';
import { Panel } from '../../components/page.tsx';
import { formatNumber, formatTime, t } from '../../i18n.ts';
import { formatScore, measureName } from '../../score.ts';
import { marksOf } from './marks.ts';

/** Periods with fewer answers are drawn faint: their score says little. */
const FEW_ANSWERS = 5;

const dayText = (start: string): string =>
  formatTime(`${start}T12:00:00Z`, { day: 'numeric', month: 'short', timeZone: 'UTC' });

interface TrendProps {
  results: Results;
  where: string;
  points: string[];
  marks: Mark[];
}

const ScoreTrend = ({ results: { over_time }, score, where, points, marks }: TrendProps & { score: Score }) => {
  const label = t('{measure} over time', { measure: measureName(score.measure) });
  return (
    <Panel title={label} lead={t('The band is the 95% interval. Periods with few answers are faint.')}>
      <Chart
        kind="line"
        label={label}
        where={where}
        points={points}
        marks={marks}
        series={[
          {
            label: measureName(score.measure),
            tone: 'accent',
            values: over_time.map(bucket => bucket.score?.value ?? null),
            band: over_time.map(bucket => bucket.score?.interval ?? null),
            faint: over_time.map(({ answered }) => answered < FEW_ANSWERS),
          },
        ]}
        format={value => formatScore(score.measure, value)}
        {...(score.measure === 'nps' ? { min: -100, max: 100 } : {})}
      />
    </Panel>
  );
};

const Counts = ({ results: { over_time }, where, points, marks }: TrendProps) => (
  <Panel title={t('Answers over time')}>
    <Chart
      kind="bar"
      label={t('Shown and answered over time')}
      where={where}
      points={points}
      marks={marks}
      series={[
        { label: t('Shown'), tone: 'quiet', values: over_time.map(({ displays }) => displays) },
        { label: t('Answered'), tone: 'accent', values: over_time.map(({ answered }) => answered) },
      ]}
      format={formatNumber}
    />
  </Panel>
);

/** Score and counts over time, with marks where a version began. */
export function Trend({ results }: { results: Results }) {
  const { over_time, score, group_by, question_id } = results;
  const versions = useList('GET /v1/questions/{id}/versions', { params: { id: question_id } });
  const starts = over_time.map(({ start }) => start);
  const marks = marksOf(starts, versions.items).map(({ at, version }) => ({
    at,
    label: t('Version {version}', { version }),
  }));
  const part = {
    results,
    where: group_by === 'day' ? t('Day') : t('Week of'),
    points: starts.map(dayText),
    marks,
  };
  return (
    <>
      {score && <ScoreTrend {...part} score={score} />}
      <Counts {...part} />
    </>
  );
}
