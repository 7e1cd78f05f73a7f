import { useEffect, useMemo, useRef } from 'react';
import { Button } from '../../components/button.tsx';
import { Ready } from '../../components/page.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { t } from '../../i18n.ts';
import type { Conversation } from './conversation-changes.ts';
import type { People } from './event-text.ts';
import { type Message, positionOf } from './message-pages.ts';
import { rowsOf } from './message-rows.ts';
import { MessageView, messageClass } from './message-view.tsx';
import styles from './messages.module.css';
import { useMessageWindow } from './use-message-window.ts';
import { useMessages } from './use-messages.ts';
import type { Seen } from './use-seen.ts';

/** Older messages are requested when this many are left above the rendered ones. */
const AHEAD = 20;

/** The number of messages that arrived at the end while the reader was elsewhere. */
function useUnseen(messages: readonly Message[], isAtEnd: boolean): number {
  const lastSeen = useRef(messages.at(-1)?.id);
  if (isAtEnd) lastSeen.current = messages.at(-1)?.id;
  const at = messages.findLastIndex(({ id }) => id === lastSeen.current);
  return at < 0 ? 0 : messages.length - 1 - at;
}

type Thread = ReturnType<typeof useMessages>;

interface ListProps {
  thread: Thread;
  messages: Message[];
  people: People;
  seen: Seen;
}

function MessageList({ thread, messages, people, seen }: ListProps) {
  const rows = useMemo(() => rowsOf(messages), [messages]);
  const list = useRef<HTMLOListElement>(null);
  const { shown, isAtEnd, onScroll, scrollToEnd } = useMessageWindow(
    list,
    rows.map(({ message }) => message.id),
  );
  const unseen = useUnseen(messages, isAtEnd);
  useEffect(() => {
    if (isAtEnd) seen.note(positionOf(messages));
  }, [isAtEnd, messages, seen.note]);
  const { hasOlder, older, fetchOlder } = thread;
  const needsOlder = hasOlder && !older.isPending && !older.error && shown.start < AHEAD;
  // biome-ignore lint/correctness/useExhaustiveDependencies: fetchOlder is new on each render
  useEffect(() => {
    if (needsOlder) void fetchOlder();
  }, [needsOlder, messages.length]);
  const news = unseen > 0 ? t('{count, plural, one {# new message} other {# new messages}}', { count: unseen }) : '';
  return (
    <div className={styles.frame}>
      {older.error && <ProblemNote problem={older.error} retry={() => void fetchOlder()} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable */}
      <ol ref={list} className={styles.messages} aria-label={t('Messages')} tabIndex={0} onScroll={onScroll}>
        <li aria-hidden="true" className={styles.space} style={{ height: shown.before }} />
        {rows.slice(shown.start, shown.end).map(row => (
          <li key={row.message.id} data-id={row.message.id} className={messageClass(row.message)}>
            <MessageView row={row} people={people} />
          </li>
        ))}
        <li aria-hidden="true" className={styles.space} style={{ height: shown.after }} />
      </ol>
      <p className="hidden-text" role="status">
        {news}
      </p>
      {news && (
        <div className={styles.news}>
          <Button small look="primary" onPress={scrollToEnd}>
            {news}
          </Button>
        </div>
      )}
    </div>
  );
}

interface MessagesProps {
  conversation: Conversation;
  people: People;
  /** Receives the position of the messages on the screen. */
  seen: Seen;
}

/** The messages of a conversation, oldest first, opened at the newest. */
export function Messages({ conversation, people, seen }: MessagesProps) {
  const thread = useMessages(conversation);
  return (
    <Ready query={thread}>
      {({ messages }) => <MessageList thread={thread} messages={messages} people={people} seen={seen} />}
    </Ready>
  );
}
