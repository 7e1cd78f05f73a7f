import { NewApiKey, OverlapHours, presentApiKey } from '../domain/api-keys.ts';
import { parseTypeId } from '../domain/ids.ts';
import { findApiKey, insertApiKey, listApiKeys, revokeApiKey, rotateApiKey } from '../storage/api-keys.ts';
import { type CommandContext, doWithLine, type Options, required, UsageError } from './command.ts';
import { tenantOf } from './tenant-option.ts';

const list = (value: string | boolean | undefined): string[] | undefined =>
  typeof value === 'string' ? value.split(',').map(part => part.trim()) : undefined;

/**
 * `api-key create --tenant T --name N [--public] [--scopes a,b] [--expires-at TIME] [--origins a,b]`: makes a key.
 * A server key comes with its `secret` and `api_key`, this once; a public key never shows either.
 */
export async function createApiKey(context: CommandContext, options: Options) {
  const { tenantId } = await tenantOf(context, options);
  const key = NewApiKey.parse({
    name: required(options, 'name'),
    kind: options.public ? 'public' : 'server',
    scopes: list(options.scopes),
    expires_at: options['expires-at'],
    allowed_origins: list(options.origins),
  });
  return doWithLine(context, 'api-key.created', async storage => {
    const { row, shownOnce } = await insertApiKey(storage.forTenant(tenantId), context.seals, key, context.now);
    return { tenantId, shown: presentApiKey(row, context.now, shownOnce) };
  });
}

/** `api-key list --tenant T`: every key of the tenant, without secrets. */
export async function listTenantKeys(context: CommandContext, options: Options) {
  const rows = await listApiKeys(await tenantOf(context, options));
  return { data: rows.map(row => presentApiKey(row, context.now)) };
}

async function keyOf({ storage }: CommandContext, options: Options) {
  const id = parseTypeId('key', required(options, 'id'));
  const row = id === undefined ? undefined : await findApiKey(storage, id);
  if (!row) throw new UsageError('--id: API key not found');
  return row;
}

/** `api-key rotate --id K [--overlap-hours N]`: new values, shown this once; the old ones stay valid for the overlap. */
export async function rotateKey(context: CommandContext, options: Options) {
  const { tenant_id: tenantId, id } = await keyOf(context, options);
  const overlap = OverlapHours.parse(Number(options['overlap-hours'] ?? 24));
  return doWithLine(context, 'api-key.rotated', async storage => {
    const tenant = storage.forTenant(tenantId);
    const { row, shownOnce } = await rotateApiKey(tenant, context.seals, id, overlap, context.now);
    return { tenantId, shown: presentApiKey(row, context.now, shownOnce) };
  });
}

/** `api-key revoke --id K`: final, and heard by every process within a second. */
export async function revokeKey(context: CommandContext, options: Options) {
  const { tenant_id: tenantId, id } = await keyOf(context, options);
  return doWithLine(context, 'api-key.revoked', async storage => {
    const row = await revokeApiKey(storage.forTenant(tenantId), id, context.now);
    return { tenantId, shown: presentApiKey(row, context.now) };
  });
}
