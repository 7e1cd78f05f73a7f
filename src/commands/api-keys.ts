import { NewApiKey, OverlapHours, presentApiKey } from '../domain/api-keys.ts';
import { parseTypeId } from '../domain/ids.ts';
import { findApiKey, insertApiKey, listApiKeys, revokeApiKey, rotateApiKey } from '../storage/api-keys.ts';
import { type CommandContext, type Options, required, UsageError, withAuditEntry } from './command.ts';
import { tenantOf } from './tenant-option.ts';

const list = (value: string | boolean | undefined): string[] | undefined =>
  typeof value === 'string' ? value.split(',').map(part => part.trim()) : undefined;

/**
 * `api-key create --tenant T --name N [--public] [--scopes a,b] [--expires-at TIME] [--origins a,b]`: creates a key. A
 * server key is printed with its `secret` and `api_key`, only this once; those of a public key are never shown.
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
  return withAuditEntry(context, 'api-key.created', async storage => {
    const { row, shownOnce } = await insertApiKey(storage.forTenant(tenantId), context.seals, key, context.now);
    return { tenantId, shown: presentApiKey(row, context.now, shownOnce) };
  });
}

/** `api-key list --tenant T`: lists the tenant's keys, without secrets. */
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

/**
 * `api-key rotate --id K [--overlap-hours N]`: creates new values, shown only once. The old ones stay valid for the
 * overlap.
 */
export async function rotateKey(context: CommandContext, options: Options) {
  const { tenant_id: tenantId, id } = await keyOf(context, options);
  const overlap = OverlapHours.parse(Number(options['overlap-hours'] ?? 24));
  return withAuditEntry(context, 'api-key.rotated', async storage => {
    const tenant = storage.forTenant(tenantId);
    const { row, shownOnce } = await rotateApiKey(tenant, context.seals, id, overlap, context.now);
    return { tenantId, shown: presentApiKey(row, context.now, shownOnce) };
  });
}

/** `api-key revoke --id K`: revokes a key for good. Every process applies it within a second. */
export async function revokeKey(context: CommandContext, options: Options) {
  const { tenant_id: tenantId, id } = await keyOf(context, options);
  return withAuditEntry(context, 'api-key.revoked', async storage => {
    const row = await revokeApiKey(storage.forTenant(tenantId), id, context.now);
    return { tenantId, shown: presentApiKey(row, context.now) };
  });
}
