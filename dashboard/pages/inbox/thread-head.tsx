import { Link, useLocation } from 'wouter';
import { useAct } from '../../api/hooks.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { ConfirmButton } from '../../components/dialog.tsx';
import { Filter } from '../../components/fields/fields.tsx';
import { TagEditor } from '../../components/fields/tag-editor.tsx';
import { Icon } from '../../components/icon.tsx';
import { IdentityLink } from '../../components/identity-link.tsx';
import { toast } from '../../components/toast.tsx';
import { t } from '../../i18n.ts';
import { useSession } from '../../session.tsx';
import { useShortcuts } from '../../shortcuts.ts';
import { CONVERSATION_TONE, conversationStatus, PRIORITIES, priorityName } from '../../words.ts';
import type { Change, Conversation } from './conversation-changes.ts';
import styles from './inbox.module.css';
import { useChanges } from './use-changes.ts';
import { useMembers } from './use-members.ts';

interface Control {
  conversation: Conversation;
  change(change: Change): Promise<Conversation | undefined>;
}

function Assignee({ conversation, change }: Control) {
  const { members, names } = useMembers();
  const { assignee_id: assignee = null } = conversation;
  return (
    <Filter
      small
      label={t('Assignee')}
      value={assignee ?? ''}
      onChange={event => void change({ field: 'assignee_id', value: event.target.value || null, was: assignee })}
    >
      <option value="">{t('Unassigned')}</option>
      {assignee && !names.has(assignee) && <option value={assignee}>{t('Former member')}</option>}
      {members.map(({ id, name, email }) => (
        <option key={id} value={id}>
          {name || email}
        </option>
      ))}
    </Filter>
  );
}

const PrioritySelect = ({ conversation: { priority = 'none' }, change }: Control) => (
  <Filter
    small
    label={t('Priority')}
    value={priority}
    onChange={event => void change({ field: 'priority', value: event.target.value, was: priority })}
  >
    {PRIORITIES.map(name => (
      <option key={name} value={name}>
        {priorityName(name)}
      </option>
    ))}
  </Filter>
);

function Delete({ id, inbox }: { id: string; inbox: string }) {
  const remove = useAct('DELETE /v1/conversations/{id}');
  const [, go] = useLocation();
  const act = async () => {
    await remove.mutateAsync({ params: { id } });
    go(inbox, { replace: true });
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

/** Where to go from a conversation: the addresses of the inbox, of this conversation and of the next one. */
export interface Neighbours {
  inbox: string;
  here: string;
  next: string;
}

/** Resolves the conversation and opens the next one, or reopens it. */
function useToggle({ id, status }: Conversation, change: Control['change'], { here, next }: Neighbours) {
  const [, go] = useLocation();
  return async () => {
    const isResolved = status === 'resolved';
    const made = await change({ field: 'status', value: isResolved ? 'open' : 'resolved', was: status });
    if (!made || isResolved) return;
    if (location.pathname.endsWith(`/${id}`)) go(next); // unless another one was opened meanwhile
    const undo = async () => {
      if (await change({ field: 'status', value: status, was: 'resolved' })) go(here);
    };
    toast(t('Conversation resolved'), { label: t('Undo'), act: () => void undo() });
  };
}

/** Adds and removes tags one by one, so that those of a colleague are kept. */
function changeTags(before: readonly string[], after: readonly string[], change: Control['change']): void {
  for (const tag of after) if (!before.includes(tag)) void change({ addTag: tag });
  for (const tag of before) if (!after.includes(tag)) void change({ removeTag: tag });
}

/** Subject, user, status and assignment of a conversation, with their controls. */
export function ThreadHead({ stored, neighbours }: { stored: Conversation; neighbours: Neighbours }) {
  const { may, membership } = useSession();
  const { conversation, change } = useChanges(stored);
  const toggle = useToggle(conversation, change, neighbours);
  const { identity, identity_verified, subject, status, tags, assignee_id = null } = conversation;
  const mayWrite = may('conversations:write');
  const assignToMe = () => void change({ field: 'assignee_id', value: membership.member_id, was: assignee_id });
  useShortcuts(mayWrite ? { e: () => void toggle(), a: assignToMe } : {});
  return (
    <header className={styles.threadHead}>
      <Link href={neighbours.inbox} className={styles.backLink}>
        <Icon name="back" size={14} /> {t('All conversations')}
      </Link>
      <div className={styles.about}>
        <div>
          <h2 className="wrap-anywhere" dir="auto">
            {subject || t('Conversation')}
          </h2>
          <span className="row small">
            <IdentityLink identity={identity} verified={identity_verified} />
            <Badge tone={CONVERSATION_TONE[status]}>{conversationStatus(status)}</Badge>
          </span>
        </div>
        {mayWrite && (
          <Button look={status === 'resolved' ? 'plain' : 'primary'} onPress={() => void toggle()}>
            {status === 'resolved' ? t('Reopen') : t('Resolve')}
          </Button>
        )}
      </div>
      <div className="row">
        {mayWrite && <Assignee conversation={conversation} change={change} />}
        {mayWrite && <PrioritySelect conversation={conversation} change={change} />}
        <TagEditor tags={tags} change={mayWrite ? next => changeTags(tags, next, change) : undefined} />
        {may('conversations:delete') && (
          <span className={styles.atEnd}>
            <Delete id={conversation.id} inbox={neighbours.inbox} />
          </span>
        )}
      </div>
    </header>
  );
}
