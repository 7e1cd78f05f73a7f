import { z } from 'zod';
import { DAY_MS } from '../../domain/durations.ts';
import { toTypeId, typeId } from '../../domain/ids.ts';
import { linkTo } from '../../domain/links.ts';
import { pageOf, pageQuery } from '../../domain/pages.ts';
import {
  INVITATION_DAYS,
  Invitation,
  Member,
  MemberPatch,
  mailboxOf,
  NewInvitation,
  nameInMail,
  requireRankFor,
  SentInvitation,
} from '../../domain/team/members.ts';
import { type Letter, sendsMails } from '../../platform/mail.ts';
import { randomSecret, sha256 } from '../../platform/secrets.ts';
import {
  deleteInvitation,
  findOpenInvitation,
  type InvitationRow,
  insertInvitation,
  listInvitations as listInvitationRows,
} from '../../storage/team/invitations.ts';
import {
  deleteMember,
  findMember,
  listMembers as listMemberRows,
  type MemberRow,
  relieveMember,
  relieveReader,
  updateMember,
} from '../../storage/team/members.ts';
import { findTenant } from '../../storage/tenants/tenants.ts';
import type { SessionCaller } from '../caller.ts';
import { authorOf } from '../credentials/author.ts';
import { settingsTagOf } from '../http/etag.ts';
import { type OperationReply, operation, reply } from '../operation.ts';

const shared = { tag: 'Members' } as const;
const MemberPath = z.object({ id: typeId('member') });

const presentMember = (row: MemberRow) => ({
  id: toTypeId('member', row.id),
  email: row.email,
  name: row.name,
  role: row.role,
  totp_enabled: row.totp_confirmed_at !== null,
  availability: row.availability,
  capacity: row.capacity,
  created_at: row.created_at,
});

/**
 * The tag of a member. `If-Match` compares all but the availability, which members change themselves, and which ends while a
 * change takes their conversations from them.
 */
function tagOf(row: MemberRow): string {
  const { availability, ...settings } = presentMember(row);
  return settingsTagOf(settings, presentMember(row));
}

/** Returns a reply with a member. */
const replyMember = (row: MemberRow, parts: OperationReply = {}) =>
  reply({ ...parts, headers: { ETag: tagOf(row) }, body: presentMember(row) });

const presentInvitation = ({ mail_status, mail_error, mail_at, ...row }: InvitationRow) => ({
  ...row,
  id: toTypeId('invitation', row.id),
  mail: mail_status && mail_at && { status: mail_status, error: mail_error, at: mail_at },
});

export const listMembers = operation({
  ...shared,
  id: 'listMembers',
  method: 'get',
  path: '/v1/members',
  credentials: ['session'],
  summary: 'List team members in the order in which they joined',
  description: 'Members who accepted their invitation. Open invitations have a list of their own.',
  right: 'members:read',
  query: z.object(pageQuery),
  status: 200,
  response: pageOf(Member),
  async handle({ caller, query, after, page }, { storage }) {
    return page(await listMemberRows(storage.forTenant(caller.tenantId), query.limit, after), presentMember);
  },
});

export const readMember = operation({
  ...shared,
  id: 'readMember',
  method: 'get',
  path: '/v1/members/{id}',
  credentials: ['session'],
  summary: 'Get a team member',
  right: 'members:read',
  params: MemberPath,
  status: 200,
  response: Member,
  etag: true,
  async handle({ caller, params }, { storage }) {
    return replyMember(await findMember(storage.forTenant(caller.tenantId), caller.tenantId, params.id));
  },
});

export const inviteMember = operation({
  ...shared,
  id: 'inviteMember',
  method: 'post',
  path: '/v1/members',
  credentials: ['session'],
  summary: 'Invite a person to the team',
  description: `The response contains the link, which is shown only once; if a mail server is configured, a link is also sent by e-mail, and tried again until the mail server accepts it: the invitation shows how far it got. The mailed link is another one: only its use proves the address. Both are valid for ${INVITATION_DAYS} days and replace an earlier invitation for the same address. Only owners can invite owners. At most 5 invitations per address and 100 per tenant can be created in an hour.`,
  right: 'members:manage',
  audit: 'member.invited',
  showsSecret: true,
  body: NewInvitation,
  status: 201,
  sends: ['Location'],
  response: SentInvitation,
  problems: ['member-exists', 'limit-reached', 'rate-limit-exceeded', 'database-unavailable'],
  async handle({ caller, body, limitIssue }, deps) {
    requireRankFor(caller.role, body.role);
    await limitIssue('invitation-tenant', caller.tenantId);
    await limitIssue('invitation', `${caller.tenantId}\n${mailboxOf(body.email)}`);
    const token = randomSecret();
    const mailedToken = sendsMails(deps.config) ? randomSecret() : undefined; // never shown to the inviter, so it proves the address
    const at = deps.now();
    const hashes = { token_hash: sha256(token), mailed_token_hash: mailedToken ? sha256(mailedToken) : null };
    const expires_at = new Date(at.getTime() + INVITATION_DAYS * DAY_MS);
    const tenant = deps.storage.forTenant(caller.tenantId);
    const linkWith = (secret: string) => linkTo(deps.config.BASE_URL, 'invitation', secret);
    const { name: tenantName = 'the team' } = (await findTenant(tenant)) ?? {};
    const mail =
      mailedToken === undefined
        ? undefined
        : {
            seals: deps.keychain,
            letter: invitationLetter(caller, nameInMail(tenantName), linkWith(mailedToken)),
          };
    const invitation = presentInvitation(await insertInvitation(tenant, { ...body, ...hashes, expires_at }, mail, at));
    return reply({
      headers: { Location: `/v1/members/invitations/${invitation.id}` },
      body: { ...invitation, link: linkWith(token), mail: mail ? 'queued' : 'none' },
    });
  },
});

function invitationLetter({ name, email }: SessionCaller, tenantName: string, link: string): Letter {
  const inviter = nameInMail(name) || email;
  return {
    subject: `Join ${tenantName}`,
    text: `${inviter} has invited you to join ${tenantName}.\n\nAccept the invitation within ${INVITATION_DAYS} days:\n${link}\n`,
  };
}

export const patchMember = operation({
  ...shared,
  id: 'patchMember',
  method: 'patch',
  path: '/v1/members/{id}',
  credentials: ['session'],
  summary: 'Change the role, availability or capacity of a member',
  description:
    'A role takes effect with the next request of the member. Only owners can make a member an owner or change the role of an owner. Agents can only change their own availability. A member who is away keeps their conversations; assignment rules give them no more. With a role that cannot answer conversations, a member is away, and theirs become unassigned.',
  right: 'availability:write',
  audit: 'member.updated',
  params: MemberPath,
  body: MemberPatch,
  status: 200,
  response: Member,
  ifMatch: true,
  etag: true,
  problems: ['last-owner'],
  prepare: ({ caller, params, body, requireTag }, { storage }) =>
    relieveReader(storage.forTenant(caller.tenantId), managerOf(caller, requireTag), params.id, body),
  async handle({ caller, params, body, requireTag }, { storage }) {
    const tenant = storage.forTenant(caller.tenantId);
    const { member, isChanged } = await updateMember(tenant, managerOf(caller, requireTag), params.id, body);
    return replyMember(member, { unchanged: !isChanged });
  },
});

const managerOf = (caller: SessionCaller, requireTag: (etag: string, part: 'settings') => void) => ({
  ...authorOf(caller),
  role: caller.role,
  memberId: caller.memberId,
  check: (before: MemberRow) => requireTag(tagOf(before), 'settings'),
});

export const removeMember = operation({
  ...shared,
  id: 'removeMember',
  method: 'delete',
  path: '/v1/members/{id}',
  credentials: ['session'],
  summary: 'Remove a member from the team',
  description:
    'Takes effect with the next request of the member. Their conversations become unassigned. Only owners can remove an owner.',
  right: 'members:manage',
  audit: 'member.removed',
  params: MemberPath,
  status: 204,
  ifMatch: true,
  problems: ['last-owner'],
  prepare: ({ caller, params, requireTag }, { storage }) =>
    relieveMember(storage.forTenant(caller.tenantId), managerOf(caller, requireTag), params.id),
  async handle({ caller, params, requireTag }, { storage }) {
    const row = await deleteMember(storage.forTenant(caller.tenantId), managerOf(caller, requireTag), params.id);
    return reply({ status: 204, body: presentMember(row) });
  },
});

export const listInvitations = operation({
  ...shared,
  id: 'listInvitations',
  method: 'get',
  path: '/v1/members/invitations',
  credentials: ['session'],
  summary: 'List open invitations, newest first',
  description: 'Invitations that are neither accepted nor expired, without their links.',
  right: 'members:manage',
  query: z.object(pageQuery),
  status: 200,
  response: pageOf(Invitation),
  async handle({ caller, query, after, page }, { storage, now }) {
    const tenant = storage.forTenant(caller.tenantId);
    return page(await listInvitationRows(tenant, query.limit, after, now()), presentInvitation);
  },
});

export const readOpenInvitation = operation({
  ...shared,
  id: 'readOpenInvitation',
  method: 'get',
  path: '/v1/members/invitations/{id}',
  credentials: ['session'],
  summary: 'Get an open invitation, without its links',
  right: 'members:manage',
  params: z.object({ id: typeId('invitation') }),
  status: 200,
  response: Invitation,
  etag: true,
  async handle({ caller, params }, { storage, now }) {
    return presentInvitation(await findOpenInvitation(storage.forTenant(caller.tenantId), params.id, now()));
  },
});

export const revokeInvitation = operation({
  ...shared,
  id: 'revokeInvitation',
  method: 'delete',
  path: '/v1/members/invitations/{id}',
  credentials: ['session'],
  summary: 'Revoke an invitation',
  description: 'The link stops working at once. Members who already accepted it are not affected.',
  right: 'members:manage',
  audit: 'invitation.revoked',
  params: z.object({ id: typeId('invitation') }),
  status: 204,
  async handle({ caller, params }, { storage }) {
    await deleteInvitation(storage.forTenant(caller.tenantId), params.id);
  },
});

/** Every operation on members and the invitations of a tenant; a fixed path stands before a pattern. */
export const memberRoutes = [
  listMembers,
  inviteMember,
  listInvitations,
  readOpenInvitation,
  revokeInvitation,
  readMember,
  patchMember,
  removeMember,
];
