import { Link } from 'wouter';
import { useList } from '../../api/hooks.ts';
import type { Identity } from '../../api/names.ts';
import { Badge } from '../../components/badge.tsx';
import { Filter } from '../../components/fields/fields.tsx';
import { Search } from '../../components/fields/search.tsx';
import { identityPath } from '../../components/identity-link.tsx';
import styles from '../../components/list-page.module.css';
import { Empty, Page, Ready } from '../../components/page.tsx';
import { More, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { formatNumber, t } from '../../i18n.ts';
import { useQueryState } from '../../query-state.ts';

const FILTERS = { q: '', verified: '' };

const columns = () => [
  {
    label: t('Person'),
    cell: ({ identity, verified }: Identity) => (
      <span className="row">
        <Link href={identityPath(identity, verified)} className={styles.name}>
          <bdi>{identity}</bdi>
        </Link>
        {!verified && <Badge plain>{t('unverified')}</Badge>}
      </span>
    ),
  },
  {
    label: t('Details'),
    cell: ({ attributes }: Identity) =>
      Object.keys(attributes).length > 0 && (
        <span className="small quiet wrap-anywhere">
          {Object.entries(attributes)
            .slice(0, 3)
            .map(([name, value]) => `${name}: ${value}`)
            .join(' · ')}
        </span>
      ),
  },
  { label: t('Answers'), right: true, cell: ({ answer_count }: Identity) => formatNumber(answer_count) },
  {
    label: t('Conversations'),
    right: true,
    cell: ({ conversation_count }: Identity) => formatNumber(conversation_count),
  },
  {
    label: t('Last seen'),
    cell: ({ last_seen_at }: Identity) => (last_seen_at ? <Time at={last_seen_at} /> : '–'),
  },
];

/** Your users: list and search. */
export function People() {
  const [{ q, verified }, change] = useQueryState(FILTERS);
  const query = { q: q.trim() || undefined, verified: verified === '' ? undefined : verified === 'true' };
  const list = useList('GET /v1/identities', { query });
  return (
    <Page title={t('People')} lead={t('The users of your apps, by ID.')}>
      <div className={styles.filters}>
        <Search label={t('ID starts with')} value={q} change={text => change({ q: text })} />
        <Filter label={t('Verification')} value={verified} onChange={event => change({ verified: event.target.value })}>
          <option value="">{t('All people')}</option>
          <option value="true">{t('Verified')}</option>
          <option value="false">{t('Unverified')}</option>
        </Filter>
      </div>
      <Ready query={list}>
        {() =>
          list.items.length > 0 || list.hasNextPage ? (
            <>
              <Table
                caption={t('People')}
                columns={columns()}
                rows={list.items}
                keyOf={({ identity, verified: isVerified }) => `${isVerified} ${identity}`}
              />
              <More list={list} />
            </>
          ) : q || verified ? (
            <Empty title={t('No matching people')}>{t('Try different filters.')}</Empty>
          ) : (
            <Empty title={t('No people yet')}>
              {t('Users appear here once they open your app or answer a question.')}
            </Empty>
          )
        }
      </Ready>
    </Page>
  );
}
