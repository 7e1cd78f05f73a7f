import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { useAct, useApi } from '../../api/hooks.ts';
import { Loading, Ready } from '../../components/page.tsx';
import { t } from '../../i18n.ts';
import { useSession } from '../../session.tsx';
import { useShortcuts } from '../../shortcuts.ts';
import { Composer, type ComposerHandle } from './composer.tsx';
import type { Conversation } from './conversation-changes.ts';
import styles from './inbox.module.css';
import { MergedNote } from './merged-note.tsx';
import { Messages } from './messages.tsx';
import { type Neighbours, ThreadHead } from './thread-head.tsx';
import { usePeople } from './use-people.ts';
import { useSeen } from './use-seen.ts';

const EVERY_MS = 2500;

/** Marks the conversation as read up to the last message while the page is visible. */
function useReadHorizon(conversation: Conversation | undefined): void {
  const { may } = useSession();
  const { mutate } = useAct('PUT /v1/conversations/{id}/read', {
    wrote(cache, _, { params: { id } }) {
      const asRead = (known: Conversation) => ({ ...known, unread_count: 0 });
      cache.change('GET /v1/conversations/{id}', { params: { id } }, asRead);
      cache.changeItem('GET /v1/conversations', id, asRead);
      return true;
    },
  });
  const seq = conversation && conversation.unread_count > 0 ? conversation.last_message.seq : 0;
  const id = conversation?.id ?? '';
  const mayWrite = may('conversations:write');
  useEffect(() => {
    if (seq === 0 || !mayWrite) return;
    const mark = () => {
      if (document.visibilityState === 'visible') mutate({ params: { id }, body: { seq } });
    };
    mark();
    addEventListener('visibilitychange', mark);
    return () => removeEventListener('visibilitychange', mark);
  }, [seq, id, mayWrite, mutate]);
}

interface ThreadProps {
  id: string;
  /** The conversation in the list, shown until the response arrives. */
  listed: Conversation | undefined;
  neighbours: Neighbours;
}

/** One conversation: messages and composer. */
export function Thread({ id, listed, neighbours }: ThreadProps) {
  const query = useApi('GET /v1/conversations/{id}', { params: { id } }, { everyMs: EVERY_MS });
  const { may } = useSession();
  const composer = useRef<ComposerHandle>(null);
  useReadHorizon(query.data);
  useShortcuts({ r: () => composer.current?.write('reply'), n: () => composer.current?.write('note') });
  const [, go] = useLocation();
  const seen = useSeen();
  const people = usePeople((query.data ?? listed)?.identity ?? '');
  const conversation = query.data ?? (query.error ? undefined : listed);
  if (!conversation) {
    return <div className={styles.side}>{query.error ? <Ready query={query}>{() => null}</Ready> : <Loading />}</div>;
  }
  return (
    <section className={styles.thread} aria-label={t('Conversation')}>
      <ThreadHead stored={conversation} neighbours={neighbours} people={people} />
      <Messages conversation={conversation} people={people} seen={seen} />
      {conversation.merged_into_id ? (
        <MergedNote into={neighbours.addressOf(conversation.merged_into_id)} />
      ) : (
        may('conversations:write') && (
          <Composer
            ref={composer}
            {...{ conversation, people, seen }}
            setAside={() => location.pathname.endsWith(`/${id}`) && go(neighbours.next)}
          />
        )
      )}
    </section>
  );
}
