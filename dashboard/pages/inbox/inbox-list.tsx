import { useEffect, useRef } from 'react';
import { GridList, GridListItem, GridListLoadMoreItem, ListLayout, Virtualizer } from 'react-aria-components';
import type { Schemas } from '../../api/schema.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import type { MoreProps } from '../../components/table.tsx';
import { formatRelative, t } from '../../i18n.ts';
import { type Priority, priorityName } from '../../words.ts';
import styles from './inbox.module.css';

type Conversation = Schemas['Conversation'];

/** Fixed row height, so that the virtual list measures no rows. */
const LAYOUT = { rowHeight: 68 };

/** Priorities that are shown as a badge. */
const PRESSING: Partial<Record<Priority, Tone>> = { high: 'warn', urgent: 'bad' };

const Row = ({ conversation, isHere }: { conversation: Conversation; isHere: boolean }) => {
  const { identity, subject, last_message, unread_count, last_activity_at, priority = 'none' } = conversation;
  const pressing = PRESSING[priority];
  const classes = [styles.row, isHere && styles.here, unread_count > 0 && styles.unread];
  return (
    <div className={classes.filter(Boolean).join(' ')}>
      <span className={styles.dot} />
      <span className={styles.who}>
        {identity}
        {unread_count > 0 && <span className="hidden-text"> {t('{count} unread', { count: unread_count })}</span>}
      </span>
      <time className={styles.when} dateTime={last_activity_at}>
        {formatRelative(last_activity_at)}
      </time>
      <span className={styles.preview}>
        {subject && <span className={styles.subject}>{subject}</span>}
        {last_message.preview}
      </span>
      {pressing && (
        <Badge plain tone={pressing}>
          {priorityName(priority)}
        </Badge>
      )}
    </div>
  );
};

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
  return (
    <Virtualizer layout={ListLayout} layoutOptions={LAYOUT}>
      <GridList ref={grid} className={styles.list} aria-label={t('Conversations')} onAction={key => open(String(key))}>
        {items.map(conversation => (
          <GridListItem key={conversation.id} id={conversation.id} textValue={conversation.identity}>
            <Row conversation={conversation} isHere={conversation.id === here} />
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
