import { Link } from 'wouter';
import { useApi } from '../../api/hooks.ts';
import type { QuestionWithResults } from '../../api/names.ts';
import { Empty, Panel, Ready } from '../../components/page.tsx';
import { t } from '../../i18n.ts';
import { pathTo } from '../../paths.ts';
import { changeText, measureName, scoreText } from '../../score.ts';
import styles from './home.module.css';

const EVERY_MS = 30_000;
const SHOWN = 5;
const DAY_MS = 86_400_000;
/** Length of the compared periods. */
const DAYS = 30;

const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

function QuestionScore({ question: { id, name, results } }: { question: QuestionWithResults }) {
  const params = { id };
  const now = useApi(
    'GET /v1/questions/{id}/results',
    { params, query: { from: daysAgo(DAYS - 1), group_by: 'month' } },
    { everyMs: EVERY_MS },
  );
  const before = useApi('GET /v1/questions/{id}/results', {
    params,
    query: { from: daysAgo(2 * DAYS - 1), to: daysAgo(DAYS), group_by: 'month' },
  });
  const score = now.data?.score ?? null;
  const change = changeText(score, before.data?.score ?? null);
  return (
    <li>
      <span className={styles.spread}>
        <Link href={pathTo('questionResults', { id })} className={styles.one}>
          <bdi>{name}</bdi>
        </Link>
        <span className={styles.score}>{scoreText(score)}</span>
      </span>
      <span className={`small quiet ${styles.details}`}>
        <span>
          {score && <span>{`${measureName(score.measure)} · `}</span>}
          <span>
            {t('{count, plural, one {# answer} other {# answers}} in 7 days', { count: results?.answered_7_days ?? 0 })}
          </span>
        </span>
        {change && <span>{t('{change} compared with the previous 30 days', { change })}</span>}
      </span>
    </li>
  );
}

/** Scores of the live questions in the last 30 days, with the change since the 30 days before. */
export function Scores() {
  const query = useApi(
    'GET /v1/questions',
    { query: { status: 'live', include: 'results', limit: SHOWN } },
    { everyMs: EVERY_MS },
  );
  return (
    <Panel title={t('Scores')} lead={t('Live questions, last 30 days')}>
      <Ready query={query} lines={2}>
        {({ data }) =>
          data.length > 0 ? (
            <ul className={styles.rows}>
              {data.map(question => (
                <QuestionScore key={question.id} question={question} />
              ))}
            </ul>
          ) : (
            <Empty title={t('No live questions')}>{t('Published questions appear as cards in your app.')}</Empty>
          )
        }
      </Ready>
    </Panel>
  );
}
