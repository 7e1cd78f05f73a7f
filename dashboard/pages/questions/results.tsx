import { useParams } from 'wouter';
import { useApi } from '../../api/hooks.ts';
import type { Results, Score } from '../../api/names.ts';
import type { Schemas } from '../../api/schema.ts';
import { COMMENT_FILTERS, Comments } from '../../components/comments/comments.tsx';
import { Filter } from '../../components/fields/fields.tsx';
import { type Figure, Figures } from '../../components/figure.tsx';
import { Empty, Panel, Ready } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { formatNumber, formatShare, t } from '../../i18n.ts';
import { pathTo } from '../../paths.ts';
import { useQueryState } from '../../query-state.ts';
import { formatScore, measureHint, measureName, scoreText } from '../../score.ts';
import { Distribution } from './distribution.tsx';
import { QuestionFrame } from './frame.tsx';
import styles from './results.module.css';
import { StepResults, stepTitle } from './step-results.tsx';
import { Trend } from './trend.tsx';

/** Poll interval; unchanged results are answered with 304. */
const EVERY_MS = 2500;
const DAY_MS = 86_400_000;

/** Time ranges in days. */
const SPANS = { week: 7, month: 30, quarter: 90, year: 365, all: undefined } as const;
type Span = keyof typeof SPANS;

const FILTERS = { span: 'month' as Span, version: '', step: '', ...COMMENT_FILTERS };

const spanName = (span: Span): string =>
  ({
    week: t('Last 7 days'),
    month: t('Last 30 days'),
    quarter: t('Last 90 days'),
    year: t('Last year'),
    all: t('All time'),
  })[span];

const queryOf = (span: Span, version: string, step = '') => {
  const days = SPANS[span];
  return {
    from: days === undefined ? undefined : new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10),
    group_by: days !== undefined && days <= 90 ? ('day' as const) : ('week' as const),
    version: /^\d+$/.test(version) ? Number(version) : undefined,
    step: step || undefined,
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

const figuresOf = ({ score, answered, displays, response_rate, dismissed, written, step }: Results): Figure[] => [
  ...(score ? [scoreFigure(score)] : []),
  {
    label: t('Answers'),
    value: formatNumber(answered),
    hint: t('{count} with text', { count: formatNumber(written) }),
  },
  {
    label: t('Shown'),
    value: formatNumber(displays),
    hint:
      step === 'main' ? t('{count} dismissed', { count: formatNumber(dismissed) }) : t('Answers that showed the step'),
  },
  {
    label: t('Response rate'),
    value: response_rate === null ? '–' : formatShare(response_rate, 1),
    hint: t('Answered out of shown'),
  },
];

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

interface NumbersProps {
  results: Results;
  /** Returns the path of the answers with a value of the selected step. */
  answersOf(value: string): string;
  select(step: string): void;
}

const Numbers = ({ results, answersOf, select }: NumbersProps) =>
  results.displays === 0 && results.step === 'main' ? (
    <Empty title={t('No answers in this period')}>{t('New answers appear here automatically.')}</Empty>
  ) : (
    <>
      {results.steps.length > 1 && <StepResults results={results} select={select} />}
      <Figures figures={figuresOf(results)} />
      <div className={styles.charts}>
        {results.values.length > 1 && (
          <Distribution
            type={results.type}
            values={results.values}
            answersOf={answersOf}
            {...(results.step === 'main' ? {} : { lead: stepTitle(results) })}
          />
        )}
        {results.over_time.length > 1 && <Trend results={results} />}
      </div>
      {results.versions.length > 1 && <Versions versions={results.versions} />}
    </>
  );

function Body({ question }: { question: Schemas['Question'] }) {
  const [filters, change] = useQueryState(FILTERS);
  const { version, step } = filters;
  const span = Object.hasOwn(SPANS, filters.span) ? (filters.span as Span) : FILTERS.span;
  const results = useApi(
    'GET /v1/questions/{id}/results',
    { params: { id: question.id }, query: queryOf(span, version, step) },
    { everyMs: EVERY_MS },
  );
  const answersOf = (value: string) => {
    const { from, version: asked } = queryOf(span, version);
    const wanted = {
      value,
      ...(step ? { step } : {}),
      ...(from ? { from } : {}),
      ...(asked ? { version: String(asked) } : {}),
    };
    return `${pathTo('questionAnswers', { id: question.id })}?${new URLSearchParams(wanted)}`;
  };
  const versions = Array.from({ length: question.version }, (_, at) => String(at + 1));
  return (
    <>
      <div className={styles.filters}>
        <Filter label={t('Time range')} value={span} onChange={event => change({ span: event.target.value as Span })}>
          {(Object.keys(SPANS) as Span[]).map(name => (
            <option key={name} value={name}>
              {spanName(name)}
            </option>
          ))}
        </Filter>
        {versions.length > 1 && (
          <Filter label={t('Version')} value={version} onChange={event => change({ version: event.target.value })}>
            <option value="">{t('All versions')}</option>
            {versions.map(number => (
              <option key={number} value={number}>
                {t('Version {version}', { version: number })}
              </option>
            ))}
          </Filter>
        )}
      </div>
      <Ready query={results}>
        {data => (
          <Numbers results={data} answersOf={answersOf} select={key => change({ step: key === 'main' ? '' : key })} />
        )}
      </Ready>
      <Panel title={t('Comments')}>
        <Comments questionId={question.id} filters={filters} change={change} />
      </Panel>
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
