import { Link } from 'wouter';
import { useList } from '../../api/hooks.ts';
import type { QuestionWithResults } from '../../api/names.ts';
import { Badge } from '../../components/badge.tsx';
import { ButtonLink } from '../../components/button.tsx';
import { Filter } from '../../components/fields/fields.tsx';
import { Search } from '../../components/fields/search.tsx';
import styles from '../../components/list-page.module.css';
import { Empty, Page, Ready } from '../../components/page.tsx';
import { More, Table } from '../../components/table.tsx';
import { formatNumber, formatShare, t } from '../../i18n.ts';
import { pathTo } from '../../paths.ts';
import { useQueryState } from '../../query-state.ts';
import { scoreText } from '../../score.ts';
import { useSession } from '../../session.tsx';
import { type QuestionStatus, STATUS_TONE, statusName, typeName } from '../../words.ts';

const STATUSES: QuestionStatus[] = ['draft', 'scheduled', 'live', 'paused', 'closed', 'archived'];

const FILTERS = { status: '' as QuestionStatus | '', q: '' };

/** Poll interval of the results. */
const EVERY_MS = 5000;

const Name = ({ question }: { question: QuestionWithResults }) => (
  <>
    <Link
      href={pathTo(question.status === 'draft' ? 'question' : 'questionResults', { id: question.id })}
      className={styles.name}
      dir="auto"
    >
      {question.name}
    </Link>
    <p className="small quiet">
      {[typeName(question.type), question.version > 1 && t('Version {version}', { version: question.version })]
        .filter(Boolean)
        .join(' · ')}
    </p>
  </>
);

const columns = () => [
  { label: t('Question'), cell: (question: QuestionWithResults) => <Name question={question} /> },
  {
    label: t('Status'),
    cell: ({ status }: QuestionWithResults) => <Badge tone={STATUS_TONE[status]}>{statusName(status)}</Badge>,
  },
];

const numbers = () => [
  {
    label: t('Answers'),
    right: true,
    cell: ({ results }: QuestionWithResults) => (results ? formatNumber(results.answered) : '–'),
  },
  {
    label: t('Last 7 days'),
    right: true,
    cell: ({ results }: QuestionWithResults) => (results ? formatNumber(results.answered_7_days) : '–'),
  },
  {
    label: t('Response rate'),
    right: true,
    cell: ({ results }: QuestionWithResults) =>
      results?.response_rate != null ? formatShare(results.response_rate) : '–',
  },
  {
    label: t('Score'),
    right: true,
    cell: ({ results }: QuestionWithResults) => scoreText(results?.score ?? null),
  },
];

/** List of questions with live results. */
export function Questions() {
  const [{ status, q }, change] = useQueryState(FILTERS);
  const list = useList(
    'GET /v1/questions',
    { query: { include: 'results', status: status || undefined, q: q.trim() || undefined } },
    { everyMs: EVERY_MS },
  );
  const { may } = useSession();
  const create = may('questions:write') && (
    <ButtonLink look="primary" href={pathTo('newQuestion')}>
      {t('New question')}
    </ButtonLink>
  );
  const isFiltered = status !== '' || q.trim() !== '';
  return (
    <Page title={t('Questions')} lead={t('The questions you ask your users, and their results.')} actions={create}>
      <div className={styles.filters}>
        <Search label={t('Search by name or title')} value={q} change={text => change({ q: text })} />
        <Filter
          label={t('Status')}
          value={status}
          onChange={event => change({ status: event.target.value as QuestionStatus | '' })}
        >
          <option value="">{t('All statuses')}</option>
          {STATUSES.map(value => (
            <option key={value} value={value}>
              {statusName(value)}
            </option>
          ))}
        </Filter>
      </div>
      <Ready query={list}>
        {() =>
          list.items.length > 0 || list.hasNextPage ? (
            <>
              <Table
                caption={t('Questions')}
                columns={[...columns(), ...numbers()]}
                rows={list.items}
                keyOf={({ id }) => id}
              />
              <More list={list} />
            </>
          ) : isFiltered ? (
            <Empty title={t('No matching questions')}>{t('Try a different search or status.')}</Empty>
          ) : (
            <Empty title={t('No questions yet')} action={create}>
              {t('Published questions appear as cards in your app.')}
            </Empty>
          )
        }
      </Ready>
    </Page>
  );
}
