import { parseTypeId } from '../domain/ids.ts';
import { ApiKeyRotation, NewApiKey, presentApiKey } from '../domain/team/api-keys.ts';
import { findApiKey, insertApiKey, listApiKeys, revokeApiKey, rotateApiKey } from '../storage/team/api-keys.ts';
import { type CommandContext, withAuditEntry } from './command.ts';
import { parseOptions } from './parse-options.ts';
import { type TenantOption, tenantOf } from './tenant-option.ts';
import { UsageError } from './usage-error.ts';

const list = (value: string | undefined): string[] | undefined => value?.split(',').map(part => part.trim());

interface NewKeyOptions extends TenantOption {
  name: string;
  public?: boolean | undefined;
  scopes?: string | undefined;
  'expires-at'?: string | undefined;
  origins?: string | undefined;
}

interface KeyOption {
  id: string;
}

/**
 * `api-key create --tenant T --name N [--public] [--scopes a,b] [--expires-at TIME] [--origins a,b]`: creates a key. A
 * server key is printed with its `secret` and `api_key`, only this once; those of a public key are never shown.
 */
export async function createApiKey(context: CommandContext, options: NewKeyOptions) {
  const { tenantId } = await tenantOf(context, options);
  const fields = {
    name: options.name,
    kind: options.public ? 'public' : 'server',
    scopes: list(options.scopes),
    expires_at: options['expires-at'],
    allowed_origins: list(options.origins),
  };
  const key = parseOptions(NewApiKey, fields, { allowed_origins: '--origins' });
  if (key.expires_at && key.expires_at <= context.now) throw new UsageError('--expires-at: Must be in the future.');
  return withAuditEntry(context, 'api_key.created', async storage => {
    const { row, shownOnce } = await insertApiKey(storage.forTenant(tenantId), context.seals, key, context.now);
    return { tenantId, shown: presentApiKey(row, context.now, shownOnce) };
  });
}

/** `api-key list --tenant T`: lists the tenant's keys, without secrets. */
export async function listTenantKeys(context: CommandContext, options: TenantOption) {
  const rows = await listApiKeys(await tenantOf(context, options));
  return { data: rows.map(row => presentApiKey(row, context.now)) };
}

async function keyOf({ storage }: CommandContext, options: KeyOption) {
  const id = parseTypeId('key', options.id);
  const row = id === undefined ? undefined : await findApiKey(storage, id);
  if (!row) throw new UsageError('--id: API key not found');
  return row;
}

/**
 * `api-key rotate --id K [--overlap-hours N]`: creates new values, shown only once. The old ones stay valid for the
 * overlap.
 */
export async function rotateKey(
  context: CommandContext,
  options: KeyOption & { 'overlap-hours'?: string | undefined },
) {
  const { tenant_id: tenantId, id } = await keyOf(context, options);
  const hours = Number(options['overlap-hours'] ?? 24);
  const { overlap_hours: overlap } = parseOptions(ApiKeyRotation, { overlap_hours: hours });
  return withAuditEntry(context, 'api_key.rotated', async storage => {
    const tenant = storage.forTenant(tenantId);
    const rotation = { overlapHours: overlap, now: context.now };
    const { row, shownOnce } = await rotateApiKey(tenant, context.seals, id, rotation);
    return { tenantId, shown: presentApiKey(row, context.now, shownOnce) };
  });
}

/** `api-key revoke --id K`: revokes a key for good. Every process applies it within a second. */
export async function revokeKey(context: CommandContext, options: KeyOption) {
  const { tenant_id: tenantId, id } = await keyOf(context, options);
  return withAuditEntry(context, 'api_key.revoked', async storage => {
    const row = await revokeApiKey(storage.forTenant(tenantId), id, context.now);
    return { tenantId, shown: presentApiKey(row, context.now) };
  });
}
