import { z } from 'zod';
import { DAY_MS } from '../../domain/durations.ts';
import { newUuid, toTypeId, typeId } from '../../domain/ids.ts';
import { linkTo } from '../../domain/links.ts';
import {
  Acceptance,
  INVITATION_DAYS,
  Invitation,
  InvitationNotice,
  Member,
  MemberPatch,
  mailboxOf,
  NewInvitation,
  nameInMail,
  requireRankFor,
  SentInvitation,
} from '../../domain/members.ts';
import { pageOf, pageQuery } from '../../domain/pages.ts';
import { fieldFault, Problem } from '../../domain/problem.ts';
import { LoggedIn } from '../../domain/sessions.ts';
import { type Letter, sendsMails } from '../../platform/mail.ts';
import { hashPassword } from '../../platform/passwords.ts';
import { randomSecret, sha256 } from '../../platform/secrets.ts';
import { insertAuditEntry, SYSTEM_ACTOR } from '../../storage/audit-log.ts';
import {
  acceptInvitation as acceptInvitationRow,
  deleteInvitation,
  disownAccount,
  type FoundInvitation,
  findInvitation,
  type InvitationRow,
  insertInvitation,
  listInvitations as listInvitationRows,
  relieveAccount,
} from '../../storage/invitations.ts';
import {
  deleteMember,
  type Joiner,
  listMembers as listMemberRows,
  type MemberRow,
  relieveMember,
  relieveReader,
  updateMember,
} from '../../storage/members.ts';
import { startSession } from '../../storage/sessions.ts';
import { findTenant } from '../../storage/tenants.ts';
import type { SessionCaller } from '../caller.ts';
import { authorOf } from '../credentials/author.ts';
import { refuseWhilePasswordsQueued, verifyLogin } from '../credentials/login.ts';
import { beginSession } from '../credentials/sessions.ts';
import type { ApiDeps } from '../deps.ts';
import { operation, reply, type UnreadRequest } from '../operation.ts';
import { withAuditEntry } from '../pipeline/audit-trail.ts';
import { deviceOf, replyLoggedIn } from '../pipeline/logged-in.ts';

const shared = { tag: 'Members' } as const;
const MemberPath = z.object({ id: typeId('member') });
const InvitationPath = z.object({
  token: z.string().max(200).meta({ description: 'The token of the invitation link', example: 'qH3vYc8kTz5mWn1r' }),
});

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
  problems: ['last-owner'],
  prepare: ({ caller, params, body }, { storage }) =>
    relieveReader(storage.forTenant(caller.tenantId), managerOf(caller), params.id, body),
  async handle({ caller, params, body }, { storage }) {
    const tenant = storage.forTenant(caller.tenantId);
    const { member, isChanged } = await updateMember(tenant, managerOf(caller), params.id, body);
    return reply({ body: presentMember(member), unchanged: !isChanged });
  },
});

const managerOf = (caller: SessionCaller) => ({
  ...authorOf(caller),
  role: caller.role,
  memberId: caller.memberId,
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
  problems: ['last-owner'],
  prepare: ({ caller, params }, { storage }) =>
    relieveMember(storage.forTenant(caller.tenantId), managerOf(caller), params.id),
  async handle({ caller, params }, { storage }) {
    const row = await deleteMember(storage.forTenant(caller.tenantId), managerOf(caller), params.id);
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

export const readInvitation = operation({
  ...shared,
  id: 'readInvitation',
  method: 'get',
  path: '/v1/invitations/{token}',
  credentials: [],
  summary: 'Get an invitation by the token of its link',
  description: 'For the page of the link: who invites, in which role, and whether the address already has an account.',
  params: InvitationPath,
  status: 200,
  response: InvitationNotice,
  problems: ['link-not-valid', 'database-unavailable', 'rate-limit-exceeded'],
  async handle({ params, clientIp, limitIssue }, { storage, now }) {
    await limitIssue('invitation-ip', clientIp());
    const found = await findInvitation(storage, sha256(params.token), now());
    return {
      tenant_name: found.tenant_name,
      email: found.email,
      role: found.role,
      account_exists: found.account_id !== null,
      not_my_account_allowed: found.is_mailed && found.account_id !== null && !found.is_proven,
      expires_at: found.expires_at,
    };
  },
});

export const acceptInvitation = operation({
  ...shared,
  id: 'acceptInvitation',
  method: 'post',
  path: '/v1/invitations/{token}/accept',
  credentials: [],
  summary: 'Accept an invitation and log in',
  description:
    'If the address has an account, `password` must be its password, and the account keeps its name. Otherwise, an account is created with the name and password of the body. With `not_my_account`, an existing account that has not proven the address is deleted with its sessions and memberships, and a new one is created; only the mailed link accepts that. An invitation can be accepted only once.',
  sameOrigin: true,
  params: InvitationPath,
  body: Acceptance,
  status: 200,
  sends: ['Set-Cookie'],
  response: LoggedIn,
  problems: [
    'link-not-valid',
    'login-failed',
    'totp-required',
    'not-allowed',
    'member-exists',
    'limit-reached',
    'cross-site-request',
    'rate-limit-exceeded',
    'database-unavailable',
  ],
  handle: (request, deps) =>
    withAuditEntry('member.joined', request, deps, async transactionDeps => {
      const { storage, now } = transactionDeps;
      const tokenHash = sha256(request.params.token);
      const invitation = await findInvitation(storage, tokenHash, now());
      const replaces = request.body.not_my_account === true;
      if (replaces) requireReplaceable(invitation);
      const person = await joinerOf(invitation, request, transactionDeps);
      const started = beginSession(deviceOf(request), transactionDeps);
      if (replaces && invitation.account_id !== null) {
        await relieveAccount(deps.storage, invitation.account_id);
        await removeAccount(invitation, tokenHash, request, transactionDeps);
      }
      await acceptInvitationRow(storage, invitation, person, now());
      await startSession(storage.forAccount(person.id), started.row, now());
      const actor = { accountId: person.id, tenantId: invitation.tenant_id };
      return { actor, result: await replyLoggedIn(storage, person.id, started) };
    }),
});

function requireReplaceable({ is_mailed, is_proven }: FoundInvitation): void {
  if (!is_mailed) throw new Problem('not-allowed', 'Only the mailed link of an invitation accepts `not_my_account`.');
  if (is_proven) throw new Problem('not-allowed', 'The owner of the account has proven the address.');
}

/** Returns the person who accepts an invitation: the account of the address after a login, or a new one. */
async function joinerOf(
  { email, account_id }: FoundInvitation,
  request: UnreadRequest<unknown> & { body: z.output<typeof Acceptance> },
  deps: ApiDeps,
): Promise<Joiner> {
  const { name, password, totp, not_my_account } = request.body;
  if (password === undefined) throw fieldFault('/password', 'required', 'Is required.');
  refuseWhilePasswordsQueued();
  if (account_id !== null && not_my_account !== true)
    return { ...(await verifyLogin({ email, password, totp }, request, deps)), exists: true };
  if (name === undefined) throw fieldFault('/name', 'required', 'Is required for a new account.');
  return { id: newUuid(), email, name, password_hash: await hashPassword(password), exists: false };
}

/**
 * Removes the unproven account of an address, and records in each of its tenants that it is no longer a member. The entries
 * omit the IP address of the request, because its sender is not a member of these tenants.
 */
async function removeAccount(
  invitation: FoundInvitation,
  tokenHash: Buffer,
  { requestId }: UnreadRequest<unknown>,
  { storage, now, log }: ApiDeps,
): Promise<void> {
  for (const { tenantId, memberId } of await disownAccount(storage, invitation, tokenHash, now())) {
    const target_id = toTypeId('member', memberId);
    log.warn(
      { member: target_id, tenant: toTypeId('tenant', tenantId) },
      'a member lost an address that was not theirs',
    );
    const about = { action: 'member.removed', target_id, target_name: invitation.email } as const;
    const entry = { ...SYSTEM_ACTOR, ...about, fields: ['not_my_account'], request_id: requestId };
    await insertAuditEntry(storage.forTenant(tenantId), entry, now());
  }
}

/** Every operation on members and invitations; a fixed path stands before a pattern. */
export const memberRoutes = [
  listMembers,
  inviteMember,
  listInvitations,
  revokeInvitation,
  patchMember,
  removeMember,
  readInvitation,
  acceptInvitation,
];
