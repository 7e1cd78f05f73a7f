import { toTypeId } from '../domain/ids.ts';
import { NewTenant } from '../domain/tenants.ts';
import { insertTenant } from '../storage/tenants.ts';
import { type CommandContext, leaveLine, type Options, required } from './command.ts';

/** `tenant create --name N`: makes a tenant and gives it. */
export async function createTenant(context: CommandContext, options: Options) {
  const { storage, now } = context;
  const { name } = NewTenant.parse({ name: required(options, 'name') });
  const row = await insertTenant(storage, name, now);
  const tenant = { ...row, id: toTypeId('tenant', row.id) };
  await leaveLine(context, storage.forTenant(row.id), 'tenant.created', tenant);
  return tenant;
}
