import type { TenantStorage } from '../database/orm.ts';

/** Time after which a request that committed its claim without a response is considered dead. */
const ABANDONED_AFTER = '2 minutes';

/** The response that a repetition gets. */
export interface Response {
  status: number;
  headers: Record<string, string>;
  body: string | null;
}

/** Digests of a request: with the bytes of its body, and with its value. */
export interface RequestHash {
  bytes: string;
  value: string;
}

export interface StoredResponse {
  /** The digest with the body's bytes. */
  request_hash: string;
  /** Both digests; null for a request that the previous version received. */
  value_hash: string | null;
  /** null while the first request is still running. */
  status: number | null;
  headers: Record<string, string> | null;
  body: string | null;
}

/** One key of one credential. */
export interface KeyName {
  credentialId: string;
  key: string;
}

/** The state of the key: `running` if another request has not committed yet. */
export type Holder = StoredResponse | 'running';

/**
 * The stored form of the value's digest. It contains the other digest, because the previous version changes only that
 * one when it uses an expired key again.
 */
const bindValue = (bytes: string, value: string): string => `${bytes} ${value}`;

/** Whether a repetition is the request whose response is stored: its body is equal, by bytes or by value. */
export const isSameRequest = ({ request_hash, value_hash }: StoredResponse, { bytes, value }: RequestHash): boolean =>
  request_hash === bytes || value_hash === bindValue(request_hash, value);

const identify = ({ tenantId }: TenantStorage, { credentialId, key }: KeyName): string[] => [
  tenantId,
  credentialId,
  key,
];

/**
 * Claims the key for the transaction of `tenant`; otherwise returns its state. Never waits.
 *
 * The row is invisible to others until the transaction commits, so an advisory lock, which ends with the transaction,
 * represents the running request. A process that dies leaves neither. A committed row without a response belongs to a
 * request with work after its commit, or to a process of a version before 2026-12-03, which committed each claim first.
 */
export async function claimIdempotencyKey(
  tenant: TenantStorage,
  name: KeyName,
  requestHash: RequestHash,
): Promise<Holder | undefined> {
  const claimed = await tenant.query(
    `insert into idempotency_keys (tenant_id, credential_id, key, request_hash, value_hash, created_at)
       select $1, $2, $3, $4, $5, clock_timestamp()
       where pg_try_advisory_xact_lock(hashtextextended(concat_ws(' ', $1::uuid, $2::uuid, $3::text), 0))
       on conflict (tenant_id, credential_id, key) do update
         set request_hash = excluded.request_hash, value_hash = excluded.value_hash, created_at = excluded.created_at, status = null, headers = null, body = null
         where idempotency_keys.created_at < clock_timestamp() - interval '24 hours'
            or (idempotency_keys.status is null and idempotency_keys.created_at < clock_timestamp() - interval '${ABANDONED_AFTER}')
       returning key`,
    [...identify(tenant, name), requestHash.bytes, bindValue(requestHash.bytes, requestHash.value)],
  );
  if (claimed.length > 0) return undefined;
  const rows = await tenant.query<StoredResponse>(
    'select request_hash, value_hash, status, headers, body from idempotency_keys where tenant_id = $1 and credential_id = $2 and key = $3',
    identify(tenant, name),
  );
  return rows[0] ?? 'running';
}

/** Stores the response under the key for 24 hours. */
export const keepResponse = (tenant: TenantStorage, name: KeyName, response: Response): Promise<unknown> =>
  tenant.query(
    'update idempotency_keys set status = $4, headers = $5, body = $6 where tenant_id = $1 and credential_id = $2 and key = $3',
    [...identify(tenant, name), response.status, JSON.stringify(response.headers), response.body],
  );

/** Releases a key without a response: its request changed no data and may be sent again. */
export const releaseIdempotencyKey = (tenant: TenantStorage, name: KeyName): Promise<unknown> =>
  tenant.query(
    'delete from idempotency_keys where tenant_id = $1 and credential_id = $2 and key = $3 and status is null',
    identify(tenant, name),
  );
