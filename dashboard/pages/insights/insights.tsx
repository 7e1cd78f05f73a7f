import { COMMENT_FILTERS, Comments } from '../../components/comments/comments.tsx';
import { Page, Panel } from '../../components/page.tsx';
import { t } from '../../i18n.ts';
import { useQueryState } from '../../query-state.ts';

/** The comments on all questions, with search and tags. */
export function Insights() {
  const [filters, change] = useQueryState(COMMENT_FILTERS);
  return (
    <Page title={t('Insights')} lead={t('Comments of your users on all questions.')}>
      <Panel>
        <Comments filters={filters} change={change} />
      </Panel>
    </Page>
  );
}
