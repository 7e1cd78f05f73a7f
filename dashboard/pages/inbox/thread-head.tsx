import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useAct } from '../../api/hooks.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { ConfirmButton, Dialog } from '../../components/dialog.tsx';
import { Filter } from '../../components/fields/fields.tsx';
import { TagEditor } from '../../components/fields/tag-editor.tsx';
import { Icon } from '../../components/icon.tsx';
import { IdentityLink } from '../../components/identity-link.tsx';
import { MemberOptions } from '../../components/member-options.tsx';
import { toast } from '../../components/toast.tsx';
import { t } from '../../i18n.ts';
import { useSession } from '../../session.tsx';
import { useShortcuts } from '../../shortcuts.ts';
import { useMembers } from '../../use-members.ts';
import { CONVERSATION_TONE, conversationStatus, PRIORITIES, priorityName } from '../../words.ts';
import { ChangedNote } from './changed-note.tsx';
import type { Change, Conversation, FieldChange } from './conversation-changes.ts';
import type { People } from './event-text.ts';
import styles from './inbox.module.css';
import { Merge } from './merge-dialog.tsx';
import { ReplyDue } from './reply-due.tsx';
import { SnoozeMenu } from './snooze/snooze-menu.tsx';
import { snoozeText } from './snooze/snooze-times.ts';
import { useChanges } from './use-changes.ts';

interface Control {
  conversation: Conversation;
  change(change: Change): Promise<Conversation | undefined>;
}

function Assignee({ conversation, change }: Control) {
  const { assignable } = useMembers();
  const { assignee_id: assignee = null } = conversation;
  return (
    <Filter
      small
      label={t('Assignee')}
      value={assignee ?? ''}
      onChange={event => void change({ field: 'assignee_id', value: event.target.value || null, was: assignee })}
    >
      <option value="">{t('Unassigned')}</option>
      <MemberOptions members={assignable} chosen={assignee} />
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
  addressOf(id: string): string;
}

/**
 * Returns a function that sets a status with which a conversation leaves the list of open ones: the next one opens, and
 * Undo brings this one back.
 */
function useSettingAside(
  { id, status, snoozed_until }: Conversation,
  change: Control['change'],
  { here, next }: Neighbours,
) {
  const [, go] = useLocation();
  return async (wanted: Pick<FieldChange, 'value' | 'until'>, said: string) => {
    const made = await change({ field: 'status', was: status, ...wanted });
    if (!made) return;
    if (location.pathname.endsWith(`/${id}`)) go(next); // unless another one was opened meanwhile
    const before = status === 'snoozed' && snoozed_until ? { until: snoozed_until } : {};
    const undo = async () => {
      if (await change({ field: 'status', value: status, was: wanted.value, ...before })) go(here);
    };
    toast(said, { label: t('Undo'), act: () => void undo() });
  };
}

/** Adds and removes tags one by one, so that those of a colleague are kept. */
function changeTags(before: readonly string[], after: readonly string[], change: Control['change']): void {
  for (const tag of after) if (!before.includes(tag)) void change({ addTag: tag });
  for (const tag of before) if (!after.includes(tag)) void change({ removeTag: tag });
}

type StatusProps = Control & { neighbours: Neighbours; timeZone: string | undefined };

/** Snoozes and resolves the conversation, or opens it again. */
function StatusButtons({ conversation, change, neighbours, timeZone }: StatusProps) {
  const { status } = conversation;
  const [isSnoozing, setSnoozing] = useState(false);
  const setAside = useSettingAside(conversation, change, neighbours);
  const open = () => void change({ field: 'status', value: 'open', was: status });
  const toggle = () =>
    status === 'resolved' ? open() : void setAside({ value: 'resolved' }, t('Conversation resolved'));
  const snooze = (until: string) => {
    const said = t('Snoozed until {time}', { time: snoozeText(until, timeZone) });
    void setAside({ value: 'snoozed', until }, said);
  };
  useShortcuts({ e: toggle, s: () => setSnoozing(true) });
  return (
    <span className="row">
      <SnoozeMenu
        large
        isOpen={isSnoozing}
        setOpen={setSnoozing}
        snooze={snooze}
        wake={status === 'snoozed' ? open : undefined}
      />
      <Button look={status === 'resolved' ? 'plain' : 'primary'} onPress={toggle}>
        {status === 'resolved' ? t('Reopen') : t('Resolve')}
      </Button>
    </span>
  );
}

/** The status; of a snoozed conversation with the end of the snooze. */
function Status({
  conversation: { status, snoozed_until },
  timeZone,
}: {
  conversation: Conversation;
  timeZone: string | undefined;
}) {
  const text = snoozed_until
    ? t('Snoozed until {time}', { time: snoozeText(snoozed_until, timeZone) })
    : conversationStatus(status);
  return <Badge tone={CONVERSATION_TONE[status]}>{text}</Badge>;
}

function MergeButton({ conversation, neighbours }: { conversation: Conversation; neighbours: Neighbours }) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button small look="quiet" onPress={() => setOpen(true)}>
        {t('Merge')}
      </Button>
      <Dialog title={t('Merge this conversation')} isOpen={isOpen} close={close}>
        <Merge conversation={conversation} close={close} addressOf={neighbours.addressOf} />
      </Dialog>
    </>
  );
}

function Actions({ conversation, neighbours }: { conversation: Conversation; neighbours: Neighbours }) {
  const { may } = useSession();
  return (
    <span className={`row ${styles.atEnd}`}>
      {may('conversations:write') && conversation.merged_into_id === null && (
        <MergeButton conversation={conversation} neighbours={neighbours} />
      )}
      {may('conversations:delete') && <Delete id={conversation.id} inbox={neighbours.inbox} />}
    </span>
  );
}

interface ThreadHeadProps {
  stored: Conversation;
  neighbours: Neighbours;
  people: People;
}

/** Subject, user, status and assignment of a conversation, with their controls. */
export function ThreadHead({ stored, neighbours, people }: ThreadHeadProps) {
  const { may, membership } = useSession();
  const { conversation, change, collision, dismiss } = useChanges(stored);
  const { identity, identity_verified, subject, tags, assignee_id = null, reply_due_at } = conversation;
  const { timeZone } = people;
  const mayWrite = may('conversations:write');
  const assignToMe = () => void change({ field: 'assignee_id', value: membership.member_id, was: assignee_id });
  useShortcuts(mayWrite ? { a: assignToMe } : {});
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
            <Status conversation={conversation} timeZone={timeZone} />
            {reply_due_at && <ReplyDue at={reply_due_at} />}
          </span>
        </div>
        {mayWrite && conversation.merged_into_id === null && (
          <StatusButtons {...{ conversation, change, neighbours, timeZone }} />
        )}
      </div>
      <div className="row">
        {mayWrite && <Assignee conversation={conversation} change={change} />}
        {mayWrite && <PrioritySelect conversation={conversation} change={change} />}
        <TagEditor tags={tags} change={mayWrite ? next => changeTags(tags, next, change) : undefined} />
        <Actions conversation={conversation} neighbours={neighbours} />
      </div>
      {collision && (
        <ChangedNote collision={collision} people={people} change={made => void change(made)} dismiss={dismiss} />
      )}
    </header>
  );
}
