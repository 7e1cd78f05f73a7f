import { useState } from 'react';
import { useParams } from 'wouter';
import { useApi } from '../../api/hooks.ts';
import type { Results, Score } from '../../api/names.ts';
import type { Schemas } from '../../api/schema.ts';
import { Chart } from '../../components/chart/chart.tsx';
import { Filter } from '../../components/fields/fields.tsx';
import { type Figure, Figures } from '../../components/figure.tsx';
import { Empty, Panel, Ready } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { formatNumber, formatShare, formatTime, t } from '../../i18n.ts';
import { formatScore, measureHint, measureName, scoreText } from '../../score.ts';
import { Comments } from './comments.tsx';
import { Distribution } from './distribution.tsx';
import { QuestionFrame } from './frame.tsx';
import styles from './results.module.css';

/** Poll interval; unchanged results are answered with 304. */
const EVERY_MS = 2500;
const DAY_MS = 86_400_000;

/** Time ranges in days. */
const SPANS = { week: 7, month: 30, quarter: 90, year: 365, all: undefined } as const;
type Span = keyof typeof SPANS;

const spanName = (span: Span): string =>
  ({
    week: t('Last 7 days'),
    month: t('Last 30 days'),
    quarter: t('Last 90 days'),
    year: t('Last year'),
    all: t('All time'),
  })[span];

const queryOf = (span: Span, version: string) => {
  const days = SPANS[span];
  return {
    from: days === undefined ? undefined : new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10),
    group_by: days !== undefined && days <= 90 ? ('day' as const) : ('week' as const),
    version: version === '' ? undefined : Number(version),
  };
};

const intervalText = ({ measure, interval }: Score): string | undefined =>
  interval
    ? t('95% interval: {low} to {high}', {
        low: formatScore(measure, interval.low),
        high: formatScore(measure, interval.high),
      })
    : undefined;

const scoreFigure = (score: Score): Figure => ({
  label: measureName(score.measure),
  value: scoreText(score),
  hint: intervalText(score) ?? measureHint(score.measure),
});

const figuresOf = ({ score, answered, displays, response_rate, dismissed, written }: Results): Figure[] => [
  ...(score ? [scoreFigure(score)] : []),
  {
    label: t('Answers'),
    value: formatNumber(answered),
    hint: t('{count} with text', { count: formatNumber(written) }),
  },
  {
    label: t('Shown'),
    value: formatNumber(displays),
    hint: t('{count} dismissed', { count: formatNumber(dismissed) }),
  },
  {
    label: t('Response rate'),
    value: response_rate === null ? '–' : formatShare(response_rate, 1),
    hint: t('Answered out of shown'),
  },
];

const dayText = (start: string): string =>
  formatTime(`${start}T12:00:00Z`, { day: 'numeric', month: 'short', timeZone: 'UTC' });

function Trend({ results: { over_time, score, group_by } }: { results: Results }) {
  const where = group_by === 'day' ? t('Day') : t('Week of');
  const points = over_time.map(({ start }) => dayText(start));
  return (
    <>
      {score && (
        <Panel title={t('{measure} over time', { measure: measureName(score.measure) })}>
          <Chart
            kind="line"
            label={t('{measure} over time', { measure: measureName(score.measure) })}
            where={where}
            points={points}
            series={[
              {
                label: measureName(score.measure),
                tone: 'accent',
                values: over_time.map(bucket => bucket.score?.value ?? null),
              },
            ]}
            format={value => formatScore(score.measure, value)}
            {...(score.measure === 'nps' ? { min: -100, max: 100 } : {})}
          />
        </Panel>
      )}
      <Panel title={t('Answers over time')}>
        <Chart
          kind="bar"
          label={t('Shown and answered over time')}
          where={where}
          points={points}
          series={[
            { label: t('Shown'), tone: 'quiet', values: over_time.map(({ displays }) => displays) },
            { label: t('Answered'), tone: 'accent', values: over_time.map(({ answered }) => answered) },
          ]}
          format={formatNumber}
        />
      </Panel>
    </>
  );
}

const Versions = ({ versions }: { versions: Results['versions'] }) => (
  <Panel title={t('By version')}>
    <Table
      compact
      caption={t('By version')}
      rows={versions}
      keyOf={({ version }) => String(version)}
      columns={[
        { label: t('Version'), cell: ({ version }) => version },
        { label: t('Shown'), right: true, cell: ({ displays }) => formatNumber(displays) },
        { label: t('Answers'), right: true, cell: ({ answered }) => formatNumber(answered) },
        {
          label: t('Response rate'),
          right: true,
          cell: ({ response_rate }) => (response_rate === null ? '–' : formatShare(response_rate, 1)),
        },
        { label: t('Score'), right: true, cell: ({ score }) => scoreText(score) },
      ]}
    />
  </Panel>
);

const Numbers = ({ results }: { results: Results }) =>
  results.displays === 0 ? (
    <Empty title={t('No answers in this period')}>{t('New answers appear here automatically.')}</Empty>
  ) : (
    <>
      <Figures figures={figuresOf(results)} />
      <div className={styles.charts}>
        {results.values.length > 1 && <Distribution type={results.type} values={results.values} />}
        {results.over_time.length > 1 && <Trend results={results} />}
      </div>
      {results.versions.length > 1 && <Versions versions={results.versions} />}
    </>
  );

function Body({ question }: { question: Schemas['Question'] }) {
  const [span, setSpan] = useState<Span>('month');
  const [version, setVersion] = useState('');
  const results = useApi(
    'GET /v1/questions/{id}/results',
    { params: { id: question.id }, query: queryOf(span, version) },
    { everyMs: EVERY_MS },
  );
  const versions = Array.from({ length: question.version }, (_, at) => String(at + 1));
  return (
    <>
      <div className={styles.filters}>
        <Filter label={t('Time range')} value={span} onChange={event => setSpan(event.target.value as Span)}>
          {(Object.keys(SPANS) as Span[]).map(name => (
            <option key={name} value={name}>
              {spanName(name)}
            </option>
          ))}
        </Filter>
        {versions.length > 1 && (
          <Filter label={t('Version')} value={version} onChange={event => setVersion(event.target.value)}>
            <option value="">{t('All versions')}</option>
            {versions.map(number => (
              <option key={number} value={number}>
                {t('Version {version}', { version: number })}
              </option>
            ))}
          </Filter>
        )}
      </div>
      <Ready query={results}>{data => <Numbers results={data} />}</Ready>
      <Comments question={question} />
    </>
  );
}

/** Results of a question: score, response rate, charts and comments. */
export function QuestionResults() {
  const { id = '' } = useParams();
  const question = useApi('GET /v1/questions/{id}', { params: { id } });
  return (
    <QuestionFrame id={id} question={question.data}>
      <Ready query={question}>{read => <Body question={read} />}</Ready>
    </QuestionFrame>
  );
}
