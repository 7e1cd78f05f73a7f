import { SignJWT } from 'jose';
import { v7 } from 'uuid';
import type { AcceptedAnswer } from '../../src/domain/answers/answers.ts';
import { parseTypeId, toTypeId } from '../../src/domain/ids.ts';
import { type NewApiKey, NewApiKey as NewApiKeySchema } from '../../src/domain/team/api-keys.ts';
import { TOKEN_HEADER } from '../../src/domain/team/tokens.ts';
import type { Seals } from '../../src/platform/secrets.ts';
import type { Storage } from '../../src/storage/database/orm.ts';
import { insertApiKey } from '../../src/storage/team/api-keys.ts';
import { insertTenant } from '../../src/storage/tenants/tenants.ts';
import type { TestApi } from './api.ts';
import type { TestDatabase } from './database.ts';

export interface TestKey {
  /** A wire id, `key_…`. */
  id: string;
  secret: string;
  apiKey: string;
}

export interface TestTenant {
  /** A wire id, `tenant_…`. */
  id: string;
  uuid: string;
  key: TestKey;
  /** Adds a key. A public one has no secret and no bearer value. */
  addKey(key?: Partial<NewApiKey>): Promise<TestKey>;
  /** Signs an access token like the tenant's backend; claims and header can be overridden. */
  sign(identity: unknown, overrides?: SignOverrides): Promise<string>;
}

export interface SignOverrides {
  key?: TestKey;
  header?: Record<string, unknown>;
  claims?: Record<string, unknown>;
}

/** The parts of an API that a tenant needs: its stores. */
export interface TenantHome {
  database: { storage(): Storage };
  seals: Seals;
}

const storages = new WeakMap<TenantHome, Storage>();

/** A shared storage for all tenants of an API, so that each test does not hold its own connection. */
export function storageOf(api: TenantHome): Storage {
  const storage = storages.get(api) ?? api.database.storage();
  storages.set(api, storage);
  return storage;
}

/** Creates a tenant with a server key through the storage functions of the command line. */
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

/** Claims a public access token, by default with a new public key. */
export async function claimToken(api: TestApi, tenant: TestTenant, identity: string, key?: TestKey): Promise<string> {
  const { id } = key ?? (await tenant.addKey({ kind: 'public' }));
  const { status, body } = await api.request('POST', `/v1/tenants/${tenant.id}/issuers/public/auth/token`, {
    body: { user_id: identity },
    headers: { Authorization: `Basic ${Buffer.from(`api_key:${id}`).toString('base64')}` },
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.access_token;
}

/** Stores a tenant with questions of the given version, without the versions themselves: all that counting needs. */
export async function storeQuestions(database: TestDatabase, storage: Storage, number: number, version = 1) {
  const { id: tenant_id } = await insertTenant(storage, 'Acme', new Date());
  const questions = Array.from({ length: number }, () => v7());
  await database.query(
    `insert into questions (tenant_id, id, name, status, version, type, title, description, config, frequency,
       allow_public, priority, created_at, updated_at)
     select $1, id, 'x', 'live', $3, 'nps', 'x', '', '{}', '{}', false, 0, now(), now() from unnest($2::uuid[]) as id`,
    [tenant_id, questions, version],
  );
  return { tenant_id, questions };
}

/** A valid question; of type nps by default. */
export const aQuestion = (fields: Record<string, unknown> = {}) => ({ type: 'nps', title: 'How likely?', ...fields });

/** Publishes a question. */
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

/** A completed answer to a card or, for API keys, to a question. */
export const anAnswer = (fields: Record<string, unknown> = {}) => ({
  id: v7(),
  revision: 1,
  question_version: 1,
  state: 'completed',
  values: { main: 9 },
  ...fields,
});

/** The answer to a card as returned by the API. */
export const answerTo = (card: { id: string; question_id: string; question_version: number }, fields = {}) =>
  anAnswer({ card_id: card.id, question_id: card.question_id, question_version: card.question_version, ...fields });

/** The UUID of a key in the storage. */
export const uuidOfKey = (key: TestKey): string => parseTypeId('key', key.id) as string;

/** An answer as the API sends it to the worker, by default of a tenant that does not exist. Ids are UUIDs. */
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
