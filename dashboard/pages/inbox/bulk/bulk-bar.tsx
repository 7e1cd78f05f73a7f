import { useQueryClient } from '@tanstack/react-query';
import type { QueryOf } from '../../../api/client.ts';
import { Button } from '../../../components/button.tsx';
import { Icon } from '../../../components/icon.tsx';
import { t } from '../../../i18n.ts';
import { useTenantId } from '../../../tenant.ts';
import type { Selection } from '../selection.ts';
import styles from './bulk.module.css';
import { BulkActions } from './bulk-actions.tsx';
import type { NamedChange } from './bulk-choices.ts';
import { BulkProgress } from './bulk-progress.tsx';
import { startBulk, useBulk } from './bulk-store.ts';

interface BulkBarProps {
  selection: Selection;
  /** Number of conversations in the list so far. */
  loaded: number;
  /** Whether the list has more conversations than are loaded. */
  hasMore: boolean;
  /** The query of the list, for all that match. */
  query: QueryOf<'GET /v1/conversations'>;
}

const countText = ({ selected, isAll }: Selection): string => {
  if (isAll) return t('All matching are selected');
  if (selected.size === 0) return t('Select all');
  return t('{count} selected', { count: selected.size });
};

/** Checkbox of everything that is loaded, with the number of selected conversations. */
const SelectLoaded = ({ selection, loaded }: { selection: Selection; loaded: number }) => (
  <label className={styles.select}>
    <input
      type="checkbox"
      aria-label={t('Select all in the list')}
      checked={selection.selected.size > 0 && selection.selected.size === loaded}
      ref={box => {
        if (box) box.indeterminate = selection.selected.size > 0 && selection.selected.size < loaded;
      }}
      onChange={event => (event.target.checked ? selection.selectLoaded() : selection.clear())}
    />
    <span role="status">{countText(selection)}</span>
  </label>
);

/** Bar above the list: the selection and its changes, or the progress of a change. */
export function BulkBar({ selection, loaded, hasMore, query }: BulkBarProps) {
  const tenantId = useTenantId();
  const queries = useQueryClient();
  const bulk = useBulk(tenantId);
  const { selected, isAll, clear } = selection;
  if (bulk) return <BulkProgress bulk={bulk} />;
  if (loaded === 0) return <span />; // keeps the place in the grid
  const act = ({ what, change }: NamedChange) => {
    const chosen = isAll && hasMore ? { query } : { ids: [...selected] };
    startBulk(queries, { chosen, change, what, tenantId });
    clear();
  };
  return (
    <section className={styles.bar} aria-label={t('Selection')}>
      <div className="spread">
        <SelectLoaded selection={selection} loaded={loaded} />
        {selected.size > 0 && (
          <span className="row">
            {hasMore && !isAll && (
              <Button small look="quiet" onPress={selection.selectMatching}>
                {t('Select all matching')}
              </Button>
            )}
            <Button icon small look="quiet" aria-label={t('Clear selection')} onPress={clear}>
              <Icon name="close" size={15} />
            </Button>
          </span>
        )}
      </div>
      {selected.size > 0 && <BulkActions isAll={isAll} act={act} />}
    </section>
  );
}
