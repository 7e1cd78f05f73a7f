import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { Problem } from '../../domain/problem.ts';
import type { Keychain } from '../../platform/secrets.ts';
import { claimIdempotencyKey, keepResponse, releaseIdempotencyKey } from '../../storage/idempotency-keys.ts';
import type { TeamCaller } from '../authentication/caller.ts';
import type { ApiDeps } from '../deps.ts';

/** A structured-field string, or the bare token that most clients send. */
const FORM = /^(?:"([\x20\x21\x23-\x5b\x5d-\x7e]{1,255})"|([\x21\x23-\x5b\x5d-\x7e]{1,255}))$/;

/** Response headers that a replay repeats. */
const KEPT_HEADERS = ['Cache-Control', 'Content-Type', 'Location', 'ETag'];

const hashOf = (ctx: Context, body: Buffer | undefined): string =>
  createHash('sha256')
    .update(`${ctx.method} ${ctx.path}?${ctx.querystring}\n`)
    .update(body ?? '')
    .digest('base64url');

/**
 * Runs a POST at most once under its `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header), kept for 24 h.
 *
 * The same request again gets the stored response; another one 422; one still running 409. A request that ended in a
 * problem changed nothing, so its key is free again.
 */
export async function runOnce(
  ctx: Context,
  caller: TeamCaller,
  showsSecret: boolean,
  body: Buffer | undefined,
  { storage, keychain }: Pick<ApiDeps, 'storage' | 'keychain'>,
  run: () => Promise<void>,
): Promise<void> {
  const header = ctx.get('Idempotency-Key');
  if (header === '') return run();
  const match = FORM.exec(header);
  const key = match?.[1] ?? match?.[2];
  if (key === undefined)
    throw new Problem(
      'malformed-request',
      'Idempotency-Key must be 1 to 255 printable ASCII characters, in quotes where spaces are among them.',
    );
  const requestHash = hashOf(ctx, body);
  const tenant = storage.forTenant(caller.tenantId);
  const credentialId = caller.kind === 'api-key' ? caller.keyId : caller.memberId;
  const known = await claimIdempotencyKey(tenant, credentialId, key, requestHash);
  if (known) {
    if (known.request_hash !== requestHash)
      throw new Problem('idempotency-key-reused', 'The Idempotency-Key belongs to another request.');
    if (known.status === null)
      throw new Problem('idempotency-key-in-use', 'The first request is still running.', { retryAfterSeconds: 1 });
    ctx.status = known.status;
    ctx.set({ ...known.headers, 'Idempotency-Replayed': 'true' });
    ctx.body = known.body && openBody(known.body, credentialId, keychain);
    return;
  }
  try {
    await run();
  } catch (error) {
    await releaseIdempotencyKey(tenant, credentialId, key);
    throw error;
  }
  const headers = Object.fromEntries(
    KEPT_HEADERS.flatMap(name => (ctx.response.get(name) ? [[name, ctx.response.get(name)]] : [])),
  );
  await keepResponse(tenant, credentialId, key, {
    status: ctx.status,
    headers,
    body: typeof ctx.body === 'string' ? keptBody(ctx.body, showsSecret, credentialId, keychain) : null,
  });
}

/** What is kept of a reply that showed a secret begins so; JSON never does. */
const SEALED = 'sealed:';

const keptBody = (body: string, showsSecret: boolean, credentialId: string, keychain: Keychain): string =>
  showsSecret ? SEALED + keychain.seal(body, credentialId).toString('base64') : body;

const openBody = (kept: string, credentialId: string, keychain: Keychain): string =>
  kept.startsWith(SEALED) ? keychain.unseal(Buffer.from(kept.slice(SEALED.length), 'base64'), credentialId) : kept;
