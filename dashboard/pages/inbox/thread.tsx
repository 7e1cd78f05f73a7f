import { useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { type BodyOf, etagOf } from '../../api/client.ts';
import { useAct, useApi, useList } from '../../api/hooks.ts';
import type { Schemas } from '../../api/schema.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { ConfirmButton } from '../../components/dialog.tsx';
import { Filter } from '../../components/fields/fields.tsx';
import { TagEditor } from '../../components/fields/tag-editor.tsx';
import { Icon } from '../../components/icon.tsx';
import { IdentityLink } from '../../components/identity-link.tsx';
import { Loading, Ready } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { t } from '../../i18n.ts';
import { PATHS } from '../../paths.ts';
import { useSession } from '../../session.tsx';
import { useShortcuts } from '../../shortcuts.ts';
import { CONVERSATION_TONE, conversationStatus, eventText, type Priority, priorityName } from '../../words.ts';
import { Composer, type ComposerHandle } from './composer.tsx';
import styles from './inbox.module.css';

type Conversation = Schemas['Conversation'];
type Message = Schemas['Message'];
type Change = BodyOf<'PATCH /v1/conversations/{id}'>;

const EVERY_MS = 2500;
const PRIORITIES: Priority[] = ['none', 'low', 'medium', 'high', 'urgent'];

/** Updates the conversation; fails if another member has changed it in the meantime. */
function useChange(conversation: Conversation) {
  const patch = useAct('PATCH /v1/conversations/{id}');
  return (body: Change) =>
    patch.mutate(
      { params: { id: conversation.id }, body, ifMatch: etagOf(conversation) },
      { onError: problem => toast(`${problem.title}: ${problem.message}`) },
    );
}

function Assignee({ conversation, change }: { conversation: Conversation; change(body: Change): void }) {
  const { data } = useApi('GET /v1/members', { query: { limit: 100 } });
  return (
    <Filter
      small
      label={t('Assignee')}
      value={conversation.assignee_id ?? ''}
      onChange={event => change({ assignee_id: event.target.value || null })}
    >
      <option value="">{t('Unassigned')}</option>
      {data?.data.map(({ id, name, email }) => (
        <option key={id} value={id}>
          {name || email}
        </option>
      ))}
    </Filter>
  );
}

const PriorityFilter = ({ conversation, change }: { conversation: Conversation; change(body: Change): void }) => (
  <Filter
    small
    label={t('Priority')}
    value={conversation.priority ?? 'none'}
    onChange={event => change({ priority: event.target.value as Priority })}
  >
    {PRIORITIES.map(priority => (
      <option key={priority} value={priority}>
        {priorityName(priority)}
      </option>
    ))}
  </Filter>
);

function Delete({ id }: { id: string }) {
  const remove = useAct('DELETE /v1/conversations/{id}');
  const [, go] = useLocation();
  const act = async () => {
    await remove.mutateAsync({ params: { id } });
    go(PATHS.inbox, { replace: true });
  };
  return (
    <ConfirmButton
      small
      label={t('Delete')}
      title={t('Delete this conversation?')}
      confirmLabel={t('Delete conversation')}
      act={act}
    >
      {t('All messages are deleted, including for the user. This cannot be undone.')}
    </ConfirmButton>
  );
}

function Head({ conversation }: { conversation: Conversation }) {
  const { may, membership } = useSession();
  const change = useChange(conversation);
  const { identity, identity_verified, subject, status, tags = [] } = conversation;
  const mayWrite = may('conversations:write');
  const toggle = () => change({ status: status === 'resolved' ? 'open' : 'resolved' });
  useShortcuts(mayWrite ? { e: toggle, a: () => change({ assignee_id: membership.member_id }) } : {});
  return (
    <header className={styles.threadHead}>
      <Link href={PATHS.inbox} className={styles.backLink}>
        <Icon name="back" size={14} /> {t('All conversations')}
      </Link>
      <div className={styles.about}>
        <div>
          <h2 className="wrap-anywhere">{subject || t('Conversation')}</h2>
          <span className="row small">
            <IdentityLink identity={identity} verified={identity_verified} />
            <Badge tone={CONVERSATION_TONE[status]}>{conversationStatus(status)}</Badge>
          </span>
        </div>
        {mayWrite && (
          <Button look={status === 'resolved' ? 'plain' : 'primary'} onPress={toggle}>
            {status === 'resolved' ? t('Reopen') : t('Resolve')}
          </Button>
        )}
      </div>
      <div className="row">
        {mayWrite && <Assignee conversation={conversation} change={change} />}
        {mayWrite && <PriorityFilter conversation={conversation} change={change} />}
        <TagEditor tags={tags} change={mayWrite ? next => change({ tags: next }) : undefined} />
        {may('conversations:delete') && (
          <span className={styles.atEnd}>
            <Delete id={conversation.id} />
          </span>
        )}
      </div>
    </header>
  );
}

/** How long authors may remove their messages (contract section 5). */
const REDACTABLE_MS = 15 * 60_000;

function Redact({ message }: { message: Message }) {
  const redact = useAct('DELETE /v1/conversations/{id}/messages/{message_id}');
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

/** Author name: a member's name, an API key's name or the user's identity. */
function authorText({ author }: Message, identity: string, names: ReadonlyMap<string, string>): string {
  if (author.type === 'user') return identity;
  if (author.type === 'system') return 'Parley';
  return author.name ?? names.get(author.id ?? '') ?? (author.type === 'api' ? t('Via the API') : t('Team member'));
}

interface MessageViewProps {
  message: Message;
  identity: string;
  names: ReadonlyMap<string, string>;
}

function MessageView({ message, identity, names }: MessageViewProps) {
  const { membership } = useSession();
  if (message.kind === 'event')
    return (
      <li className={styles.event}>
        {eventText(message.body, id => names.get(id) ?? id)} · <Time at={message.created_at} />
      </li>
    );
  const isMine = message.author.id === membership.member_id;
  const isFresh = Date.now() - new Date(message.created_at).getTime() < REDACTABLE_MS;
  const classes = [
    styles.message,
    message.author.type !== 'user' && styles.team,
    message.kind === 'note' && styles.note,
  ];
  return (
    <li className={classes.filter(Boolean).join(' ')}>
      <div className={styles.bubble}>
        {message.redacted ? <em className="quiet">{t('This message was removed.')}</em> : message.body}
      </div>
      <div className={styles.meta}>
        {message.kind === 'note' && <strong>{t('Note')}</strong>}
        <span>{authorText(message, identity, names)}</span>
        <Time at={message.created_at} />
        {message.edited_at && !message.redacted && <span>{t('edited')}</span>}
        {isMine && isFresh && !message.redacted && <Redact message={message} />}
      </div>
    </li>
  );
}

/** All messages, oldest first, scrolled to the newest. */
function Messages({ conversation }: { conversation: Conversation }) {
  const list = useList(
    'GET /v1/conversations/{id}/messages',
    { params: { id: conversation.id } },
    { everyMs: EVERY_MS, limit: 100 },
  );
  const members = useApi('GET /v1/members', { query: { limit: 100 } });
  const end = useRef<HTMLOListElement>(null);
  const { hasNextPage, isFetchingNextPage, fetchNextPage, items } = list;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: scroll only when a new message arrives
  useEffect(() => {
    end.current?.scrollTo({ top: end.current.scrollHeight });
  }, [items.at(-1)?.id]);
  const names = new Map(members.data?.data.map(({ id, name, email }) => [id, name || email]));
  return (
    <Ready query={list}>
      {() => (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable
        <ol ref={end} className={styles.messages} aria-label={t('Messages')} aria-live="polite" tabIndex={0}>
          {items.map(message => (
            <MessageView key={message.id} message={message} identity={conversation.identity} names={names} />
          ))}
        </ol>
      )}
    </Ready>
  );
}

/** Marks the conversation as read up to the last message while the page is visible. */
function useReadHorizon(conversation: Conversation | undefined): void {
  const { may } = useSession();
  const read = useAct('PUT /v1/conversations/{id}/read');
  const seq = conversation && conversation.unread_count > 0 ? conversation.last_message.seq : 0;
  const id = conversation?.id ?? '';
  const { mutate } = read;
  const mayWrite = may('conversations:write');
  useEffect(() => {
    if (seq > 0 && mayWrite && document.visibilityState === 'visible') mutate({ params: { id }, body: { seq } });
  }, [seq, id, mayWrite, mutate]);
}

/** One conversation: messages and composer. */
export function Thread({ id }: { id: string }) {
  const query = useApi('GET /v1/conversations/{id}', { params: { id } }, { everyMs: EVERY_MS });
  const { may } = useSession();
  const composer = useRef<ComposerHandle>(null);
  useReadHorizon(query.data);
  useShortcuts({ r: () => composer.current?.write('reply'), n: () => composer.current?.write('note') });
  if (!query.data) {
    return <div className={styles.side}>{query.error ? <Ready query={query}>{() => null}</Ready> : <Loading />}</div>;
  }
  return (
    <section className={styles.thread} aria-label={t('Conversation')}>
      <Head conversation={query.data} />
      <Messages conversation={query.data} />
      {may('conversations:write') && <Composer ref={composer} conversationId={id} />}
    </section>
  );
}
