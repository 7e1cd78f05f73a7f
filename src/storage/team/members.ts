import { isDeepStrictEqual } from 'node:util';
import { newUuid } from '../../domain/ids.ts';
import type { Page } from '../../domain/pages.ts';
import { linkNotValid, notFound, Problem } from '../../domain/problem.ts';
import {
  type Availability,
  MAX_MEMBERS,
  type MemberPatch,
  requireChangeOf,
  requireRankFor,
} from '../../domain/team/members.ts';
import { type Role, roleHolds } from '../../domain/team/roles.ts';
import type { Author, EventWriting } from '../conversations/conversation-rows.ts';
import { hasManyConversations, UNASSIGN_BATCH, unassignMember } from '../conversations/conversations.ts';
import { deleteViewsOf } from '../conversations/views.ts';
import { isUniqueViolation } from '../database/errors.ts';
import { byTime, createList, readPage } from '../database/lists.ts';
import type { Storage, TenantStorage } from '../database/orm.ts';
import type { Transaction } from '../database/transaction.ts';
import { markTenant } from '../tenants/marked-tenants.ts';
import { addTenant, lockTenant, requireRoom } from '../tenants/tenants.ts';
import { insertAccount, type NewAccount, redeemSetupLink } from './accounts.ts';
import { insertSession, type NewSession } from './sessions.ts';

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

const COLUMNS = `members.id, members.account_id, accounts.email, accounts.name, members.role,
  accounts.totp_confirmed_at, members.availability, members.capacity, members.created_at`;

/** Returns a tenant's members in the order in which they joined. */
export function listMembers(tenant: TenantStorage, limit: number, after: string[] | null): Promise<Page<MemberRow>> {
  const list = createList(tenant, 'members', COLUMNS, byTime<MemberRow>('created_at', false));
  return readPage(tenant, { ...list, join: 'join accounts on accounts.id = members.account_id' }, limit, after);
}

/** Returns the proven addresses of a tenant's owners and admins. Others may belong to strangers. */
export const listAdminEmails = async (tenant: TenantStorage): Promise<string[]> =>
  (
    await tenant.query<{ email: string }>(
      `select accounts.email from members join accounts on accounts.id = members.account_id
       where members.tenant_id = $1 and members.role in ('owner', 'admin') and accounts.email_proven_at is not null
       order by members.created_at`,
      [tenant.tenantId],
    )
  ).map(({ email }) => email);

/** Prevents an account from being deleted with its last membership. 404 when it just was. */
async function lockAccount(tx: Transaction, id: string): Promise<void> {
  const found = await tx.query('select from accounts where id = $1 for key share', [id]);
  if (found.length === 0) throw notFound('account');
}

/** Returns a member of a tenant. 404 for others. */
export async function findMember(tx: Pick<TenantStorage, 'query'>, tenantId: string, id: string): Promise<MemberRow> {
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
export async function insertMember(
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

/** Adds a person to a team on behalf of the operator, and creates the account, with a proven address, if needed. */
export const addMember = (storage: Storage, tenantId: string, person: Joiner, role: Role, now: Date): Promise<string> =>
  storage.forAccount(person.id).transaction(async tx => {
    if (!person.exists) await insertAccount(tx, person, true, now);
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

/** The member who changes or removes another one. `check` may refuse to change that member. */
type Manager = Author & { role: Role; memberId: string; check(before: MemberRow): void };

/** Locks the tenant, and returns a member whom the actor may change so. Throws like `updateMember`. */
async function lockChangeable(
  tx: Transaction,
  tenantId: string,
  actor: Manager,
  id: string,
  change: MemberPatch,
): Promise<MemberRow> {
  await lockTenant(tx, tenantId);
  const member = await findMember(tx, tenantId, id);
  actor.check(member);
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
    await markTenant(tx, tenantId, 'assignment');
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
  await unassignMost(tenant, actor, id, tx => lockChangeable(tx, tenant.tenantId, actor, id, change));
}

async function unassignAll(
  tx: Transaction,
  tenantId: string,
  id: string,
  actor: EventWriting['author'],
): Promise<void> {
  while ((await unassignMember(tx, tenantId, id, actor)) === UNASSIGN_BATCH);
}

/** Locks the tenant, and returns a member whom the actor may remove. 403 beyond the actor's own rank, 409 for the last owner. */
async function lockRemovable(tx: Transaction, tenantId: string, actor: Manager, id: string): Promise<MemberRow> {
  await lockTenant(tx, tenantId);
  const member = await findMember(tx, tenantId, id);
  actor.check(member);
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
  unassignMost(tenant, actor, id, tx => lockRemovable(tx, tenant.tenantId, actor, id));

/** Unassigns conversations of a member until few are left. `check` throws to end it. */
export async function unassignMost(
  { tenantId, transaction }: TenantStorage,
  actor: EventWriting['author'],
  id: string,
  check: (tx: Transaction) => Promise<unknown>,
): Promise<void> {
  const unassign = () =>
    transaction(async tx => {
      await check(tx);
      if (!(await hasManyConversations(tx, tenantId, id))) return false;
      const sql = `update members set availability = 'away' where tenant_id = $1 and id = $2 and availability <> 'away'`;
      await tx.query(sql, [tenantId, id]);
      await unassignMember(tx, tenantId, id, actor);
      return true;
    });
  while (await unassign());
}

/** Deletes the views of a member who was just deleted, and unassigns their conversations. */
export async function deleteRemains(
  tx: Transaction,
  tenantId: string,
  id: string,
  actor: EventWriting['author'],
): Promise<void> {
  await deleteViewsOf(tx, tenantId, id);
  await unassignAll(tx, tenantId, id, actor);
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
    await deleteRemains(tx, tenantId, id, actor);
    return member;
  });

/** Creates the first tenant and its owner by the setup link. 404 when it is invalid, or there is an owner. */
export const insertFirstOwner = (
  storage: Storage,
  link: Buffer,
  { owner, tenant, session }: { owner: NewAccount; tenant: { id: string; name: string }; session: NewSession },
  now: Date,
): Promise<void> =>
  storage.forAccount(owner.id).transaction(async tx => {
    if (!(await redeemSetupLink(tx, link, now))) throw linkNotValid();
    await insertAccount(tx, owner, true, now);
    await addTenant(tx, tenant.id, tenant.name, now);
    await insertMember(tx, tenant.id, owner.id, 'owner', now);
    await insertSession(tx, owner.id, session, now);
  }, tenant.id);
