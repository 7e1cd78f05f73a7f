import { newUuid } from '../../domain/ids.ts';
import type { Page } from '../../domain/pages.ts';
import { linkNotValid, notFound, Problem } from '../../domain/problem.ts';
import type { MailStatus } from '../../domain/team/mails.ts';
import { MAX_MEMBERS } from '../../domain/team/members.ts';
import type { Role } from '../../domain/team/roles.ts';
import type { Letter } from '../../platform/mail.ts';
import type { Seals } from '../../platform/secrets.ts';
import { SYSTEM_AUTHOR } from '../conversations/conversation-rows.ts';
import { byTime, createList, readPage } from '../database/lists.ts';
import type { Storage, TenantStorage } from '../database/orm.ts';
import type { Transaction } from '../database/transaction.ts';
import { lockTenant } from '../tenants/tenants.ts';
import { insertAccount, proveAddress } from './accounts.ts';
import { cancelInvitationMail, insertMail } from './mails.ts';
import { deleteRemains, insertMember, type Joiner, unassignMost } from './members.ts';

export interface InvitationRow {
  id: string;
  email: string;
  role: Role;
  created_at: Date;
  expires_at: Date;
  /** How far its mail got; null without a mail. */
  mail_status: MailStatus | null;
  mail_error: string | null;
  mail_at: Date | null;
}

const COLUMNS = 'id, email, role, created_at, expires_at, mail_status, mail_error, mail_at';

export interface NewInvitationRow {
  email: string;
  role: Role;
  token_hash: Buffer;
  /** The hash of the token in the mail; null without a mail. */
  mailed_token_hash: Buffer | null;
  expires_at: Date;
}

/**
 * Stores an invitation, and queues its mail if there is one. It replaces an open one for the same address. 409 for a member, or
 * when the team is full.
 */
export const insertInvitation = (
  tenant: TenantStorage,
  invitation: NewInvitationRow,
  mail: { seals: Seals; letter: Letter } | undefined,
  now: Date,
): Promise<InvitationRow> =>
  tenant.transaction(async tx => {
    const { email, role, token_hash, mailed_token_hash, expires_at } = invitation;
    await lockTenant(tx, tenant.tenantId);
    const [team] = await tx.query<{ count: number; known: boolean }>(
      `select (select count(*) from members where tenant_id = $1)::int +
         (select count(*) from invitations where tenant_id = $1 and email <> $2)::int as count,
       exists (select from members join accounts on accounts.id = members.account_id
         where members.tenant_id = $1 and accounts.email = $2) as known`,
      [tenant.tenantId, email],
    );
    if (team?.known) throw new Problem('member-exists', 'The person is already a member of the tenant.');
    if ((team?.count ?? 0) >= MAX_MEMBERS)
      throw new Problem('limit-reached', `A tenant can have at most ${MAX_MEMBERS} members and open invitations.`);
    const invitationId = newUuid();
    const [row] = await tx.query<InvitationRow>(
      `insert into invitations (tenant_id, id, email, role, token_hash, mailed_token_hash, created_at, expires_at, mail_status, mail_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
       on conflict (tenant_id, email) do update set id = excluded.id, role = excluded.role,
         token_hash = excluded.token_hash, mailed_token_hash = excluded.mailed_token_hash, created_at = excluded.created_at, expires_at = excluded.expires_at,
         mail_status = excluded.mail_status, mail_error = null, mail_at = excluded.mail_at
       returning ${COLUMNS}`,
      [
        tenant.tenantId,
        invitationId,
        email,
        role,
        token_hash,
        mailed_token_hash,
        now,
        expires_at,
        mail ? 'queued' : null,
        mail ? now : null,
      ],
    );
    if (mail) {
      const about = {
        tenantId: tenant.tenantId,
        kind: 'invitation',
        to: email,
        expiresAt: expires_at,
        invitationId,
      } as const;
      await insertMail(tx, mail.seals, { ...about, ...mail.letter }, now);
    }
    return row as InvitationRow;
  });

/** Returns the open invitations, newest first. */
export function listInvitations(
  tenant: TenantStorage,
  limit: number,
  after: string[] | null,
  now: Date,
): Promise<Page<InvitationRow>> {
  const list = createList(tenant, 'invitations', COLUMNS, byTime<InvitationRow>('created_at', true));
  list.access.and('expires_at > $', now); // needs no index: a tenant has at most `MAX_MEMBERS` of them
  return readPage(tenant, list, limit, after);
}

/** Returns an open invitation. 404 for one that is unknown, accepted or expired. */
export async function findOpenInvitation(tenant: TenantStorage, id: string, now: Date): Promise<InvitationRow> {
  const [row] = await tenant.query<InvitationRow>(
    `select ${COLUMNS} from invitations where tenant_id = $1 and id = $2 and expires_at > $3`,
    [tenant.tenantId, id, now],
  );
  if (!row) throw notFound('invitation');
  return row;
}

export const deleteInvitation = (tenant: TenantStorage, id: string): Promise<void> =>
  tenant.transaction(async tx => {
    const deleted = await tx.query('delete from invitations where tenant_id = $1 and id = $2 returning id', [
      tenant.tenantId,
      id,
    ]);
    if (deleted.length === 0) throw notFound('invitation');
    await cancelInvitationMail(tx, tenant.tenantId, id);
  });

/** An invitation looked up by its link, before login. */
export interface FoundInvitation {
  tenant_id: string;
  id: string;
  tenant_name: string;
  email: string;
  role: Role;
  expires_at: Date;
  /** Whether it was found by the token of the mailed link, which only the owner of the mailbox has. */
  is_mailed: boolean;
  /** The account that the address has now. */
  account_id: string | null;
  /** Whether the owner of that account has proven the address. */
  is_proven: boolean;
}

/** Returns the invitation of a link's hash. Throws 404 `link-not-valid` when it does not exist or has expired. */
export async function findInvitation(storage: Storage, tokenHash: Buffer, now: Date): Promise<FoundInvitation> {
  const [row] = await storage.query<FoundInvitation>('select * from find_invitation($1)', [tokenHash]);
  if (!row || row.expires_at <= now) throw linkNotValid();
  return row;
}

/** Uses up an invitation, within a transaction with its tenant's scope. Of concurrent callers one succeeds. */
async function redeemInvitation(tx: Transaction, { tenant_id, id }: FoundInvitation, now: Date): Promise<void> {
  const taken = await tx.query(
    'delete from invitations where tenant_id = $1 and id = $2 and expires_at > $3 returning id',
    [tenant_id, id, now],
  );
  if (taken.length === 0) throw linkNotValid();
  await cancelInvitationMail(tx, tenant_id, id);
}

/** A membership that ended because its account lost its address. */
export interface EndedMembership {
  tenantId: string;
  memberId: string;
}

/**
 * Unassigns most conversations of an account that is about to be disowned, in several short transactions, as
 * `relieveMember` does.
 */
export async function relieveAccount(storage: Storage, accountId: string): Promise<void> {
  const sql = 'select tenant_id, id from members where account_id = $1';
  const account = storage.forAccount(accountId);
  const rows = await account.transaction(tx => tx.query<{ tenant_id: string; id: string }>(sql, [accountId]));
  for (const { tenant_id, id } of rows)
    await unassignMost(storage.forTenant(tenant_id), SYSTEM_AUTHOR, id, () => Promise.resolve());
}

/**
 * Deletes the account with the address of a mailed invitation, its sessions and its memberships, unless the address is
 * proven. Its tenants continue, even one without another owner: otherwise, being its only owner would keep an address.
 *
 * Call `relieveAccount` before, outside of the transaction, which `storage` must be of. The inviting tenant is locked first,
 * as by those who accept the same invitation.
 */
export async function disownAccount(
  storage: Storage,
  { tenant_id }: FoundInvitation,
  tokenHash: Buffer,
  now: Date,
): Promise<EndedMembership[]> {
  await storage.forTenant(tenant_id).transaction(tx => lockTenant(tx, tenant_id));
  const rows = await storage.transaction(tx =>
    tx.query<{ of_tenant: string; member_id: string }>('select * from disown_account($1, $2)', [tokenHash, now]),
  );
  for (const { of_tenant, member_id } of rows)
    await storage.forTenant(of_tenant).transaction(tx => deleteRemains(tx, of_tenant, member_id, SYSTEM_AUTHOR));
  return rows.map(({ of_tenant, member_id }) => ({ tenantId: of_tenant, memberId: member_id }));
}

/** Makes a person a member by an invitation, creates the account if needed, and proves its address by a mailed link. */
export const acceptInvitation = (
  storage: Storage,
  invitation: FoundInvitation,
  person: Joiner,
  now: Date,
): Promise<string> =>
  storage.forAccount(person.id).transaction(async tx => {
    await lockTenant(tx, invitation.tenant_id); // before the invitation, as those who invite again do
    await redeemInvitation(tx, invitation, now);
    if (!person.exists) await insertAccount(tx, person, invitation.is_mailed, now);
    else if (invitation.is_mailed) await proveAddress(tx, person.id, invitation.email, now);
    return insertMember(tx, invitation.tenant_id, person.id, invitation.role, now);
  }, invitation.tenant_id);
