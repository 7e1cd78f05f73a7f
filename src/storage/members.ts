import { isDeepStrictEqual } from 'node:util';
import { newUuid } from '../domain/ids.ts';
import {
  type Availability,
  MAX_MEMBERS,
  type MemberPatch,
  requireChangeOf,
  requireRankFor,
} from '../domain/members.ts';
import type { Page } from '../domain/pages.ts';
import { linkNotValid, notFound, Problem } from '../domain/problem.ts';
import { type Role, roleHolds } from '../domain/roles.ts';
import { insertAccount, type NewAccount, redeemSetupLink } from './accounts.ts';
import type { Author } from './conversation-rows.ts';
import { hasManyConversations, UNASSIGN_BATCH, unassignMember } from './conversations.ts';
import { isUniqueViolation } from './errors.ts';
import { byTime, createList, readPage } from './lists.ts';
import type { Storage, TenantStorage } from './orm.ts';
import { insertSession, type NewSession } from './sessions.ts';
import { addTenant, lockTenant, requireRoom } from './tenants.ts';
import type { Transaction } from './transaction.ts';
import { deleteViewsOf } from './views.ts';

export interface MemberRow {
  id: string;
  account_id: string;
  email: string;
  name: string;
  role: Role;
  totp_confirmed_at: Date | null;
  availability: Availability;
  capacity: number;
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
  accounts.totp_confirmed_at, members.availability, members.capacity, members.created_at`;
const INVITATION_COLUMNS = 'id, email, role, created_at, expires_at';

/** Returns a tenant's members in the order in which they joined. */
export function listMembers(tenant: TenantStorage, limit: number, after: string[] | null): Promise<Page<MemberRow>> {
  const list = createList(tenant, 'members', COLUMNS, byTime<MemberRow>('created_at', false));
  return readPage(tenant, { ...list, join: 'join accounts on accounts.id = members.account_id' }, limit, after);
}

/** Returns the addresses of a tenant's owners and admins. */
export const listAdminEmails = async (tenant: TenantStorage): Promise<string[]> =>
  (
    await tenant.query<{ email: string }>(
      `select accounts.email from members join accounts on accounts.id = members.account_id
       where members.tenant_id = $1 and members.role in ('owner', 'admin') order by members.created_at`,
      [tenant.tenantId],
    )
  ).map(({ email }) => email);

/** Prevents an account from being deleted with its last membership. 404 when it just was. */
async function lockAccount(tx: Transaction, id: string): Promise<void> {
  const found = await tx.query('select from accounts where id = $1 for key share', [id]);
  if (found.length === 0) throw notFound('account');
}

async function readMember(tx: Transaction, tenantId: string, id: string): Promise<MemberRow> {
  const [row] = await tx.query<MemberRow>(
    `select ${COLUMNS} from members join accounts on accounts.id = members.account_id
     where members.tenant_id = $1 and members.id = $2`,
    [tenantId, id],
  );
  if (!row) throw notFound('member');
  return row;
}

/** A joining person: an existing account, or a new one. */
export type Joiner = NewAccount & { exists: boolean };

/** Adds a person to a team, within a transaction with both scopes. 409 for a member, or when the team is full. */
async function insertMember(
  tx: Transaction,
  tenantId: string,
  accountId: string,
  role: Role,
  now: Date,
): Promise<string> {
  const detail = `A tenant can have at most ${MAX_MEMBERS} members.`;
  await requireRoom(tx, tenantId, { table: 'members', most: MAX_MEMBERS, detail });
  await lockAccount(tx, accountId);
  const id = newUuid();
  try {
    await tx.query('insert into members (tenant_id, id, account_id, role, created_at) values ($1, $2, $3, $4, $5)', [
      tenantId,
      id,
      accountId,
      role,
      now,
    ]);
  } catch (cause) {
    if (!isUniqueViolation(cause)) throw cause;
    throw new Problem('member-exists', 'The person is already a member of the tenant.', { cause });
  }
  return id;
}

/** Adds a person to a team, and creates the account if needed. */
export const addMember = (storage: Storage, tenantId: string, person: Joiner, role: Role, now: Date): Promise<string> =>
  storage.forAccount(person.id).transaction(async tx => {
    if (!person.exists) await insertAccount(tx, person, now);
    return insertMember(tx, tenantId, person.id, role, now);
  }, tenantId);

/** Throws 409 when the tenant would have no owner left. */
async function requireOtherOwner(tx: Transaction, tenantId: string, id: string): Promise<void> {
  const others = await tx.query(`select from members where tenant_id = $1 and id <> $2 and role = 'owner' limit 1`, [
    tenantId,
    id,
  ]);
  if (others.length === 0) throw new Problem('last-owner', 'The member is the only owner of the tenant.');
}

/** The member who changes or removes another one. */
type Manager = Author & { role: Role; memberId: string };

/** Locks the tenant, and returns a member whom the actor may change so. Throws like `updateMember`. */
async function lockChangeable(
  tx: Transaction,
  tenantId: string,
  actor: Manager,
  id: string,
  change: MemberPatch,
): Promise<MemberRow> {
  await lockTenant(tx, tenantId);
  const member = await readMember(tx, tenantId, id);
  requireChangeOf(id, change, actor);
  const { role = member.role } = change;
  if (change.role !== undefined) requireRankFor(actor.role, member.role, role);
  if (member.role === 'owner' && role !== 'owner') await requireOtherOwner(tx, tenantId, id);
  return member;
}

const mayAnswer = ({ role }: Pick<MemberRow, 'role'>): boolean => roleHolds(role, 'conversations:write');

/** Returns a member after a change. Who may no longer answer is away; who may from now on gets conversations. */
function changedMember(before: MemberRow, change: MemberPatch): MemberRow {
  const after = { ...before, ...change };
  if (mayAnswer(before) === mayAnswer(after)) return after;
  return { ...after, availability: mayAnswer(after) ? (change.availability ?? 'active') : 'away' };
}

/**
 * Changes a member. Who may no longer answer conversations loses theirs: call `relieveReader` before, outside of its
 * transaction. 403 beyond the actor's own rank or for another member's availability, 409 for the last owner. The flag is
 * false if nothing has changed.
 */
export const updateMember = (
  tenant: TenantStorage,
  actor: Manager,
  id: string,
  change: MemberPatch,
): Promise<{ member: MemberRow; isChanged: boolean }> =>
  tenant.transaction(async tx => {
    const { tenantId } = tenant;
    const before = await lockChangeable(tx, tenantId, actor, id, change);
    const after = changedMember(before, change);
    const isChanged = !isDeepStrictEqual(before, after);
    if (!isChanged) return { member: after, isChanged };
    // Waits for those who assign to the member by the present role (`lockMembers`), unlike the update.
    await tx.query('select from members where tenant_id = $1 and id = $2 for update', [tenantId, id]);
    await tx.query('update members set role = $3, availability = $4, capacity = $5 where tenant_id = $1 and id = $2', [
      ...[tenantId, id, after.role, after.availability, after.capacity],
    ]);
    if (!mayAnswer(after)) await unassignAll(tx, tenantId, id, actor);
    return { member: after, isChanged };
  });

/** Unassigns most conversations of a member whom a change makes a reader, like `relieveMember`. Throws like `updateMember`. */
export async function relieveReader(
  tenant: TenantStorage,
  actor: Manager,
  id: string,
  change: MemberPatch,
): Promise<void> {
  if (change.role === undefined || mayAnswer({ role: change.role })) return;
  await relieve(tenant, actor, id, tx => lockChangeable(tx, tenant.tenantId, actor, id, change));
}

async function unassignAll(tx: Transaction, tenantId: string, id: string, actor: Author): Promise<void> {
  while ((await unassignMember(tx, tenantId, id, actor)) === UNASSIGN_BATCH);
}

/** Locks the tenant, and returns a member whom the actor may remove. 403 beyond the actor's own rank, 409 for the last owner. */
async function lockRemovable(tx: Transaction, tenantId: string, actor: Manager, id: string): Promise<MemberRow> {
  await lockTenant(tx, tenantId);
  const member = await readMember(tx, tenantId, id);
  requireRankFor(actor.role, member.role);
  if (member.role === 'owner') await requireOtherOwner(tx, tenantId, id);
  return member;
}

/**
 * Unassigns most conversations of a member before the removal, in several short transactions: each blocks the tenant's
 * other writes while it runs. Does nothing if the member has few.
 *
 * The member is away meanwhile, so that assignment rules assign no others. If it fails, the member stays, is away, and
 * has fewer conversations; a repetition continues. Throws like `deleteMember`.
 */
export const relieveMember = (tenant: TenantStorage, actor: Manager, id: string): Promise<void> =>
  relieve(tenant, actor, id, tx => lockRemovable(tx, tenant.tenantId, actor, id));

/** Unassigns batches of a member's conversations until there are few. `lock` throws if the actor must not. */
async function relieve(
  { tenantId, transaction }: TenantStorage,
  actor: Author,
  id: string,
  lock: (tx: Transaction) => Promise<unknown>,
): Promise<void> {
  const relieveOnce = () =>
    transaction(async tx => {
      await lock(tx);
      if (!(await hasManyConversations(tx, tenantId, id))) return false;
      const sql = `update members set availability = 'away' where tenant_id = $1 and id = $2 and availability <> 'away'`;
      await tx.query(sql, [tenantId, id]);
      await unassignMember(tx, tenantId, id, actor);
      return true;
    });
  while (await relieveOnce());
}

/**
 * Removes a member with their views, and unassigns their conversations. Call `relieveMember` before, outside of its
 * transaction.
 *
 * 403 beyond the actor's own rank, 409 for the last owner.
 */
export const deleteMember = (tenant: TenantStorage, actor: Manager, id: string): Promise<MemberRow> =>
  tenant.transaction(async tx => {
    const { tenantId } = tenant;
    const member = await lockRemovable(tx, tenantId, actor, id);
    // First the member, then the conversations: concurrent assignments lock them in this order.
    await tx.query('delete from members where tenant_id = $1 and id = $2', [tenantId, id]);
    await deleteViewsOf(tx, tenantId, id);
    await unassignAll(tx, tenantId, id, actor);
    return member;
  });

export interface NewInvitationRow {
  email: string;
  role: Role;
  token_hash: Buffer;
  expires_at: Date;
}

/** Stores an invitation. It replaces an open one for the same address. 409 for a member, or when the team is full. */
export const insertInvitation = (
  tenant: TenantStorage,
  invitation: NewInvitationRow,
  now: Date,
): Promise<InvitationRow> =>
  tenant.transaction(async tx => {
    const { email, role, token_hash, expires_at } = invitation;
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
    const [row] = await tx.query<InvitationRow>(
      `insert into invitations (tenant_id, id, email, role, token_hash, created_at, expires_at)
       values ($1, $2, $3, $4, $5, $6, $7)
       on conflict (tenant_id, email) do update set id = excluded.id, role = excluded.role,
         token_hash = excluded.token_hash, created_at = excluded.created_at, expires_at = excluded.expires_at
       returning ${INVITATION_COLUMNS}`,
      [tenant.tenantId, newUuid(), email, role, token_hash, now, expires_at],
    );
    return row as InvitationRow;
  });

/** Returns the open invitations, newest first. */
export function listInvitations(
  tenant: TenantStorage,
  limit: number,
  after: string[] | null,
  now: Date,
): Promise<Page<InvitationRow>> {
  const list = createList(tenant, 'invitations', INVITATION_COLUMNS, byTime<InvitationRow>('created_at', true));
  list.access.and('expires_at > $', now); // needs no index: a tenant has at most `MAX_MEMBERS` of them
  return readPage(tenant, list, limit, after);
}

export async function deleteInvitation(tenant: TenantStorage, id: string): Promise<void> {
  const deleted = await tenant.query('delete from invitations where tenant_id = $1 and id = $2 returning id', [
    tenant.tenantId,
    id,
  ]);
  if (deleted.length === 0) throw notFound('invitation');
}

/** An invitation looked up by its link, before login. */
export interface FoundInvitation {
  tenant_id: string;
  id: string;
  tenant_name: string;
  email: string;
  role: Role;
  expires_at: Date;
  /** The account that the address has now. */
  account_id: string | null;
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
}

/** Makes a person a member by an invitation, and creates the account if needed. */
export const acceptInvitation = (
  storage: Storage,
  invitation: FoundInvitation,
  person: Joiner,
  now: Date,
): Promise<string> =>
  storage.forAccount(person.id).transaction(async tx => {
    await lockTenant(tx, invitation.tenant_id); // before the invitation, as those who invite again do
    await redeemInvitation(tx, invitation, now);
    if (!person.exists) await insertAccount(tx, person, now);
    return insertMember(tx, invitation.tenant_id, person.id, invitation.role, now);
  }, invitation.tenant_id);

/** Creates the first tenant and its owner by the setup link. 404 when it is invalid, or there is an owner. */
export const insertFirstOwner = (
  storage: Storage,
  link: Buffer,
  { owner, tenant, session }: { owner: NewAccount; tenant: { id: string; name: string }; session: NewSession },
  now: Date,
): Promise<void> =>
  storage.forAccount(owner.id).transaction(async tx => {
    if (!(await redeemSetupLink(tx, link, now))) throw linkNotValid();
    await insertAccount(tx, owner, now);
    await addTenant(tx, tenant.id, tenant.name, now);
    await insertMember(tx, tenant.id, owner.id, 'owner', now);
    await insertSession(tx, owner.id, session, now);
  }, tenant.id);
