import { Link } from 'wouter';
import { useAct } from '../../api/hooks.ts';
import { ConfirmButton } from '../../components/dialog.tsx';
import { Time } from '../../components/time.tsx';
import { t } from '../../i18n.ts';
import { pathTo } from '../../paths.ts';
import { useSession } from '../../session.tsx';
import { conversationStatus } from '../../words.ts';
import { authorText, eventText, type People } from './event-text.ts';
import { LinkedText } from './linked-text.tsx';
import { addMessage, type Message } from './message-pages.ts';
import type { MessageRow } from './message-rows.ts';
import styles from './messages.module.css';
import { useMessageCache } from './use-messages.ts';

/** How long authors may remove their messages (contract section 5). */
const REDACTABLE_MS = 15 * 60_000;

function Redact({ message }: { message: Message }) {
  const changeMessages = useMessageCache();
  const redact = useAct('DELETE /v1/conversations/{id}/messages/{message_id}', {
    wrote() {
      const redacted = { ...message, body: '', redacted: true };
      changeMessages(message.conversation_id, known => addMessage(known, redacted));
      return true;
    },
  });
  return (
    <ConfirmButton
      small
      label={t('Remove')}
      title={t('Remove this message?')}
      confirmLabel={t('Remove message')}
      act={() => redact.mutateAsync({ params: { id: message.conversation_id, message_id: message.id } })}
    >
      {t('The message’s text is removed for everyone.')}
    </ConfirmButton>
  );
}

/** The conversation into which this one was merged by an event. */
const mergedInto = ({ event }: Message): string | undefined =>
  event?.field === 'merged_into_id' && typeof event.to === 'string' ? event.to : undefined;

function Event({ message, people }: { message: Message; people: People }) {
  const into = mergedInto(message);
  return (
    <span className={styles.event}>
      <span dir="auto">{eventText(message, people)}</span>
      {into && (
        <>
          {' · '}
          <Link href={pathTo('conversation', { id: into })}>{t('Open it')}</Link>
        </>
      )}
      <span>{' · '}</span>
      <Time at={message.created_at} />
    </span>
  );
}

interface RowProps {
  row: MessageRow;
  people: People;
}

function Bubble({ row: { message, status }, people }: RowProps) {
  const { membership } = useSession();
  const isMine = message.author.id === membership.member_id;
  const isFresh = Date.now() - new Date(message.created_at).getTime() < REDACTABLE_MS;
  return (
    <>
      <div className={styles.bubble} dir="auto">
        {message.redacted ? (
          <em className="quiet">{t('This message was removed.')}</em>
        ) : (
          <LinkedText text={message.body} />
        )}
      </div>
      <div className={styles.meta}>
        {message.kind === 'note' && <strong>{t('Note')}</strong>}
        <span dir="auto">{authorText(message, people)}</span>
        <Time at={message.created_at} />
        {message.edited_at && !message.redacted && <span>{t('edited')}</span>}
        {status && <span>{t('Now: {status}', { status: conversationStatus(status) })}</span>}
        {isMine && isFresh && !message.redacted && <Redact message={message} />}
      </div>
    </>
  );
}

/** Class names of a message's list item. */
export function messageClass({ kind, author }: Message): string {
  if (kind === 'event') return styles.eventItem ?? '';
  return [styles.message, author.type !== 'user' && styles.team, kind === 'note' && styles.note]
    .filter(Boolean)
    .join(' ');
}

/** A message, note or event. */
export const MessageView = ({ row, people }: RowProps) =>
  row.message.kind === 'event' ? <Event message={row.message} people={people} /> : <Bubble row={row} people={people} />;
