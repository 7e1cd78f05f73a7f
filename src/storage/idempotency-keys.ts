import type { TenantStorage } from './orm.ts';
import type { Session } from './transaction.ts';

/** How long a request may run before its key counts as abandoned by a process that died. */
const ABANDONED_AFTER = '2 minutes';

export interface StoredResponse {
  request_hash: string;
  /** null while the first request is still running. */
  status: number | null;
  headers: Record<string, string> | null;
  body: string | null;
}

/** Takes the key for a request, or gives what is known of the request that holds it. */
export async function claimIdempotencyKey(
  tenant: TenantStorage,
  credentialId: string,
  key: string,
  requestHash: string,
): Promise<StoredResponse | undefined> {
  const identify = [tenant.tenantId, credentialId, key];
  return tenant.transaction(async session => {
    for (;;) {
      const holder = await claimOrRead(session, identify, requestHash);
      if (holder !== 'released') return holder;
    }
  });
}

/** One attempt: `undefined` when the key was taken, its holder, or `released` when that gave it up in between. */
async function claimOrRead(
  session: Session,
  identify: string[],
  requestHash: string,
): Promise<StoredResponse | undefined | 'released'> {
  const claimed = await session.query(
    `insert into idempotency_keys (tenant_id, credential_id, key, request_hash, created_at)
       values ($1, $2, $3, $4, clock_timestamp())
       on conflict (tenant_id, credential_id, key) do update
         set request_hash = excluded.request_hash, created_at = excluded.created_at, status = null, headers = null, body = null
         where idempotency_keys.created_at < clock_timestamp() - interval '24 hours'
            or (idempotency_keys.status is null and idempotency_keys.created_at < clock_timestamp() - interval '${ABANDONED_AFTER}')
       returning key`,
    [...identify, requestHash],
  );
  if (claimed.length > 0) return undefined;
  const rows = await session.query<StoredResponse>(
    'select request_hash, status, headers, body from idempotency_keys where tenant_id = $1 and credential_id = $2 and key = $3',
    identify,
  );
  return rows[0] ?? 'released';
}

/** Keeps the response under the key for 24 hours. */
export const keepResponse = (
  tenant: TenantStorage,
  credentialId: string,
  key: string,
  response: { status: number; headers: Record<string, string>; body: string | null },
): Promise<unknown> =>
  tenant.query(
    'update idempotency_keys set status = $4, headers = $5, body = $6 where tenant_id = $1 and credential_id = $2 and key = $3',
    [tenant.tenantId, credentialId, key, response.status, JSON.stringify(response.headers), response.body],
  );

/** Gives the key back: the request changed nothing and may be sent again. */
export const releaseIdempotencyKey = (tenant: TenantStorage, credentialId: string, key: string): Promise<unknown> =>
  tenant.query(
    'delete from idempotency_keys where tenant_id = $1 and credential_id = $2 and key = $3 and status is null',
    [tenant.tenantId, credentialId, key],
  );
