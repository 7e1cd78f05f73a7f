import { toTypeId } from '../../domain/ids.ts';
import { notFound } from '../../domain/problem.ts';
import { type AccountRow, findAccount, type MembershipRow } from '../../storage/accounts.ts';
import type { Storage } from '../../storage/orm.ts';
import type { Beginning, Device } from '../credentials/sessions.ts';
import { type Admission, type OperationReply, reply } from '../operation.ts';

const presentAccount = (account: AccountRow, memberships: MembershipRow[]) => ({
  account_id: toTypeId('account', account.id),
  email: account.email,
  name: account.name,
  totp_enabled: account.totp_confirmed_at !== null,
  memberships: memberships.map(({ tenant_id, tenant_name, member_id, role }) => ({
    tenant: { id: toTypeId('tenant', tenant_id), name: tenant_name },
    member_id: toTypeId('member', member_id),
    role,
  })),
});

/** A person as the API shows it, with every tenant that they belong to. */
export async function readAccount(storage: Storage, accountId: string) {
  const { account, memberships } = await findAccount(storage.forAccount(accountId));
  if (!account) throw notFound('account');
  return presentAccount(account, memberships);
}

/** The browser that a request comes from, as the list of sessions shows it. */
export const deviceOf = ({ header, clientIp }: Pick<Admission<unknown>, 'header' | 'clientIp'>): Device => ({
  userAgent: header('user-agent') ?? '',
  ip: clientIp(),
});

/** The reply to whoever has just logged in, in whatever way: the cookie, who it is, the token for writes. */
export async function replyLoggedIn(
  storage: Storage,
  accountId: string,
  { cookie, csrfToken }: Beginning,
): Promise<OperationReply> {
  return reply({
    headers: { 'Set-Cookie': cookie },
    body: { member: await readAccount(storage, accountId), csrf_token: csrfToken },
  });
}
