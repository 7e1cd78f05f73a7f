import { readAccount } from '../api/pipeline/logged-in.ts';
import { parseTypeId } from '../domain/ids.ts';
import { PasswordResetRequest } from '../domain/team/accounts.ts';
import { findLogin, removeAuthenticator } from '../storage/team/accounts.ts';
import { auditByCommand, type CommandContext } from './command.ts';
import { parseOptions } from './parse-options.ts';
import { UsageError } from './usage-error.ts';

/** `totp remove --email E`: removes a lost authenticator and its recovery codes. Logins then require only the password. */
export async function removeTotp({ storage, now }: CommandContext, options: { email: string }) {
  const { email } = parseOptions(PasswordResetRequest, { email: options.email });
  const login = await findLogin(storage, email);
  if (!login) throw new UsageError('--email: no account has this address');
  if (login.totp_sealed === null) throw new UsageError('--email: the account has no authenticator');
  return storage.inTransaction(async transaction => {
    await removeAuthenticator(transaction.forAccount(login.id));
    const account = await readAccount(transaction, login.id);
    for (const { tenant, member_id } of account.memberships) {
      const ofTenant = transaction.forTenant(parseTypeId('tenant', tenant.id) as string);
      await auditByCommand(ofTenant, 'totp.removed', { id: member_id, email }, now);
    }
    return account;
  });
}
