import { HOUR_MS } from '../../domain/durations.ts';
import { BY_SYSTEM, type EventActor, type EventType } from '../../domain/events/events.ts';
import { newUuid } from '../../domain/ids.ts';
import type { Page } from '../../domain/pages.ts';
import { notFound, Problem } from '../../domain/problem.ts';
import {
  type ApiKeyKind,
  type ApiKeyPatch,
  type ApiKeyTimes,
  apiKeyStatus,
  MAX_KEYS,
  type NewApiKey,
  toBearer,
} from '../../domain/team/api-keys.ts';
import { DEFAULT_SCOPES } from '../../domain/team/scopes.ts';
import { randomSecret, type Seals, sha256 } from '../../platform/secrets.ts';
import { byTime, createList, readPage } from '../database/lists.ts';
import type { Storage, TenantStorage } from '../database/orm.ts';
import type { Transaction } from '../database/transaction.ts';
import { ApiKeyEntity } from '../entities/api-keys.ts';
import { type TenantEvent, writeEvents } from '../events/events.ts';
import { requireRoom } from '../tenants/tenants.ts';

export interface ApiKeyRow {
  tenant_id: string;
  id: string;
  name: string;
  kind: ApiKeyKind;
  scopes: string[];
  allowed_origins: string[];
  /** The HS256 secret, encrypted and bound to the key's id. */
  secret_sealed: Buffer;
  /** SHA-256 of the bearer value; null for a public key. */
  bearer_hash: Buffer | null;
  hint: string;
  previous_secret_sealed: Buffer | null;
  previous_bearer_hash: Buffer | null;
  previous_valid_until: Date | null;
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
}

/** Listed explicitly, so that prepared statements survive a migration that adds a column. */
const COLUMNS = `tenant_id, id, name, kind, scopes, allowed_origins, secret_sealed, bearer_hash, hint,
  previous_secret_sealed, previous_bearer_hash, previous_valid_until, created_at, expires_at, revoked_at, last_used_at`;

/** Returns the key of an id, of any tenant. For use before the tenant is known. */
export const findApiKey = async (storage: Storage, id: string): Promise<ApiKeyRow | undefined> =>
  (await storage.query<ApiKeyRow>(`select ${COLUMNS} from find_api_key($1)`, [id]))[0];

/** Returns the keys of ids, of any tenants, in the order of the ids. For use before the tenant is known. */
export async function findApiKeys(storage: Storage, ids: string[]): Promise<(ApiKeyRow | undefined)[]> {
  const rows = await storage.query<ApiKeyRow>(`select ${COLUMNS} from find_api_keys($1)`, [ids]);
  const byId = new Map(rows.map(row => [row.id, row]));
  return ids.map(id => byId.get(id));
}

/**
 * Returns the times of keys by id, without keys that have no end and no rotation.
 *
 * Read in the transaction that stores the keys' answers, so that every previously committed revocation applies.
 */
export async function findKeyTimes(tx: Transaction, ids: string[]): Promise<ReadonlyMap<string, ApiKeyTimes>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.query<ApiKeyTimes & { id: string }>(
    'select id, revoked_at, expires_at, previous_valid_until from key_times($1)',
    [ids],
  );
  return new Map(rows.map(row => [row.id, row]));
}

/** A created or rotated key, with the values that are shown only once. A public key has none. */
export interface IssuedApiKey {
  row: ApiKeyRow;
  shownOnce: { secret?: string; api_key?: string };
}

/** Receives the current state of a key under its lock, and throws to prevent a change. */
type CheckKey = (before: ApiKeyRow) => void;

type Issued = Pick<ApiKeyRow, 'secret_sealed' | 'bearer_hash' | 'hint'>;

/** Creates new values for a key: the encrypted signing secret, and for a server key the hash of its bearer value. */
function issueSecrets(
  seals: Seals,
  id: string,
  kind: ApiKeyKind,
): { issued: Issued } & Pick<IssuedApiKey, 'shownOnce'> {
  const secret = randomSecret();
  const secret_sealed = seals.seal(secret, id);
  if (kind === 'public') return { issued: { secret_sealed, bearer_hash: null, hint: '' }, shownOnce: {} };
  const api_key = toBearer(id, randomSecret());
  return {
    issued: { secret_sealed, bearer_hash: sha256(api_key), hint: api_key.slice(-4) },
    shownOnce: { secret, api_key },
  };
}

/** Inserts a key. 409 beyond the limit of unrevoked keys. */
export async function insertApiKey(
  tenant: TenantStorage,
  seals: Seals,
  key: NewApiKey,
  now: Date,
  by: EventActor = BY_SYSTEM,
): Promise<IssuedApiKey> {
  const id = newUuid();
  const { issued, shownOnce } = issueSecrets(seals, id, key.kind);
  const row: ApiKeyRow = {
    tenant_id: tenant.tenantId,
    id,
    name: key.name,
    kind: key.kind,
    scopes: key.kind === 'public' ? [] : (key.scopes ?? DEFAULT_SCOPES),
    allowed_origins: key.allowed_origins,
    ...issued,
    previous_secret_sealed: null,
    previous_bearer_hash: null,
    previous_valid_until: null,
    created_at: now,
    expires_at: key.expires_at ?? null,
    revoked_at: null,
    last_used_at: null,
  };
  await tenant.unitOfWork(async (em, tx) => {
    const detail = `A tenant can have at most ${MAX_KEYS} API keys.`;
    await requireRoom(tx, tenant.tenantId, { table: 'api_keys', where: 'revoked_at is null', most: MAX_KEYS, detail });
    await em.insert(ApiKeyEntity, row);
    await writeEvents(tx, [keyEvent(row, 'api_key.created', by)]);
  });
  return { row, shownOnce };
}

/** When a key is rotated, and for how long its old values stay valid. `check` throws to prevent it. */
interface Rotation {
  overlapHours: number;
  now: Date;
  check?: CheckKey;
}

/** Sets new values for a key. The old ones stay valid for the overlap. */
export async function rotateApiKey(
  tenant: TenantStorage,
  seals: Seals,
  id: string,
  { overlapHours, now, check }: Rotation,
): Promise<IssuedApiKey> {
  let shownOnce: IssuedApiKey['shownOnce'] = {};
  const row = await updateApiKey(tenant, id, key => {
    check?.(key);
    if (['revoked', 'expired'].includes(apiKeyStatus(key, now)))
      throw new Problem(
        'invalid-transition',
        `The API key is ${apiKeyStatus(key, now)} and cannot be rotated. Create a new key.`,
      );
    if (apiKeyStatus(key, now) === 'rotating')
      throw new Problem(
        'rotation-running',
        `The API key was rotated before, and its previous secrets are valid until ${key.previous_valid_until?.toISOString()}.`,
      );
    const next = issueSecrets(seals, id, key.kind);
    shownOnce = next.shownOnce;
    key.previous_secret_sealed = key.secret_sealed;
    key.previous_bearer_hash = key.bearer_hash;
    key.previous_valid_until = new Date(now.getTime() + overlapHours * HOUR_MS);
    Object.assign(key, next.issued);
  });
  return { row, shownOnce };
}

/** Revokes a key permanently. Every process refuses it within a second. `check` throws to prevent it. */
export const revokeApiKey = (
  tenant: TenantStorage,
  id: string,
  now: Date,
  by: EventActor = BY_SYSTEM,
  check?: CheckKey,
): Promise<ApiKeyRow> =>
  updateApiKey(tenant, id, async (key, tx) => {
    check?.(key);
    if (key.revoked_at) return;
    key.revoked_at = now;
    await writeEvents(tx, [keyEvent(key, 'api_key.revoked', by)]);
  });

const keyEvent = ({ tenant_id: tenantId, id }: ApiKeyRow, type: EventType, by: EventActor): TenantEvent => ({
  tenantId,
  type,
  object: { type: 'api_key', id },
  data: { by },
});

export const listApiKeys = async (tenant: TenantStorage): Promise<ApiKeyRow[]> =>
  tenant.query<ApiKeyRow>(`select ${COLUMNS} from api_keys where tenant_id = $1 order by created_at, id`, [
    tenant.tenantId,
  ]);

/** Returns one of a tenant's keys by id. */
export const findTenantKey = async (tenant: TenantStorage, id: string): Promise<ApiKeyRow | undefined> =>
  (
    await tenant.query<ApiKeyRow>(`select ${COLUMNS} from api_keys where tenant_id = $1 and id = $2`, [
      tenant.tenantId,
      id,
    ])
  )[0];

/** Returns a page of a tenant's keys, newest first. */
export const listApiKeyPage = (
  tenant: TenantStorage,
  limit: number,
  after: string[] | null,
): Promise<Page<ApiKeyRow>> =>
  readPage(tenant, createList(tenant, 'api_keys', COLUMNS, byTime<ApiKeyRow>('created_at', true)), limit, after);

/** Changes an unrevoked key. `check` receives its current state, and throws to prevent the change. */
export const patchApiKey = (
  tenant: TenantStorage,
  id: string,
  patch: ApiKeyPatch,
  now: Date,
  check: CheckKey,
): Promise<ApiKeyRow> =>
  updateApiKey(tenant, id, key => {
    check(key);
    if (apiKeyStatus(key, now) === 'revoked')
      throw new Problem('invalid-transition', 'The API key is revoked and cannot be changed. Create a new key.');
    if (patch.scopes && key.kind === 'public')
      throw new Problem('validation-failed', 'A public key cannot have scopes.', {
        errors: [{ pointer: '/scopes', code: 'not-allowed', detail: 'Must be omitted: only server keys have scopes.' }],
      });
    Object.assign(key, Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)));
  });

/** Changes a key under a row lock. `change` mutates it, or throws to prevent the change. */
const updateApiKey = (
  tenant: TenantStorage,
  id: string,
  change: (key: ApiKeyRow, tx: Transaction) => void | Promise<void>,
): Promise<ApiKeyRow> =>
  tenant.unitOfWork(async (em, tx) => {
    await tx.query('select from api_keys where tenant_id = $1 and id = $2 for update', [tenant.tenantId, id]);
    const key = await em.findOne(ApiKeyEntity, { tenant_id: tenant.tenantId, id });
    if (!key) throw notFound('API key');
    const row = key as unknown as ApiKeyRow;
    await change(row, tx);
    await em.flush();
    return { ...row };
  });

/** Records when keys were last used, in one batch for many tenants. */
export const touchApiKeys = (storage: Storage, ids: string[], usedAt: Date): Promise<unknown> =>
  storage.query('select touch_api_keys($1, $2)', [ids, usedAt]);
