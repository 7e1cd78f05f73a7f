import { memo, useEffect, useRef } from 'react';
import { GridList, GridListItem, GridListLoadMoreItem, ListLayout, Virtualizer } from 'react-aria-components';
import type { Schemas } from '../../api/schema.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import type { MoreProps } from '../../components/table.tsx';
import { formatDuration, formatRelative, t } from '../../i18n.ts';
import { type Priority, priorityName } from '../../words.ts';
import type { NameOf } from './event-text.ts';
import styles from './inbox.module.css';
import { useMembers } from './use-members.ts';

type Conversation = Schemas['Conversation'];

/** Fixed row height, so that the virtual list measures no rows. */
const LAYOUT = { rowHeight: 88 };

/** Priorities that are shown as a badge. */
const PRESSING: Partial<Record<Priority, Tone>> = { high: 'warn', urgent: 'bad' };

/** Assignee, waiting time, priority and tags of a conversation. */
function Details({ conversation, nameOf }: { conversation: Conversation; nameOf: NameOf }) {
  const { assignee_id, waiting_since, tags = [], priority = 'none' } = conversation;
  const pressing = PRESSING[priority];
  return (
    <span className={styles.details}>
      {waiting_since && (
        <span className={styles.waiting}>{t('Waiting {time}', { time: formatDuration(waiting_since) })}</span>
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

interface RowProps {
  conversation: Conversation;
  isHere: boolean;
  nameOf: NameOf;
}

/** Unchanged rows are not rendered again by a poll. */
const Row = memo(({ conversation, isHere, nameOf }: RowProps) => {
  const { identity, subject, last_message, unread_count, last_activity_at } = conversation;
  const classes = [styles.row, isHere && styles.here, unread_count > 0 && styles.unread];
  return (
    <div className={classes.filter(Boolean).join(' ')}>
      <span className={styles.dot} />
      <span className={styles.who}>
        <bdi>{identity}</bdi>
        {unread_count > 0 && <span className="hidden-text"> {t('{count} unread', { count: unread_count })}</span>}
      </span>
      <time className={styles.when} dateTime={last_activity_at}>
        {formatRelative(last_activity_at)}
      </time>
      <span className={styles.preview} dir="auto">
        {subject && <span className={styles.subject}>{subject}</span>}
        {last_message.preview}
      </span>
      <Details conversation={conversation} nameOf={nameOf} />
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
}

/** Virtualized list of conversations that loads further pages on scroll. */
export function InboxList({ items, here, open, list }: InboxListProps) {
  const grid = useRowInView(items, here);
  const { nameOf } = useMembers();
  return (
    <Virtualizer layout={ListLayout} layoutOptions={LAYOUT}>
      <GridList ref={grid} className={styles.list} aria-label={t('Conversations')} onAction={key => open(String(key))}>
        {items.map(conversation => (
          <GridListItem key={conversation.id} id={conversation.id} textValue={conversation.identity}>
            <Row conversation={conversation} isHere={conversation.id === here} nameOf={nameOf} />
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
