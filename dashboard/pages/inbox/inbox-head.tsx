import type { RefObject } from 'react';
import { Button } from '../../components/button.tsx';
import fields from '../../components/fields/fields.module.css';
import { Filter } from '../../components/fields/fields.tsx';
import { Search } from '../../components/fields/search.tsx';
import { Icon } from '../../components/icon.tsx';
import { t } from '../../i18n.ts';
import { useSession } from '../../session.tsx';
import { type ConversationStatus, conversationStatus } from '../../words.ts';
import type { Filters } from './filters.ts';
import styles from './inbox.module.css';
import { useMembers } from './use-members.ts';

const STATUSES: ConversationStatus[] = ['open', 'pending', 'resolved'];

/** Filter options: all, own, unassigned, and the other members. */
function AssigneeOptions() {
  const { members } = useMembers();
  const { membership } = useSession();
  const others = members.filter(({ id }) => id !== membership.member_id);
  return (
    <>
      <option value="">{t('All assignees')}</option>
      <option value={membership.member_id}>{t('Assigned to me')}</option>
      <option value="none">{t('Unassigned')}</option>
      {others.map(({ id, name, email }) => (
        <option key={id} value={id}>
          {name || email}
        </option>
      ))}
    </>
  );
}

interface FiltersProps {
  filters: Filters;
  change(filters: Partial<Filters>): void;
  /** Value of the assignee filter, which includes the views. */
  assignee: string;
  chooseAssignee(assignee: string): void;
}

const FilterFields = ({ filters, change, assignee, chooseAssignee }: FiltersProps) => (
  <div className={styles.filters}>
    <Filter
      small
      label={t('Status')}
      value={filters.status}
      onChange={event => change({ status: event.target.value as Filters['status'] })}
    >
      <option value="any">{t('All statuses')}</option>
      {STATUSES.map(status => (
        <option key={status} value={status}>
          {conversationStatus(status)}
        </option>
      ))}
    </Filter>
    <Filter small label={t('Assignee')} value={assignee} onChange={event => chooseAssignee(event.target.value)}>
      <AssigneeOptions />
    </Filter>
    <input
      className={`${fields.input} ${fields.small}`}
      aria-label={t('Tag')}
      placeholder={t('Tag')}
      value={filters.tag}
      onChange={event => change({ tag: event.target.value })}
    />
    <label className={styles.check}>
      <input type="checkbox" checked={filters.unread} onChange={event => change({ unread: event.target.checked })} />
      {t('Unread only')}
    </label>
  </div>
);

interface HeadProps extends FiltersProps {
  search: RefObject<HTMLDivElement | null>;
  help(): void;
  /** Absent without write permission. */
  write: (() => void) | undefined;
}

/** Title, search and filters above the list. */
export const InboxHead = ({ search, help, write, ...props }: HeadProps) => (
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
    <div ref={search}>
      <Search label={t('Search conversations')} value={props.filters.q} change={text => props.change({ q: text })} />
    </div>
    <FilterFields {...props} />
  </div>
);
