import { type KeyboardEvent, memo, type SyntheticEvent, useEffect, useRef } from 'react';
import { GridList, GridListItem, GridListLoadMoreItem, ListLayout, Virtualizer } from 'react-aria-components';
import type { Schemas } from '../../api/schema.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import type { MoreProps } from '../../components/table.tsx';
import { formatDuration, formatRelative, formatTime, t } from '../../i18n.ts';
import { useMembers } from '../../use-members.ts';
import { type Priority, priorityName } from '../../words.ts';
import type { NameOf } from './event-text.ts';
import styles from './inbox.module.css';
import type { Selection } from './selection.ts';
import { useMinute } from './use-minute.ts';

type Conversation = Schemas['Conversation'];

/** Fixed row height, so that the virtual list measures no rows. */
const LAYOUT = { rowHeight: 88 };

const SNOOZE_END = { weekday: 'short', day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' } as const;

/** Priorities that are shown as a badge. */
const PRESSING: Partial<Record<Priority, Tone>> = { high: 'warn', urgent: 'bad' };

/** Assignee, waiting time or end of the snooze, priority and tags of a conversation. */
function Details({ conversation, nameOf, now }: Pick<RowProps, 'conversation' | 'nameOf' | 'now'>) {
  const { assignee_id, waiting_since, snoozed_until, tags = [], priority = 'none' } = conversation;
  const pressing = PRESSING[priority];
  return (
    <span className={styles.details}>
      {snoozed_until && <span>{t('Until {time}', { time: formatTime(snoozed_until, SNOOZE_END) })}</span>}
      {waiting_since && (
        <span className={styles.waiting}>{t('Waiting {time}', { time: formatDuration(waiting_since, now) })}</span>
      )}
      <span>{assignee_id ? nameOf(assignee_id) : t('Unassigned')}</span>
      <span className={styles.tags} dir="auto">
        {tags.map(tag => `#${tag}`).join(' ')}
      </span>
      {pressing && (
        <Badge plain tone={pressing}>
          {priorityName(priority)}
        </Badge>
      )}
    </span>
  );
}

/** Keeps an event from the row, which would open the conversation. */
const keep = (event: SyntheticEvent) => event.stopPropagation();

/** Space selects; the arrow keys still move between the rows. */
const keepSpace = (event: KeyboardEvent) => event.key === ' ' && event.stopPropagation();

interface PickProps {
  conversation: Conversation;
  isSelected: boolean;
  toggle(id: string, isRange: boolean): void;
}

/** Checkbox of a row. With Shift, it selects everything from the last one to it. */
const Pick = ({ conversation: { id, identity }, isSelected, toggle }: PickProps) => (
  // biome-ignore lint/a11y/noStaticElementInteractions: only keeps events from the row
  <span className={styles.pick} onPointerDown={keep} onMouseDown={keep} onKeyDown={keepSpace} onKeyUp={keepSpace}>
    {/* biome-ignore lint/a11y/useKeyWithClickEvents: only keeps clicks from the row */}
    <label onClick={keep}>
      <input
        type="checkbox"
        aria-label={t('Select conversation with {name}', { name: identity })}
        checked={isSelected}
        onChange={event => toggle(id, (event.nativeEvent as MouseEvent).shiftKey)}
      />
    </label>
  </span>
);

/** When the reply is due, or that it is overdue. */
function Due({ at, now }: { at: string; now: number }) {
  if (new Date(at).getTime() <= now)
    return (
      <Badge plain tone="bad">
        {t('Overdue')}
      </Badge>
    );
  return <span className={styles.waiting}>{t('Due {time}', { time: formatRelative(at, now) })}</span>;
}

interface RowProps {
  conversation: Conversation;
  isHere: boolean;
  isSelected: boolean;
  nameOf: NameOf;
  /** Present time, to the minute. */
  now: number;
  /** Absent without write permission. */
  toggle: Selection['toggle'] | undefined;
}

/** Unchanged rows are not rendered again by a poll. */
const Row = memo(({ conversation, isHere, isSelected, nameOf, now, toggle }: RowProps) => {
  const { identity, subject, last_message, unread_count, last_activity_at, reply_due_at } = conversation;
  const classes = [
    styles.row,
    toggle && styles.pickable,
    isHere && styles.here,
    isSelected && styles.selected,
    unread_count > 0 && styles.unread,
  ];
  return (
    <div className={classes.filter(Boolean).join(' ')}>
      {toggle && <Pick conversation={conversation} isSelected={isSelected} toggle={toggle} />}
      <span className={styles.dot} />
      <span className={styles.who}>
        <bdi>{identity}</bdi>
        {unread_count > 0 && <span className="hidden-text">{` ${t('{count} unread', { count: unread_count })}`}</span>}
      </span>
      <span className={styles.when}>
        {reply_due_at && <Due at={reply_due_at} now={now} />}
        <time dateTime={last_activity_at}>{formatRelative(last_activity_at, now)}</time>
      </span>
      <span className={styles.preview} dir="auto">
        {subject && <span className={styles.subject}>{subject}</span>}
        <span>{last_message.preview}</span>
      </span>
      <Details conversation={conversation} nameOf={nameOf} now={now} />
    </div>
  );
});

/** Keeps the row of the open conversation in view when it is selected with the keyboard. */
function useRowInView(items: Conversation[], here: string | undefined) {
  const grid = useRef<HTMLDivElement>(null);
  const at = items.findIndex(({ id }) => id === here);
  // biome-ignore lint/correctness/useExhaustiveDependencies: must not scroll when new activity moves the row
  useEffect(() => {
    const element = grid.current;
    if (!element || at < 0) return;
    const top = at * LAYOUT.rowHeight;
    const lowest = top + LAYOUT.rowHeight - element.clientHeight;
    element.scrollTop = Math.max(lowest, Math.min(top, element.scrollTop));
  }, [here, at < 0]);
  return grid;
}

interface InboxListProps {
  items: Conversation[];
  here: string | undefined;
  open(id: string): void;
  list: MoreProps['list'];
  selected: ReadonlySet<string>;
  toggle: Selection['toggle'] | undefined;
}

/** Virtualized list of conversations that loads further pages on scroll. */
export function InboxList({ items, here, open, list, selected, toggle }: InboxListProps) {
  const grid = useRowInView(items, here);
  const { nameOf } = useMembers();
  const now = useMinute();
  return (
    <Virtualizer layout={ListLayout} layoutOptions={LAYOUT}>
      <GridList
        ref={grid}
        className={styles.list}
        aria-label={t('Conversations')}
        disallowTypeAhead // letters are shortcuts
        onAction={key => open(String(key))}
      >
        {items.map(conversation => (
          <GridListItem key={conversation.id} id={conversation.id} textValue={conversation.identity}>
            <Row
              conversation={conversation}
              isHere={conversation.id === here}
              isSelected={selected.has(conversation.id)}
              nameOf={nameOf}
              now={now}
              toggle={toggle}
            />
          </GridListItem>
        ))}
        <GridListLoadMoreItem
          isLoading={list.isFetchingNextPage}
          onLoadMore={() => list.hasNextPage && !list.isFetchingNextPage && void list.fetchNextPage()}
        >
          <p className="small quiet">{t('Loading…')}</p>
        </GridListLoadMoreItem>
      </GridList>
    </Virtualizer>
  );
}
