import { toTypeId } from '../../domain/ids.ts';
import { notFound } from '../../domain/problem.ts';
import type { Storage } from '../../storage/database/orm.ts';
import { type AccountRow, findAccount, type MembershipRow } from '../../storage/team/accounts.ts';
import type { Device, StartedSession } from '../credentials/sessions.ts';
import { type OperationReply, reply, type UnreadRequest } from '../operation.ts';

const presentAccount = (account: AccountRow, memberships: MembershipRow[]) => ({
  account_id: toTypeId('account', account.id),
  email: account.email,
  name: account.name,
  totp_enabled: account.totp_confirmed_at !== null,
  memberships: memberships.map(({ tenant_id, tenant_name, is_demo, member_id, role }) => ({
    tenant: { id: toTypeId('tenant', tenant_id), name: tenant_name, demo: is_demo },
    member_id: toTypeId('member', member_id),
    role,
  })),
});

/** Returns a person as the API shows it, with all memberships. */
export async function readAccount(storage: Storage, accountId: string) {
  const { account, memberships } = await findAccount(storage.forAccount(accountId));
  if (!account) throw notFound('account');
  return presentAccount(account, memberships);
}

/** Returns the browser of a request, as the list of sessions shows it. */
export const deviceOf = ({ header, clientIp }: Pick<UnreadRequest<unknown>, 'header' | 'clientIp'>): Device => ({
  userAgent: header('user-agent') ?? '',
  ip: clientIp(),
});

/** Returns the reply to any kind of login: the cookie, the account, the token for writes. */
export async function replyLoggedIn(
  storage: Storage,
  accountId: string,
  { cookie, csrfToken }: StartedSession,
): Promise<OperationReply> {
  return reply({
    headers: { 'Set-Cookie': cookie },
    body: { member: await readAccount(storage, accountId), csrf_token: csrfToken },
  });
}
