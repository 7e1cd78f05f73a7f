import { z } from 'zod';
import { toTypeId, typeId } from '../../domain/ids.ts';
import { pageOf, pageQuery } from '../../domain/pages.ts';
import { notFound } from '../../domain/problem.ts';
import {
  ApiKey,
  ApiKeyPatch,
  ApiKeyRotation,
  apiKeySettings,
  NewApiKey,
  presentApiKey,
  requireFutureExpiry,
} from '../../domain/team/api-keys.ts';
import {
  type ApiKeyRow,
  findTenantKey,
  type IssuedApiKey,
  insertApiKey,
  listApiKeyPage,
  patchApiKey as patchApiKeyRow,
  revokeApiKey as revokeApiKeyRow,
  rotateApiKey as rotateApiKeyRow,
} from '../../storage/team/api-keys.ts';
import { actorOf } from '../credentials/author.ts';
import { settingsTagOf } from '../http/etag.ts';
import { operation, reply } from '../operation.ts';

const KeyPath = z.object({ id: typeId('key') });
/** The tag of a key as it is read, without secrets. `If-Match` compares only the settings. */
const tagOf = (row: ApiKeyRow, now: Date): string => settingsTagOf(apiKeySettings(row), presentApiKey(row, now));

const replyWith = (row: ApiKeyRow, now: Date, shownOnce?: IssuedApiKey['shownOnce']) =>
  reply({ headers: { ETag: tagOf(row, now) }, body: presentApiKey(row, now, shownOnce) });

/** Compares `If-Match` with the settings of a key that an operation is about to change. */
const checkOf =
  (requireTag: (etag: string, part: 'settings') => void, now: Date) =>
  (before: ApiKeyRow): void =>
    requireTag(tagOf(before, now), 'settings');

const shared = { tag: 'API keys', right: 'api-keys:manage' } as const;

export const listApiKeys = operation({
  ...shared,
  id: 'listApiKeys',
  method: 'get',
  path: '/v1/api-keys',
  credentials: ['session'],
  summary: 'List API keys, newest first',
  description: 'Includes revoked and expired keys, without their secrets.',
  query: z.object(pageQuery),
  status: 200,
  response: pageOf(ApiKey),
  async handle({ caller, query, after, page }, { storage, now }) {
    const rows = await listApiKeyPage(storage.forTenant(caller.tenantId), query.limit, after);
    return page(rows, row => presentApiKey(row, now()));
  },
});

export const createApiKey = operation({
  ...shared,
  id: 'createApiKey',
  method: 'post',
  path: '/v1/api-keys',
  credentials: ['session'],
  summary: 'Create an API key',
  description:
    'For a server key, the response contains `secret` and `api_key`, which are shown only once. Public keys have neither.',
  audit: 'api_key.created',
  showsSecret: true,
  body: NewApiKey,
  status: 201,
  sends: ['Location'],
  response: ApiKey,
  etag: true,
  problems: ['limit-reached'],
  async handle({ caller, body }, { storage, keychain, now }) {
    const at = now();
    requireFutureExpiry(body.expires_at, at);
    const { row, shownOnce } = await insertApiKey(
      storage.forTenant(caller.tenantId),
      keychain,
      body,
      at,
      actorOf(caller),
    );
    return reply({
      headers: { Location: `/v1/api-keys/${toTypeId('key', row.id)}`, ETag: tagOf(row, at) },
      body: presentApiKey(row, at, shownOnce),
    });
  },
});

export const readApiKey = operation({
  ...shared,
  id: 'readApiKey',
  method: 'get',
  path: '/v1/api-keys/{id}',
  credentials: ['session'],
  summary: 'Get an API key, without its secrets',
  description: 'Secrets are only in the replies to creation and rotation.',
  params: KeyPath,
  status: 200,
  response: ApiKey,
  etag: true,
  async handle({ caller, params }, { storage, now }) {
    const row = await findTenantKey(storage.forTenant(caller.tenantId), params.id);
    if (!row) throw notFound('API key');
    return replyWith(row, now());
  },
});

export const patchApiKey = operation({
  ...shared,
  id: 'patchApiKey',
  method: 'patch',
  path: '/v1/api-keys/{id}',
  credentials: ['session'],
  summary: 'Update an API key',
  description:
    'Changes name, scopes, allowed origins or expiry. All processes apply the change within a second. A revoked key cannot be changed.',
  audit: 'api_key.updated',
  params: KeyPath,
  body: ApiKeyPatch,
  status: 200,
  response: ApiKey,
  problems: ['invalid-transition'],
  ifMatch: true,
  etag: true,
  async handle({ caller, params, body, requireTag }, { storage, now }) {
    const at = now();
    requireFutureExpiry(body.expires_at, at);
    const tenant = storage.forTenant(caller.tenantId);
    return replyWith(await patchApiKeyRow(tenant, params.id, body, at, checkOf(requireTag, at)), at);
  },
});

export const rotateApiKey = operation({
  ...shared,
  id: 'rotateApiKey',
  method: 'post',
  path: '/v1/api-keys/{id}/rotate',
  credentials: ['session'],
  summary: 'Rotate the secrets of an API key',
  description:
    'The reply contains the new `secret` and `api_key`, which are shown only once. The previous ones stay valid for `overlap_hours`; until then the key cannot be rotated again.',
  audit: 'api_key.rotated',
  showsSecret: true,
  params: KeyPath,
  body: ApiKeyRotation,
  isBodyOptional: true,
  status: 200,
  response: ApiKey,
  ifMatch: true,
  etag: true,
  problems: ['invalid-transition', 'rotation-running'],
  async handle({ caller, params, body, requireTag }, { storage, keychain, now }) {
    const at = now();
    const tenant = storage.forTenant(caller.tenantId);
    const rotation = { overlapHours: body.overlap_hours, now: at, check: checkOf(requireTag, at) };
    const { row, shownOnce } = await rotateApiKeyRow(tenant, keychain, params.id, rotation);
    return replyWith(row, at, shownOnce);
  },
});

export const revokeApiKey = operation({
  ...shared,
  id: 'revokeApiKey',
  method: 'delete',
  path: '/v1/api-keys/{id}',
  credentials: ['session'],
  summary: 'Permanently revoke an API key',
  description: 'All processes reject the key and its tokens within a second.',
  audit: 'api_key.revoked',
  params: KeyPath,
  status: 204,
  ifMatch: true,
  async handle({ caller, params, requireTag }, { storage, now }) {
    const at = now();
    const check = checkOf(requireTag, at);
    const row = await revokeApiKeyRow(storage.forTenant(caller.tenantId), params.id, at, actorOf(caller), check);
    return reply({ status: 204, body: presentApiKey(row, at) });
  },
});

/** Every operation on API keys. */
export const apiKeyRoutes = [listApiKeys, createApiKey, readApiKey, patchApiKey, rotateApiKey, revokeApiKey];
