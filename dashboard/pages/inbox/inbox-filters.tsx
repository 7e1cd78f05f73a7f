import { useId, useState } from 'react';
import { Button } from '../../components/button.tsx';
import fields from '../../components/fields/fields.module.css';
import { Filter } from '../../components/fields/fields.tsx';
import { MemberOptions } from '../../components/member-options.tsx';
import { t } from '../../i18n.ts';
import { useSession } from '../../session.tsx';
import { useMembers } from '../../use-members.ts';
import {
  CONVERSATION_STATUSES,
  conversationStatus,
  PRIORITIES,
  priorityName,
  SOURCES,
  sourceName,
} from '../../words.ts';
import { countFurther, type Filters, SORTS, type Sort } from './filters.ts';
import styles from './inbox.module.css';

/** Filter options: all, own, unassigned, and the other members. */
function AssigneeOptions() {
  const { assignable } = useMembers();
  const { membership } = useSession();
  const others = assignable.filter(({ id }) => id !== membership.member_id);
  return (
    <>
      <option value="">{t('All assignees')}</option>
      <option value={membership.member_id}>{t('Assigned to me')}</option>
      <option value="none">{t('Unassigned')}</option>
      <MemberOptions members={others} />
    </>
  );
}

const sortName = (sort: Sort): string =>
  ({
    '-last_activity_at': t('Latest activity first'),
    last_activity_at: t('Oldest activity first'),
    waiting_since: t('Waiting only, longest first'),
    reply_due_at: t('Due replies only, soonest first'),
    '-created_at': t('Newest first'),
    created_at: t('Oldest first'),
  })[sort];

/** The option of a filter that a view has set to several values, which no other option stands for. */
const SeveralOption = ({ value, nameOf }: { value: string; nameOf: (value: string) => string }) =>
  value.includes(',') && <option value={value}>{value.split(',').map(nameOf).join(', ')}</option>;

export interface FiltersProps {
  filters: Filters;
  change(filters: Partial<Filters>): void;
  /** Value of the assignee filter, which includes the views. */
  assignee: string;
  chooseAssignee(assignee: string): void;
}

type Quality = 'unread' | 'overdue' | 'mentioned';

function QualityFilters({ filters, change }: Pick<FiltersProps, 'filters' | 'change'>) {
  const qualities: [name: Quality, label: string][] = [
    ['unread', t('Unread only')],
    ['overdue', t('Overdue')],
    ['mentioned', t('Mentions me')],
  ];
  return qualities.map(([name, label]) => (
    <label key={name} className={styles.check}>
      <input
        type="checkbox"
        checked={filters[name] === 'true'}
        onChange={event => change({ [name]: event.target.checked ? 'true' : '' })}
      />
      {label}
    </label>
  ));
}

/** The filters that are used less often. */
const FurtherFilters = ({ filters, change }: Pick<FiltersProps, 'filters' | 'change'>) => (
  <>
    <Filter
      small
      label={t('Priority')}
      value={filters.priority}
      onChange={event => change({ priority: event.target.value })}
    >
      <option value="">{t('All priorities')}</option>
      <SeveralOption value={filters.priority} nameOf={name => priorityName(name as (typeof PRIORITIES)[number])} />
      {PRIORITIES.map(priority => (
        <option key={priority} value={priority}>
          {priorityName(priority)}
        </option>
      ))}
    </Filter>
    <Filter
      small
      label={t('Started by')}
      value={filters.source}
      onChange={event => change({ source: event.target.value })}
    >
      <option value="">{t('Started by anyone')}</option>
      <SeveralOption value={filters.source} nameOf={name => sourceName(name as (typeof SOURCES)[number])} />
      {SOURCES.map(source => (
        <option key={source} value={source}>
          {sourceName(source)}
        </option>
      ))}
    </Filter>
    <input
      className={`${fields.input} ${fields.small}`}
      aria-label={t('Tag')}
      placeholder={t('Tag')}
      value={filters.tag}
      onChange={event => change({ tag: event.target.value })}
    />
    <QualityFilters filters={filters} change={change} />
    {filters.identity && (
      <Button small onPress={() => change({ identity: '', verified: '' })}>
        {t('User {name}: show all', { name: filters.identity })}
      </Button>
    )}
  </>
);

/** Status, assignee and order of the list, and further filters that can be folded away. */
export function FilterFields({ filters, change, assignee, chooseAssignee }: FiltersProps) {
  const count = countFurther(filters);
  const [isOpen, setOpen] = useState(count > 0);
  const id = useId();
  return (
    <>
      <div className={styles.filters}>
        <Filter
          small
          label={t('Status')}
          value={filters.status}
          onChange={event => change({ status: event.target.value })}
        >
          <option value="any">{t('All statuses')}</option>
          <SeveralOption
            value={filters.status}
            nameOf={name => conversationStatus(name as (typeof CONVERSATION_STATUSES)[number])}
          />
          {CONVERSATION_STATUSES.map(status => (
            <option key={status} value={status}>
              {conversationStatus(status)}
            </option>
          ))}
        </Filter>
        <Filter small label={t('Assignee')} value={assignee} onChange={event => chooseAssignee(event.target.value)}>
          <AssigneeOptions />
        </Filter>
        <Filter
          small
          label={t('Order')}
          value={filters.sort}
          onChange={event => change({ sort: event.target.value as Sort })}
        >
          {SORTS.map(sort => (
            <option key={sort} value={sort}>
              {sortName(sort)}
            </option>
          ))}
        </Filter>
        <Button small aria-expanded={isOpen} aria-controls={id} onPress={() => setOpen(!isOpen)}>
          {count > 0 ? t('More filters ({count})', { count }) : t('More filters')}
        </Button>
      </div>
      <div id={id} className={styles.filters} hidden={!isOpen}>
        {isOpen && <FurtherFilters filters={filters} change={change} />}
      </div>
    </>
  );
}
