import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import type { FieldCode } from '../../domain/field-errors.ts';
import { canonicalJson } from '../../domain/json.ts';
import { Problem } from '../../domain/problem.ts';
import type { Keychain } from '../../platform/secrets.ts';
import type { TenantStorage } from '../../storage/database/orm.ts';
import {
  claimIdempotencyKey,
  type Holder,
  isSameRequest,
  type KeyName,
  keepResponse,
  type RequestHash,
  type Response,
  releaseIdempotencyKey,
} from '../../storage/team/idempotency-keys.ts';
import { type Caller, isTeam, type TeamCaller } from '../caller.ts';
import type { ApiDeps } from '../deps.ts';
import type { ReadBody } from '../http/body.ts';
import type { Operation, OperationReply } from '../operation.ts';

/** A structured-field string, or the bare token that most clients send. */
export const KEY_FORM = /^(?:"([\x20\x21\x23-\x5b\x5d-\x7e]{1,255})"|([\x21\x23-\x5b\x5d-\x7e]{1,255}))$/;

/** Response headers that a replay repeats. */
const KEPT_HEADERS = ['Cache-Control', 'Content-Type', 'Location', 'ETag'];

/** Runs the operation with the storage of a transaction and sets the response. Returns the steps after the commit. */
export type KeyedOperation = (deps: ApiDeps) => Promise<Pick<OperationReply, 'afterwards' | 'announce'>>;

/** The 400 for an `Idempotency-Key` that cannot have the effect that its sender expects. */
const refused = (code: FieldCode, detail: string): Problem =>
  new Problem('malformed-request', `Idempotency-Key is not valid here. ${detail}`, {
    errors: [{ parameter: 'Idempotency-Key', code, detail }],
  });

/**
 * Returns the request's `Idempotency-Key`; undefined without the header, or if the operation ignores it.
 *
 * Throws `malformed-request` for a malformed key, and wherever a key would have no effect, since its sender relies on it.
 */
export function readIdempotencyKey(
  { req }: Context,
  caller: Caller | undefined,
  { method, ignoresIdempotencyKey }: Operation,
): string | undefined {
  const header = req.headers['idempotency-key'];
  if (header === undefined || ignoresIdempotencyKey) return undefined;
  if (method !== 'post') throw refused('not-allowed', 'Must be omitted: only POST supports it.');
  if (!caller || !isTeam(caller))
    throw refused(
      'not-allowed',
      'Must be omitted: it requires an API key, or a session with a tenant. Users send their own ids instead.',
    );
  const match = KEY_FORM.exec(String(header)); // Node joins several with commas
  const key = match?.[1] ?? match?.[2];
  if (key === undefined)
    throw refused('invalid-format', 'Must be 1 to 255 printable ASCII characters, in quotes if it contains spaces.');
  return key;
}

/**
 * Returns digests of a request, by the bytes and by the value of its body. Equal bytes are an equal request also for the
 * previous version, which stores only the first.
 */
function hashOf(ctx: Context, { bytes, json }: Partial<ReadBody> = {}): RequestHash {
  const digest = (body: Buffer | string) =>
    createHash('sha256').update(`${ctx.method} ${ctx.path}?${ctx.querystring}\n`).update(body).digest('base64url');
  return { bytes: digest(bytes ?? ''), value: digest(json === undefined ? '' : canonicalJson(json)) };
}

/** A request with an `Idempotency-Key`. */
interface KeyedRequest {
  key: string;
  body: ReadBody | undefined;
  /** Whether the response shows a secret: it is then stored encrypted. */
  showsSecret: boolean;
}

/**
 * Runs a POST at most once under its `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header), kept for 24 h.
 *
 * Claim, operation and response are one transaction: a failure, a crash or a refused commit undoes all three, and a
 * commit whose reply was lost is replayed. A repetition gets the stored response; another request gets 422, or 409
 * while the first one runs. A request that ends in a problem releases its key.
 *
 * With `afterwards`, the claim is committed with the operation and the response is stored once `afterwards` is done. If
 * only that last write fails, the response is sent all the same, since the operation has taken place.
 */
export async function runOnce(
  ctx: Context,
  caller: TeamCaller,
  { key, body, showsSecret }: KeyedRequest,
  deps: ApiDeps,
  operation: KeyedOperation,
): Promise<void> {
  const requestHash = hashOf(ctx, body);
  const name: KeyName = { credentialId: caller.kind === 'api-key' ? caller.keyId : caller.memberId, key };
  const keep = (tenant: TenantStorage) =>
    keepResponse(tenant, name, responseIn(ctx, showsSecret, name.credentialId, deps.keychain));
  try {
    const { holder, followUp } = await deps.storage.inTransaction(async storage => {
      const tenant = storage.forTenant(caller.tenantId);
      const holder = await claimIdempotencyKey(tenant, name, requestHash);
      if (holder) return { holder };
      const followUp = await operation({ ...deps, storage });
      if (!followUp.afterwards) await keep(tenant);
      return { followUp };
    });
    if (holder) replay(ctx, holder, requestHash, name.credentialId, deps.keychain);
    else await finish(followUp, name, deps.storage.forTenant(caller.tenantId), keep, deps);
  } catch (error) {
    for (const header of KEPT_HEADERS) ctx.remove(header); // set by the failed attempt
    throw error;
  }
}

/** Runs the steps after the commit, and stores the response if `afterwards` is part of the operation. */
async function finish(
  { afterwards, announce }: Awaited<ReturnType<KeyedOperation>>,
  name: KeyName,
  tenant: TenantStorage,
  keep: (tenant: TenantStorage) => Promise<unknown>,
  { log, storage }: Pick<ApiDeps, 'log' | 'storage'>,
): Promise<void> {
  if (afterwards) {
    try {
      await afterwards({ storage });
    } catch (error) {
      await releaseIdempotencyKey(tenant, name);
      throw error;
    }
    await keep(tenant).catch(error =>
      log.warn({ reason: (error as Error).message }, 'could not store the response for its Idempotency-Key'),
    );
  }
  announce?.();
}

/** Sends the stored response again. Throws 422 for another request, and 409 while the first one is running. */
function replay(
  ctx: Context,
  holder: Holder,
  requestHash: RequestHash,
  credentialId: string,
  keychain: Keychain,
): void {
  if (holder !== 'running' && !isSameRequest(holder, requestHash))
    throw new Problem('idempotency-key-reused', 'The Idempotency-Key was used for another request.');
  if (holder === 'running' || holder.status === null)
    throw new Problem('idempotency-key-in-use', 'The first request with this Idempotency-Key is still in progress.', {
      retryAfterSeconds: 1,
    });
  ctx.status = holder.status;
  ctx.set({ ...holder.headers, 'Idempotency-Replayed': 'true' });
  ctx.body = holder.body && openBody(holder.body, credentialId, keychain);
}

/** Returns the response in the context, as it is stored. */
function responseIn(ctx: Context, showsSecret: boolean, credentialId: string, keychain: Keychain): Response {
  const headers = KEPT_HEADERS.flatMap(name => (ctx.response.get(name) ? [[name, ctx.response.get(name)]] : []));
  const body = typeof ctx.body === 'string' ? keptBody(ctx.body, showsSecret, credentialId, keychain) : null;
  return { status: ctx.status, headers: Object.fromEntries(headers), body };
}

/** Prefix of stored responses that are encrypted because they showed a secret. JSON never starts like this. */
const SEALED = 'sealed:';

const keptBody = (body: string, showsSecret: boolean, credentialId: string, keychain: Keychain): string =>
  showsSecret ? SEALED + keychain.seal(body, credentialId).toString('base64') : body;

const openBody = (kept: string, credentialId: string, keychain: Keychain): string =>
  kept.startsWith(SEALED) ? keychain.unseal(Buffer.from(kept.slice(SEALED.length), 'base64'), credentialId) : kept;
