import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { useAct, useList } from '../../api/hooks.ts';
import type { Invitation, Member, MemberRole, SentInvitation } from '../../api/names.ts';
import { AvailabilitySelect } from '../../components/availability.tsx';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { CopyValue } from '../../components/copy.tsx';
import { ConfirmButton, Dialog } from '../../components/dialog.tsx';
import fields from '../../components/fields/fields.module.css';
import { Choices, Filter, TextInput } from '../../components/fields/fields.tsx';
import { Form } from '../../components/fields/form.tsx';
import { Panel, Ready } from '../../components/page.tsx';
import { Note } from '../../components/problem-note.tsx';
import { More, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { showProblem, toast } from '../../components/toast.tsx';
import { formatNumber, t } from '../../i18n.ts';
import { useSession } from '../../session.tsx';
import { roleHint, roleName } from '../../words.ts';
import { SettingsFrame } from './frame.tsx';

/** Largest capacity of a member (`src/domain/team/members.ts`). */
const MAX_CAPACITY = 1000;

const ROLES: MemberRole[] = ['owner', 'admin', 'agent', 'analyst'];

/** Only owners can assign the owner role. */
const rolesFor = (own: MemberRole): MemberRole[] => (own === 'owner' ? ROLES : ROLES.filter(role => role !== 'owner'));

function InviteForm({ done }: { done(invitation: SentInvitation): void }) {
  const { membership } = useSession();
  const form = useForm<{ email: string; role: MemberRole }>({ defaultValues: { email: '', role: 'agent' } });
  const invite = useAct('POST /v1/members');
  return (
    <Form form={form} submitLabel={t('Invite')} send={async body => done(await invite.mutateAsync({ body }))}>
      <TextInput form={form} name="email" autoFocus type="email" label={t('Email')} rules={{ required: true }} />
      <Choices
        form={form}
        name="role"
        label={t('Role')}
        choices={rolesFor(membership.role).map(role => ({ value: role, label: roleName(role), hint: roleHint(role) }))}
      />
    </Form>
  );
}

const InvitationLink = ({ invitation, close }: { invitation: SentInvitation; close(): void }) => (
  <>
    {invitation.mail === 'queued' ? (
      <Note tone="good">
        <p>{t('An invitation is being sent to {email}.', { email: invitation.email })}</p>
        <p>
          {t(
            'The list of pending invitations shows whether the mail server has accepted it. If the email does not arrive, send this link instead. It is shown only once and is valid for 7 days.',
          )}
        </p>
      </Note>
    ) : (
      <Note tone="warn">
        <p>{t('Send this link to the new member. It is shown only once and is valid for 7 days.')}</p>
      </Note>
    )}
    <CopyValue value={invitation.link} what={t('Invitation link')} />
    <div>
      <Button look="primary" onPress={close}>
        {t('Done')}
      </Button>
    </div>
  </>
);

/** Only owners can change or remove owners. */
const isProtected = (member: Member, own: MemberRole): boolean => member.role === 'owner' && own !== 'owner';

function Role({ member }: { member: Member }) {
  const { membership, may } = useSession();
  const patch = useAct('PATCH /v1/members/{id}');
  if (!may('members:manage') || isProtected(member, membership.role)) return <span>{roleName(member.role)}</span>;
  const change = (role: MemberRole) =>
    patch.mutate(
      { params: { id: member.id }, body: { role } },
      { onSuccess: () => toast(t('Saved')), onError: showProblem },
    );
  return (
    <Filter
      small
      label={t('Role of {name}', { name: member.name || member.email })}
      value={member.role}
      disabled={patch.isPending}
      onChange={event => change(event.target.value as MemberRole)}
    >
      {rolesFor(membership.role).map(role => (
        <option key={role} value={role}>
          {roleName(role)}
        </option>
      ))}
    </Filter>
  );
}

/** Number of conversations up to which assignment rules give a member more. It is saved when the field is left. */
function Capacity({ member }: { member: Member }) {
  const { may } = useSession();
  const [typed, setTyped] = useState<string>();
  const patch = useAct('PATCH /v1/members/{id}');
  const { id, capacity, name, email } = member;
  if (!may('members:manage')) return <span>{formatNumber(capacity)}</span>;
  const save = () => {
    setTyped(undefined);
    const next = Number(typed);
    if (typed === undefined || typed === '' || next === capacity) return;
    patch.mutate(
      { params: { id }, body: { capacity: next } },
      { onSuccess: () => toast(t('Saved')), onError: showProblem },
    );
  };
  return (
    <input
      className={`${fields.input} ${fields.small} ${fields.narrow}`}
      type="number"
      min={0}
      max={MAX_CAPACITY}
      aria-label={t('Capacity of {name}', { name: name || email })}
      value={typed ?? capacity}
      disabled={patch.isPending}
      onChange={event => setTyped(event.target.value)}
      onBlur={save}
      onKeyDown={event => event.key === 'Enter' && event.currentTarget.blur()}
    />
  );
}

function Remove({ member }: { member: Member }) {
  const { membership } = useSession();
  const remove = useAct('DELETE /v1/members/{id}');
  if (isProtected(member, membership.role)) return null;
  return (
    <ConfirmButton
      small
      label={t('Remove')}
      title={t('Remove {name}?', { name: member.name || member.email })}
      confirmLabel={t('Remove')}
      act={() => remove.mutateAsync({ params: { id: member.id } })}
    >
      {t(
        'They lose access to this tenant immediately. Their messages stay; their conversations become unassigned. You can invite them again.',
      )}
    </ConfirmButton>
  );
}

function RevokeInvitation({ invitation }: { invitation: Invitation }) {
  const revoke = useAct('DELETE /v1/members/invitations/{id}');
  return (
    <ConfirmButton
      small
      label={t('Revoke')}
      title={t('Revoke this invitation?')}
      confirmLabel={t('Revoke')}
      act={() => revoke.mutateAsync({ params: { id: invitation.id } })}
    >
      {t('The invitation link stops working immediately.')}
    </ConfirmButton>
  );
}

const MAIL_TONE = { queued: 'warn', sent: 'good', failed: 'bad' } as const;

const mailStatus = (status: keyof typeof MAIL_TONE): string =>
  ({ queued: t('Queued'), sent: t('Sent'), failed: t('Not delivered') })[status];

/** How far the mail of an invitation got, and why it was not accepted yet. */
const MailState = ({ mail }: { mail: Invitation['mail'] }) =>
  mail === null ? (
    <span className="quiet">{t('By link only')}</span>
  ) : (
    <>
      <Badge tone={MAIL_TONE[mail.status]}>{mailStatus(mail.status)}</Badge>
      {mail.error !== null && (
        <p className="small quiet wrap-anywhere" translate="no">
          {mail.error}
        </p>
      )}
    </>
  );

/** Poll interval for the states of mails. */
const EVERY_MS = 5000;

function Invitations() {
  const list = useList('GET /v1/members/invitations', {}, { everyMs: EVERY_MS });
  if (list.data && list.items.length === 0) return null;
  return (
    <Panel title={t('Pending invitations')}>
      <Ready query={list} lines={1}>
        {() => (
          <Table
            caption={t('Pending invitations')}
            rows={list.items}
            keyOf={({ id }) => id}
            columns={[
              { label: t('Email'), cell: ({ email }) => email },
              { label: t('Role'), cell: ({ role }) => roleName(role) },
              { label: t('Delivery'), cell: ({ mail }) => <MailState mail={mail} /> },
              { label: t('Expires'), cell: ({ expires_at }) => <Time at={expires_at} /> },
              { label: t('Actions'), actions: true, cell: invitation => <RevokeInvitation invitation={invitation} /> },
            ]}
          />
        )}
      </Ready>
    </Panel>
  );
}

/** Settings, tab Members: members, roles and invitations. */
export function Members() {
  const list = useList('GET /v1/members', {});
  const { membership, may } = useSession();
  const [isInviting, setInviting] = useState(false);
  const [sent, setSent] = useState<SentInvitation>();
  const close = () => {
    setInviting(false);
    setSent(undefined);
  };
  const mayManage = may('members:manage');
  return (
    <SettingsFrame
      title={t('Members')}
      actions={
        mayManage && (
          <Button look="primary" onPress={() => setInviting(true)}>
            {t('Invite member')}
          </Button>
        )
      }
    >
      <Ready query={list}>
        {() => (
          <>
            <Table
              caption={t('Members')}
              rows={list.items}
              keyOf={({ id }) => id}
              columns={[
                {
                  label: t('Member'),
                  cell: ({ id, name, email }) => (
                    <>
                      <strong>{name || email}</strong> {id === membership.member_id && <Badge plain>{t('You')}</Badge>}
                      {name && <p className="small quiet wrap-anywhere">{email}</p>}
                    </>
                  ),
                },
                { label: t('Role'), cell: member => <Role member={member} /> },
                {
                  label: t('Availability'),
                  cell: member => <AvailabilitySelect member={member} mayChange={mayManage} />,
                },
                { label: t('Capacity'), cell: member => <Capacity member={member} /> },
                { label: t('2FA'), cell: ({ totp_enabled }) => (totp_enabled ? t('On') : t('Off')) },
                { label: t('Joined'), cell: ({ created_at }) => <Time at={created_at} /> },
                ...(mayManage
                  ? [{ label: t('Actions'), actions: true, cell: (member: Member) => <Remove member={member} /> }]
                  : []),
              ]}
            />
            <More list={list} />
          </>
        )}
      </Ready>
      {mayManage && <Invitations />}
      <Dialog title={t('Invite member')} isOpen={isInviting} close={close} dismissable={!sent}>
        {sent ? <InvitationLink invitation={sent} close={close} /> : <InviteForm done={setSent} />}
      </Dialog>
    </SettingsFrame>
  );
}
