import { Link } from 'wouter';
import { t } from '../../../i18n.ts';
import { pathTo } from '../../../paths.ts';
import { BUILT_IN, type SavedView, type View } from '../filters.ts';
import { countText, useCounts } from './use-views.ts';
import styles from './views.module.css';

const builtInNames = () => ({
  mine: t('Mine'),
  unassigned: t('Unassigned'),
  all: t('All'),
  mentions: t('Mentions'),
});

/** Links to the views, with the number of conversations in each. */
export function ViewsNav({ here, saved }: { here: View; saved: readonly SavedView[] }) {
  const counts = useCounts();
  const names = builtInNames();
  const views = [...BUILT_IN.map(id => ({ id, name: names[id] })), ...saved];
  return (
    <nav aria-label={t('Views')} className={styles.views}>
      {views.map(({ id, name }) => {
        const count = counts[id];
        return (
          <Link
            key={id}
            href={pathTo('inbox', { view: id })}
            className={styles.view}
            aria-current={id === here ? 'page' : undefined}
          >
            <bdi className={styles.name}>{name}</bdi>
            {count && <span className={styles.count}>{countText(count)}</span>}
          </Link>
        );
      })}
    </nav>
  );
}
