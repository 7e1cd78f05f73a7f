import { newUuid } from '../domain/ids.ts';
import { MAX_MEMBERS, requireRankFor } from '../domain/members.ts';
import { type Page, toPage } from '../domain/pages.ts';
import { linkNotValid, notFound, Problem } from '../domain/problem.ts';
import type { Role } from '../domain/roles.ts';
import { insertAccount, type NewAccount, takeSetupLink } from './accounts.ts';
import type { Author } from './conversation-rows.ts';
import { unassignMember } from './conversations.ts';
import { isUniqueViolation } from './errors.ts';
import type { Storage, TenantStorage } from './orm.ts';
import { insertSession, type NewSession } from './sessions.ts';
import { createWhere } from './sql.ts';
import { addTenant } from './tenants.ts';
import type { Session } from './transaction.ts';

export interface MemberRow {
  id: string;
  account_id: string;
  email: string;
  name: string;
  role: Role;
  totp_confirmed_at: Date | null;
  created_at: Date;
}

export interface InvitationRow {
  id: string;
  email: string;
  role: Role;
  created_at: Date;
  expires_at: Date;
}

const COLUMNS = `members.id, members.account_id, accounts.email, accounts.name, members.role,
  accounts.totp_confirmed_at, members.created_at`;
const INVITATION_COLUMNS = 'id, email, role, created_at, expires_at';

/** Makes whoever counts the team before changing it wait for the other. 404 when the tenant was deleted meanwhile. */
async function lockTeam(session: Session, tenantId: string): Promise<void> {
  const found = await session.query('select from tenants where id = $1 for update', [tenantId]);
  if (found.length === 0) throw notFound('tenant');
}

/** The members of a tenant in the order in which they joined. */
export async function listMembers(
  tenant: TenantStorage,
  limit: number,
  after: string[] | null,
): Promise<Page<MemberRow>> {
  const where = createWhere();
  where.and('members.tenant_id = $', tenant.tenantId);
  if (after) where.and('(members.created_at, members.id) > ($, $)', ...after);
  const rows = await tenant.query<MemberRow>(
    `select ${COLUMNS} from members join accounts on accounts.id = members.account_id ${where.sql}
     order by members.created_at, members.id limit ${where.param(limit + 1)}`,
    where.params,
  );
  return toPage(rows, limit, row => [row.created_at.toISOString(), row.id]);
}

/** Keeps an account from being deleted with the last team that it belongs to. 404 when it just was. */
async function keepAccount(session: Session, id: string): Promise<void> {
  const found = await session.query('select from accounts where id = $1 for key share', [id]);
  if (found.length === 0) throw notFound('account');
}

async function readMember(session: Session, tenantId: string, id: string): Promise<MemberRow> {
  const [row] = await session.query<MemberRow>(
    `select ${COLUMNS} from members join accounts on accounts.id = members.account_id
     where members.tenant_id = $1 and members.id = $2`,
    [tenantId, id],
  );
  if (!row) throw notFound('member');
  return row;
}

/** Somebody who joins: an account that is there, or one to be made. */
export type Joiner = NewAccount & { exists: boolean };

/** Adds a person to a team, within a transaction that names both. 409 when there already, or the team is full. */
async function insertMember(
  session: Session,
  tenantId: string,
  accountId: string,
  role: Role,
  now: Date,
): Promise<string> {
  await lockTeam(session, tenantId);
  await keepAccount(session, accountId);
  const [team] = await session.query<{ count: number }>(
    'select count(*)::int as count from members where tenant_id = $1',
    [tenantId],
  );
  if ((team?.count ?? 0) >= MAX_MEMBERS)
    throw new Problem('limit-reached', `A tenant can have at most ${MAX_MEMBERS} members.`);
  const id = newUuid();
  try {
    await session.query(
      'insert into members (tenant_id, id, account_id, role, created_at) values ($1, $2, $3, $4, $5)',
      [tenantId, id, accountId, role, now],
    );
  } catch (cause) {
    if (!isUniqueViolation(cause)) throw cause;
    throw new Problem('member-exists', 'The person is already a member of the tenant.', { cause });
  }
  return id;
}

/** Adds a person to a team, with an account where the person has none. */
export const addMember = (storage: Storage, tenantId: string, person: Joiner, role: Role, now: Date): Promise<string> =>
  storage.forAccount(person.id).transaction(async session => {
    if (!person.exists) await insertAccount(session, person, now);
    return insertMember(session, tenantId, person.id, role, now);
  }, tenantId);

/** Throws 409 when the tenant would be left without an owner. */
async function requireOtherOwner(session: Session, tenantId: string, id: string): Promise<void> {
  const others = await session.query(
    `select from members where tenant_id = $1 and id <> $2 and role = 'owner' limit 1`,
    [tenantId, id],
  );
  if (others.length === 0) throw new Problem('last-owner', 'The member is the only owner of the tenant.');
}

/** Gives a member another role. 403 beyond the actor's own rank, 409 for the last owner. */
export const updateMemberRole = (tenant: TenantStorage, actor: Role, id: string, role: Role): Promise<MemberRow> =>
  tenant.transaction(async session => {
    await lockTeam(session, tenant.tenantId);
    const member = await readMember(session, tenant.tenantId, id);
    requireRankFor(actor, member.role, role);
    if (member.role === 'owner' && role !== 'owner') await requireOtherOwner(session, tenant.tenantId, id);
    await session.query('update members set role = $3 where tenant_id = $1 and id = $2', [tenant.tenantId, id, role]);
    return { ...member, role };
  });

/**
 * Takes a member out of the team, and from them their conversations.
 *
 * 403 beyond the actor's own rank, 409 for the last owner.
 */
export const deleteMember = (tenant: TenantStorage, actor: Author & { role: Role }, id: string): Promise<MemberRow> =>
  tenant.transaction(async session => {
    await lockTeam(session, tenant.tenantId);
    const member = await readMember(session, tenant.tenantId, id);
    requireRankFor(actor.role, member.role);
    if (member.role === 'owner') await requireOtherOwner(session, tenant.tenantId, id);
    await session.query('delete from members where tenant_id = $1 and id = $2', [tenant.tenantId, id]);
    await unassignMember(session, tenant.tenantId, id, actor);
    return member;
  });

export interface NewInvitationRow {
  email: string;
  role: Role;
  token_hash: Buffer;
  expires_at: Date;
}

/** Keeps an invitation, in place of an open one for the same address. 409 for a member, or when the team is full. */
export const insertInvitation = (
  tenant: TenantStorage,
  invitation: NewInvitationRow,
  now: Date,
): Promise<InvitationRow> =>
  tenant.transaction(async session => {
    const { email, role, token_hash, expires_at } = invitation;
    await lockTeam(session, tenant.tenantId);
    const [team] = await session.query<{ count: number; known: boolean }>(
      `select (select count(*) from members where tenant_id = $1)::int +
         (select count(*) from invitations where tenant_id = $1 and email <> $2)::int as count,
       exists (select from members join accounts on accounts.id = members.account_id
         where members.tenant_id = $1 and accounts.email = $2) as known`,
      [tenant.tenantId, email],
    );
    if (team?.known) throw new Problem('member-exists', 'The person is already a member of the tenant.');
    if ((team?.count ?? 0) >= MAX_MEMBERS)
      throw new Problem('limit-reached', `A tenant can have at most ${MAX_MEMBERS} members and open invitations.`);
    const [row] = await session.query<InvitationRow>(
      `insert into invitations (tenant_id, id, email, role, token_hash, created_at, expires_at)
       values ($1, $2, $3, $4, $5, $6, $7)
       on conflict (tenant_id, email) do update set id = excluded.id, role = excluded.role,
         token_hash = excluded.token_hash, created_at = excluded.created_at, expires_at = excluded.expires_at
       returning ${INVITATION_COLUMNS}`,
      [tenant.tenantId, newUuid(), email, role, token_hash, now, expires_at],
    );
    return row as InvitationRow;
  });

/** The invitations that can still be accepted, the newest first. */
export async function listInvitations(
  tenant: TenantStorage,
  limit: number,
  after: string[] | null,
  now: Date,
): Promise<Page<InvitationRow>> {
  const where = createWhere();
  where.and('tenant_id = $', tenant.tenantId);
  where.and('expires_at > $', now);
  if (after) where.and('(created_at, id) < ($, $)', ...after);
  const rows = await tenant.query<InvitationRow>(
    `select ${INVITATION_COLUMNS} from invitations ${where.sql}
     order by created_at desc, id desc limit ${where.param(limit + 1)}`,
    where.params,
  );
  return toPage(rows, limit, row => [row.created_at.toISOString(), row.id]);
}

export async function deleteInvitation(tenant: TenantStorage, id: string): Promise<void> {
  const gone = await tenant.query('delete from invitations where tenant_id = $1 and id = $2 returning id', [
    tenant.tenantId,
    id,
  ]);
  if (gone.length === 0) throw notFound('invitation');
}

/** An invitation as its link finds it, before anybody is logged in. */
export interface FoundInvitation {
  tenant_id: string;
  id: string;
  tenant_name: string;
  email: string;
  role: Role;
  expires_at: Date;
  /** The account that the address has by now. */
  account_id: string | null;
}

/** The invitation of a link's hash. Throws 404 `link-not-valid` when there is none, or it is too old. */
export async function findInvitation(storage: Storage, tokenHash: Buffer, now: Date): Promise<FoundInvitation> {
  const [row] = await storage.query<FoundInvitation>('select * from find_invitation($1)', [tokenHash]);
  if (!row || row.expires_at <= now) throw linkNotValid();
  return row;
}

/** Takes an invitation for good, within a transaction that names its tenant: of many at once one alone has it. */
async function takeInvitation(session: Session, { tenant_id, id }: FoundInvitation, now: Date): Promise<void> {
  const taken = await session.query(
    'delete from invitations where tenant_id = $1 and id = $2 and expires_at > $3 returning id',
    [tenant_id, id, now],
  );
  if (taken.length === 0) throw linkNotValid();
}

/** Makes a person a member by an invitation, with an account where there is none. */
export const acceptInvitation = (
  storage: Storage,
  invitation: FoundInvitation,
  person: Joiner,
  now: Date,
): Promise<string> =>
  storage.forAccount(person.id).transaction(async transaction => {
    await takeInvitation(transaction, invitation, now);
    if (!person.exists) await insertAccount(transaction, person, now);
    return insertMember(transaction, invitation.tenant_id, person.id, invitation.role, now);
  }, invitation.tenant_id);

/** The first run: an owner with a tenant, in exchange for the link. 404 when it is not valid, or there is an owner. */
export const insertFirstOwner = (
  storage: Storage,
  link: Buffer,
  { owner, tenant, session }: { owner: NewAccount; tenant: { id: string; name: string }; session: NewSession },
  now: Date,
): Promise<void> =>
  storage.forAccount(owner.id).transaction(async transaction => {
    if (!(await takeSetupLink(transaction, link, now))) throw linkNotValid();
    await insertAccount(transaction, owner, now);
    await addTenant(transaction, tenant.id, tenant.name, now);
    await insertMember(transaction, tenant.id, owner.id, 'owner', now);
    await insertSession(transaction, owner.id, session, now);
  }, tenant.id);
