import { NewTenant, presentTenant } from '../domain/tenants.ts';
import { insertTenant } from '../storage/tenants.ts';
import { type CommandContext, doWithLine, type Options, required } from './command.ts';

/** `tenant create --name N`: makes a tenant and gives it. */
export async function createTenant(context: CommandContext, options: Options) {
  const { name } = NewTenant.parse({ name: required(options, 'name') });
  return doWithLine(context, 'tenant.created', async storage => {
    const row = await insertTenant(storage, name, context.now);
    return { tenantId: row.id, shown: presentTenant(row) };
  });
}
