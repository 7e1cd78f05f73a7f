import { SignJWT } from 'jose';
import { v7 } from 'uuid';
import type { AcceptedAnswer } from '../../src/domain/answers.ts';
import { type NewApiKey, NewApiKey as NewApiKeySchema } from '../../src/domain/api-keys.ts';
import { parseTypeId, toTypeId } from '../../src/domain/ids.ts';
import { TOKEN_HEADER } from '../../src/domain/tokens.ts';
import type { Seals } from '../../src/platform/secrets.ts';
import { insertApiKey } from '../../src/storage/api-keys.ts';
import type { Storage } from '../../src/storage/orm.ts';
import { insertTenant } from '../../src/storage/tenants.ts';
import type { TestApi } from './api.ts';

export interface TestKey {
  /** As on the wire, `key_…`. */
  id: string;
  secret: string;
  apiKey: string;
}

export interface TestTenant {
  /** As on the wire, `tenant_…`. */
  id: string;
  uuid: string;
  key: TestKey;
  /** A further key. A public one has neither secret nor bearer value. */
  addKey(key?: Partial<NewApiKey>): Promise<TestKey>;
  /** An access token as the tenant's backend would sign it; claims and header may be overridden. */
  sign(identity: unknown, overrides?: SignOverrides): Promise<string>;
}

export interface SignOverrides {
  key?: TestKey;
  header?: Record<string, unknown>;
  claims?: Record<string, unknown>;
}

/** As much of an API as a tenant needs: the stores behind it. */
export interface TenantHome {
  database: { storage(): Storage };
  seals: Seals;
}

const storages = new WeakMap<TenantHome, Storage>();

/** One storage for all tenants of an API, so that many tests in a file do not hold a connection each. */
export function storageOf(api: TenantHome): Storage {
  const storage = storages.get(api) ?? api.database.storage();
  storages.set(api, storage);
  return storage;
}

/** A tenant with a server key, made through the same storage functions as the command line. */
export async function makeTenant(api: TenantHome, name = 'Acme'): Promise<TestTenant> {
  const storage = storageOf(api);
  const { id: uuid } = await insertTenant(storage, name, new Date());
  const addKey = async (key: Partial<NewApiKey> = {}): Promise<TestKey> => {
    const parsed = NewApiKeySchema.parse({ name: 'backend', ...key });
    const { row, shownOnce } = await insertApiKey(storage.forTenant(uuid), api.seals, parsed, new Date());
    return { id: toTypeId('key', row.id), secret: shownOnce.secret ?? '', apiKey: shownOnce.api_key ?? '' };
  };
  const key = await addKey();
  const id = toTypeId('tenant', uuid);
  return {
    id,
    uuid,
    key,
    addKey,
    sign: (identity, { key: signer = key, header = {}, claims = {} } = {}) =>
      new SignJWT({
        iss: signer.id,
        sub: id,
        exp: Math.floor(Date.now() / 1000) + 3600,
        grants: { identity },
        ...claims,
      })
        .setProtectedHeader({ ...TOKEN_HEADER, ...header })
        .sign(new TextEncoder().encode(signer.secret)),
  };
}

/** A public access token, claimed with the id of a public key; with a key of its own unless one is given. */
export async function claimToken(api: TestApi, tenant: TestTenant, identity: string, key?: TestKey): Promise<string> {
  const { id } = key ?? (await tenant.addKey({ kind: 'public' }));
  const { status, body } = await api.request('POST', `/v1/tenants/${tenant.id}/issuers/public/auth/token`, {
    body: { user_id: identity },
    headers: { Authorization: `Basic ${Buffer.from(`api_key:${id}`).toString('base64')}` },
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.access_token;
}

/** A question as the API takes it; of type nps unless said otherwise. */
export const aQuestion = (fields: Record<string, unknown> = {}) => ({ type: 'nps', title: 'How likely?', ...fields });

/** A live question. */
export async function publishQuestion(
  api: Pick<TestApi, 'request'>,
  tenant: TestTenant,
  fields: Record<string, unknown> = {},
) {
  const created = await api.request('POST', '/v1/questions', { as: tenant.key.apiKey, body: aQuestion(fields) });
  const published = await api.request('POST', `/v1/questions/${created.body.id}/publish`, { as: tenant.key.apiKey });
  if (published.status !== 200) throw new Error(JSON.stringify(published.body));
  return published.body;
}

/** A completed answer to a card, or with an API key to a question. */
export const anAnswer = (fields: Record<string, unknown> = {}) => ({
  id: v7(),
  revision: 1,
  question_version: 1,
  state: 'completed',
  values: { main: 9 },
  ...fields,
});

/** The answer to a card as it was handed out. */
export const answerTo = (card: { id: string; question_id: string; question_version: number }, fields = {}) =>
  anAnswer({ card_id: card.id, question_id: card.question_id, question_version: card.question_version, ...fields });

/** The id of a key as storage holds it. */
export const uuidOfKey = (key: TestKey): string => parseTypeId('key', key.id) as string;

/** An answer as the API hands it to the worker, of a tenant that need not exist. Ids are UUIDs. */
export const anAcceptedAnswer = (fields: Partial<AcceptedAnswer> = {}): AcceptedAnswer => ({
  tenant_id: v7(),
  id: v7(),
  identity: 'user|42',
  identity_verified: true,
  card_id: 'c0ffee00-0000-8000-8000-000000000001',
  question_id: 'c0ffee00-0000-7000-8000-000000000002',
  question_version: 1,
  revision: 1,
  state: 'completed',
  values: { main: 9 },
  comment: null,
  displayed_at: null,
  answered_at: null,
  duration_ms: null,
  metadata: {},
  content_hash: 'first',
  clock_skew_ms: null,
  received_at: new Date().toISOString(),
  ...fields,
});
