import { z } from 'zod';
import { newUuid, toTypeId } from '../../domain/ids.ts';
import { fieldFault, Problem } from '../../domain/problem.ts';
import { Acceptance, InvitationNotice } from '../../domain/team/invitations.ts';
import { LoggedIn } from '../../domain/team/sessions.ts';
import { hashPassword } from '../../platform/passwords.ts';
import { sha256 } from '../../platform/secrets.ts';
import { insertAuditEntry, SYSTEM_ACTOR } from '../../storage/team/audit-log.ts';
import {
  acceptInvitation as acceptInvitationRow,
  disownAccount,
  type FoundInvitation,
  findInvitation,
  relieveAccount,
} from '../../storage/team/invitations.ts';
import type { Joiner } from '../../storage/team/members.ts';
import { startSession } from '../../storage/team/sessions.ts';
import { refuseWhilePasswordsQueued, verifyLogin } from '../credentials/login.ts';
import { beginSession } from '../credentials/sessions.ts';
import type { ApiDeps } from '../deps.ts';
import { operation, type UnreadRequest } from '../operation.ts';
import { withAuditEntry } from '../pipeline/audit-trail.ts';
import { deviceOf, replyLoggedIn } from '../pipeline/logged-in.ts';

const shared = { tag: 'Members' } as const;
const InvitationPath = z.object({
  token: z.string().max(200).meta({ description: 'The token of the invitation link', example: 'qH3vYc8kTz5mWn1r' }),
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

/** Every operation with the token of an invitation. */
export const invitationRoutes = [readInvitation, acceptInvitation];
