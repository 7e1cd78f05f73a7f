import { toTypeId } from '../domain/ids.ts';
import { NewTenant } from '../domain/tenants.ts';
import { insertTenant } from '../storage/tenants.ts';
import { type CommandContext, type Options, required } from './command.ts';

/** `tenant create --name N`: makes a tenant and gives it. */
export async function createTenant({ storage, now }: CommandContext, options: Options) {
  const { name } = NewTenant.parse({ name: required(options, 'name') });
  const row = await insertTenant(storage, name, now);
  return { ...row, id: toTypeId('tenant', row.id) };
}
