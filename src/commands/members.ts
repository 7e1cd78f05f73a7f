import { newUuid, toTypeId } from '../domain/ids.ts';
import { NewMember } from '../domain/team/members.ts';
import { hashPassword, verifyPassword } from '../platform/passwords.ts';
import type { Storage } from '../storage/database/orm.ts';
import { findLogin } from '../storage/team/accounts.ts';
import { addMember, type Joiner } from '../storage/team/members.ts';
import { type CommandContext, withAuditEntry } from './command.ts';
import { parseOptions } from './parse-options.ts';
import { type TenantOption, tenantOf } from './tenant-option.ts';
import { UsageError } from './usage-error.ts';

/**
 * `member create --tenant T --email E --role R`, with the password on standard input: creates a member of the team.
 *
 * An existing account with this address joins with its current password.
 */
export async function createMember(context: CommandContext, options: TenantOption & { email: string; role: string }) {
  const tenant = await tenantOf(context, options);
  const fields = { email: options.email, role: options.role, password: await context.readInput() };
  const { email, role, password } = parseOptions(NewMember, fields, { password: 'The password on standard input' });
  const person = await joinerOf(context.storage, email, password);
  return withAuditEntry(context, 'member.created', async storage => {
    const id = await addMember(storage, tenant.tenantId, person, role, context.now);
    const shown = { id: toTypeId('member', id), email, role, created_at: context.now };
    return { tenantId: tenant.tenantId, shown };
  });
}

async function joinerOf(storage: Storage, email: string, password: string): Promise<Joiner> {
  const account = await findLogin(storage, email);
  if (!account) return { id: newUuid(), email, name: '', password_hash: await hashPassword(password), exists: false };
  if (await verifyPassword(password, account.password_hash)) return { ...account, exists: true };
  throw new UsageError('--email: an account with this address exists and has a different password');
}
