import type { ReactNode, RefObject } from 'react';
import { Button } from '../../components/button.tsx';
import { Search } from '../../components/fields/search.tsx';
import { Icon } from '../../components/icon.tsx';
import { t } from '../../i18n.ts';
import styles from './inbox.module.css';
import { FilterFields, type FiltersProps } from './inbox-filters.tsx';

interface HeadProps extends FiltersProps {
  search: RefObject<HTMLDivElement | null>;
  help(): void;
  /** Absent without write permission. */
  write: (() => void) | undefined;
  /** Links to the views, above the search. */
  views: ReactNode;
  /** Actions on the filters, below them. */
  actions: ReactNode;
}

/** Title, views, search and filters above the list. */
export const InboxHead = ({ search, help, write, views, actions, ...props }: HeadProps) => (
  <div className={styles.head}>
    <div className="spread">
      <span className={styles.title} aria-hidden="true">
        {t('Inbox')}
      </span>
      <span className="row">
        <Button icon small look="quiet" aria-label={t('Keyboard shortcuts')} onPress={help}>
          <Icon name="keys" />
        </Button>
        {write && (
          <Button small onPress={write}>
            <Icon name="plus" size={15} /> {t('New message')}
          </Button>
        )}
      </span>
    </div>
    {views}
    <div ref={search}>
      <Search label={t('Search conversations')} value={props.filters.q} change={text => props.change({ q: text })} />
    </div>
    <FilterFields {...props} />
    {actions}
  </div>
);
