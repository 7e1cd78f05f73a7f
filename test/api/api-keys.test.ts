import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Operation } from '../../src/api/operation.ts';
import { OPERATIONS } from '../../src/api/routes/index.ts';
import { ApiKey, presentApiKey, toBearer } from '../../src/domain/team/api-keys.ts';
import { RIGHTS } from '../../src/domain/team/roles.ts';
import { SCOPES, type Scope } from '../../src/domain/team/scopes.ts';
import { randomSecret } from '../../src/platform/secrets.ts';
import { findApiKey, revokeApiKey, rotateApiKey } from '../../src/storage/team/api-keys.ts';
import { backends, createApi, type TestApi, waitFor } from '../support/api.ts';
import { aQuestion, claimToken, makeTenant, type TestKey, type TestTenant, uuidOfKey } from '../support/make.ts';
import { makeMember, type TestPerson } from '../support/person.ts';
import { startProcess } from '../support/process.ts';
import { forgeToken, goodClaims } from '../support/tokens.ts';

let api: TestApi;
let tenant: TestTenant;

beforeAll(async () => {
  api = await createApi();
  tenant = await makeTenant(api);
});
afterAll(() => api[Symbol.asyncDispose]());

const list = (as: string, of = api) => of.request('GET', '/v1/questions', { as });
const statusOf = async (as: string, of = api) => (await list(as, of)).status;
const signWith = (owner: TestTenant, key: TestKey) =>
  forgeToken(owner, { payload: goodClaims(owner, key), secret: key.secret });
const me = async (token: string, of = api) => {
  const { status, body } = await of.request('GET', '/v1/me', { as: token });
  return status === 200 ? 200 : body.code;
};
const revoke = (of: TestApi, owner: TestTenant, key: TestKey) =>
  revokeApiKey(of.database.storage().forTenant(owner.uuid), uuidOfKey(key), new Date());
const rowOf = async (key: TestKey) => {
  const row = await findApiKey(api.database.storage(), uuidOfKey(key));
  if (!row) throw new Error('the key is gone');
  return row;
};

async function rotate(owner: TestTenant, key: TestKey, overlapHours: number): Promise<TestKey> {
  const scope = api.database.storage().forTenant(owner.uuid);
  const { shownOnce } = await rotateApiKey(scope, api.seals, uuidOfKey(key), { overlapHours, now: new Date() });
  return { id: key.id, secret: shownOnce.secret ?? '', apiKey: shownOnce.api_key ?? '' };
}

describe('a bearer key', () => {
  test('of another tenant cannot read this one', async () => {
    const other = await makeTenant(api, 'Other');
    await api.request('POST', '/v1/questions', { as: tenant.key.apiKey, body: aQuestion() });
    expect((await list(other.key.apiKey)).body).toEqual({ data: [], has_more: false, next_cursor: null });
  });

  test('with any fault gets the same rejection', async () => {
    const { apiKey, secret, id } = tenant.key;
    const revoked = await tenant.addKey();
    await revoke(api, tenant, revoked);
    const expired = await tenant.addKey({ expires_at: new Date(Date.now() - 1000).toISOString() as never });
    const wrong = [
      'sk_',
      `sk_${secret}`,
      `sk_${id.slice(4)}`,
      apiKey.slice(0, -1),
      `${apiKey}A`,
      apiKey.slice(0, -1) + (apiKey.endsWith('A') ? 'B' : 'A'),
      `sk_${apiKey.slice(3).toUpperCase()}`,
      toBearer(uuidOfKey(tenant.key), randomSecret()),
      toBearer(tenant.uuid, randomSecret()),
      revoked.apiKey,
      expired.apiKey,
      "sk_'or'1'='1",
    ];
    const seen = new Set<string>();
    for (const as of wrong) {
      const reply = await list(as);
      expect([as, reply.status]).toEqual([as, 401]);
      seen.add(JSON.stringify({ ...reply.body, request_id: '' }) + reply.headers.get('www-authenticate'));
    }
    expect(seen.size).toBe(1);
    expect([...seen][0]).toContain('"code":"credentials-invalid"');
  });

  test('is not issued for a public key', async () => {
    const key = await tenant.addKey({ kind: 'public' });
    expect(key).toEqual({ id: key.id, secret: '', apiKey: '' });
    expect(await statusOf(toBearer(uuidOfKey(key), randomSecret()))).toBe(401);
    expect((await rowOf(key)).bearer_hash).toBeNull();
  });

  test('stops working at the moment it expires', async () => {
    const key = await tenant.addKey({ expires_at: new Date(Date.now() + 3_600_000).toISOString() as never });
    expect(await statusOf(key.apiKey)).toBe(200);
    expect(await me(signWith(tenant, key))).toBe(200);
    await api.database.query('update api_keys set expires_at = now() where id = $1', [uuidOfKey(key)]);
    await waitFor(async () => (await statusOf(key.apiKey)) === 401, 10_000);
    expect(await me(signWith(tenant, key))).toBe('unknown-issuer');
    expect(presentApiKey(await rowOf(key), new Date()).status).toBe('expired');
  });
});

describe('scopes', () => {
  test('default to all except erasing identities', async () => {
    const { scopes } = await rowOf(tenant.key);
    expect([...scopes].sort()).toEqual(SCOPES.filter(scope => scope !== 'identities:erase').sort());
  });

  const scopeOf = ({ right }: Operation): Scope | null => (right === undefined ? null : RIGHTS[right].scope);
  const scoped = OPERATIONS.filter(operation => scopeOf(operation) && operation.credentials.includes('api-key'));
  const used = [...new Set(scoped.map(operation => scopeOf(operation) as Scope))];

  test.each(used)('%s is required by its endpoints, and only it grants access', async scope => {
    const owner = await makeTenant(api);
    const only = await owner.addKey({ scopes: [scope] });
    const allOthers = await owner.addKey({ scopes: SCOPES.filter(other => other !== scope) });
    for (const operation of scoped.filter(one => scopeOf(one) === scope)) {
      const path = operation.path.replaceAll(/\{\w+\}/g, 'x');
      const ask = (key: TestKey) => api.request(operation.method.toUpperCase(), path, { as: key.apiKey });
      expect([operation.id, (await ask(only)).status]).not.toEqual([operation.id, 403]);
      const refused = await ask(allOthers);
      expect([operation.id, refused.status, refused.body.code]).toEqual([operation.id, 403, 'insufficient-scope']);
      expect(refused.body.detail).toContain(scope);
    }
  });

  test('are required by every endpoint for API keys, except token inspection', () => {
    const open = OPERATIONS.filter(operation => operation.credentials.includes('api-key') && !scopeOf(operation));
    expect(open.map(operation => operation.id)).toEqual(['inspectToken']);
  });
});

describe('rotation', () => {
  test('keeps the old values valid next to the new ones for the overlap', async () => {
    const old = await tenant.addKey();
    expect(await statusOf(old.apiKey)).toBe(200);
    const fresh = await rotate(tenant, old, 24);
    await waitFor(async () => (await statusOf(fresh.apiKey)) === 200, 10_000);
    expect(await statusOf(old.apiKey)).toBe(200);
    expect(await me(signWith(tenant, old))).toBe(200);
    expect(await me(signWith(tenant, fresh))).toBe(200);
    expect(presentApiKey(await rowOf(old), new Date()).status).toBe('rotating');

    await api.database.query('update api_keys set previous_valid_until = now() where id = $1', [uuidOfKey(old)]);
    await waitFor(async () => (await statusOf(old.apiKey)) === 401, 10_000);
    expect(await me(signWith(tenant, old))).toBe('bad-signature');
    expect(await statusOf(fresh.apiKey)).toBe(200);
    expect(await me(signWith(tenant, fresh))).toBe(200);
    expect(presentApiKey(await rowOf(old), new Date()).status).toBe('active');
  });

  test('without an overlap ends the old values immediately', async () => {
    const old = await tenant.addKey();
    expect(await statusOf(old.apiKey)).toBe(200);
    const fresh = await rotate(tenant, old, 0);
    await waitFor(async () => (await statusOf(old.apiKey)) === 401, 10_000);
    expect(await statusOf(fresh.apiKey)).toBe(200);
    expect(await me(signWith(tenant, old))).toBe('bad-signature');
  });

  test('is refused while the previous values are valid, and possible once they have ended', async () => {
    const first = await tenant.addKey();
    const second = await rotate(tenant, first, 24);
    await expect(rotate(tenant, first, 24)).rejects.toMatchObject({
      code: 'rotation-running',
      message: expect.stringMatching(/valid until \d{4}-\d{2}-\d{2}T/),
    });
    expect(await statusOf(first.apiKey)).toBe(200);
    await api.database.query('update api_keys set previous_valid_until = now() where id = $1', [uuidOfKey(first)]);
    const third = await rotate(tenant, first, 24);
    await waitFor(async () => (await statusOf(third.apiKey)) === 200, 10_000);
    expect(await statusOf(second.apiKey)).toBe(200);
    expect(await statusOf(first.apiKey)).toBe(401);
  });

  test('of a public key changes the secret of its tokens', async () => {
    const key = await tenant.addKey({ kind: 'public' });
    const issue = () => claimToken(api, tenant, 'user|1', key);
    const before = await issue();
    await rotate(tenant, key, 0);
    await waitFor(async () => (await me(before)) === 'bad-signature', 10_000);
    expect(await me(await issue())).toBe(200);
  });

  test('is rejected for a revoked key, which stays revoked', async () => {
    const key = await tenant.addKey();
    await revoke(api, tenant, key);
    await expect(rotate(tenant, key, 24)).rejects.toMatchObject({ code: 'invalid-transition' });
    expect(presentApiKey(await rowOf(key), new Date()).status).toBe('revoked');
  });
});

describe('the stored key', () => {
  test('contains neither its secret nor its bearer value, in any table', async () => {
    const owner = await makeTenant(api);
    const old = await owner.addKey();
    const fresh = await rotate(owner, old, 24);
    const published = await owner.addKey({ kind: 'public' });
    await api.request('POST', '/v1/auth/inspect', {
      as: fresh.apiKey,
      body: { token: signWith(owner, fresh) },
      headers: { 'idempotency-key': 'inspect-1' },
    });
    const tables = await api.database.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    expect(tables.length).toBeGreaterThan(10);
    const dumps = await Promise.all(
      tables.map(({ name }) => api.database.query<{ row: string }>(`select t::text as row from ${name} t`)),
    );
    const dump = dumps
      .flat()
      .map(({ row }) => row)
      .join('\n');
    expect(dump).toContain(uuidOfKey(published));
    for (const value of [old.secret, old.apiKey, fresh.secret, fresh.apiKey]) {
      expect(dump).not.toContain(value);
      expect(dump).not.toContain(value.slice(-43));
      expect(dump).not.toContain(Buffer.from(value).toString('hex'));
      expect(dump).not.toContain(Buffer.from(value, 'base64url').toString('hex'));
    }
  });

  test('is shown without secrets, except directly after its creation', async () => {
    const shown = ApiKey.strict().parse(JSON.parse(JSON.stringify(presentApiKey(await rowOf(tenant.key), new Date()))));
    expect(shown).not.toHaveProperty('secret');
    expect(shown).not.toHaveProperty('api_key');
    expect(shown).toMatchObject({
      id: tenant.key.id,
      kind: 'server',
      status: 'active',
      hint: tenant.key.apiKey.slice(-4),
    });
  });

  test('never appears in a response', async () => {
    const owner = await makeTenant(api);
    const published = await owner.addKey({ kind: 'public' });
    const issued = await api.request('POST', `/v1/tenants/${owner.id}/issuers/public/auth/token`, {
      body: { user_id: 'user|1' },
      headers: { authorization: `Basic ${Buffer.from(`api_key:${published.id}`).toString('base64')}` },
    });
    const hidden = api.seals.unseal((await rowOf(published)).secret_sealed, uuidOfKey(published));
    const credentials = [owner.key.apiKey, await owner.sign('user|1'), issued.body.access_token];
    const replies = [JSON.stringify(issued.body)];
    for (const operation of OPERATIONS)
      for (const as of credentials) {
        const path = operation.path.replaceAll(/\{\w+\}/g, 'x');
        const { body, headers } = await api.request(operation.method.toUpperCase(), path, { as });
        replies.push(JSON.stringify(body) + JSON.stringify([...headers]));
      }
    for (const reply of replies)
      for (const secret of [owner.key.secret, owner.key.apiKey, hidden]) expect(reply).not.toContain(secret);
  });
});

test('a process at log level trace logs no credentials', async () => {
  await using process = await startProcess('serve', {
    DATABASE_URL: api.database.url,
    SECRET_KEY: api.secretKey,
    LOG_LEVEL: 'trace',
  });
  await process.awaitProbe('/readyz');
  const token = signWith(tenant, tenant.key);
  const ask = (path: string, authorization: string, body?: object) =>
    fetch(`${process.baseUrl}${path}`, {
      headers: { authorization, 'content-type': 'application/json' },
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
    });
  expect((await ask('/v1/questions', `Bearer ${tenant.key.apiKey}`)).status).toBe(200);
  expect((await ask('/v1/me', `Bearer ${token}`)).status).toBe(200);
  expect((await ask('/v1/me', `Bearer ${token}x`)).status).toBe(401);
  expect((await ask('/v1/auth/inspect', `Bearer ${tenant.key.apiKey}`, { token })).status).toBe(200);
  await waitFor(() => process.output().includes('/v1/auth/inspect'));
  for (const secret of [tenant.key.apiKey, tenant.key.secret, token, token.split('.')[2] as string, api.secretKey])
    expect(process.output()).not.toContain(secret);
});

describe.each(backends())('with the queue in %s', backend => {
  test('every process rejects a revoked key, and never accepts it again', async () => {
    await using first = await createApi({ backend });
    await using second = await createApi({ backend, sharing: first });
    const owner = await makeTenant(first);
    const token = signWith(owner, owner.key);
    for (const process of [first, second]) {
      expect(await statusOf(owner.key.apiKey, process)).toBe(200);
      expect(await me(token, process)).toBe(200);
    }
    const press = async (process: TestApi, seen: boolean[]) => {
      while (seen.filter(accepted => !accepted).length < 20) {
        const [status, who] = await Promise.all([statusOf(owner.key.apiKey, process), me(token, process)]);
        seen.push(status !== 401 || who !== 'unknown-issuer');
      }
      return seen;
    };
    const seen: boolean[][] = [[], [], [], []];
    const load = [first, second, first, second].map((process, lane) => press(process, seen[lane] as boolean[]));
    await waitFor(() => seen.every(({ length }) => length > 0));
    await revoke(first, owner, owner.key);
    const revokedAt = Date.now();
    const all = await Promise.all(load);
    expect(Date.now() - revokedAt).toBeLessThan(20_000); // a second; 60 without the notice
    for (const accepted of all) {
      expect(accepted[0]).toBe(true);
      expect(accepted.slice(accepted.indexOf(false))).toEqual(Array(20).fill(false));
    }
  });

  test('the last use of a key is stored', async () => {
    await using first = await createApi({ backend });
    const second = await createApi({ backend, sharing: first });
    const owner = await makeTenant(first);
    const [used, signer, idle] = [owner.key, await owner.addKey(), await owner.addKey()];
    const before = Date.now();
    expect(await statusOf(used.apiKey, second)).toBe(200);
    expect(await me(signWith(owner, signer), second)).toBe(200);
    expect(await statusOf(`${idle.apiKey.slice(0, -2)}AA`, second)).toBe(401);
    await second.close(); // writes the pending times
    const rows = await first.database.query<{ id: string; last_used_at: Date | null }>(
      'select id, last_used_at from api_keys',
    );
    const usedAt = (key: TestKey) => rows.find(({ id }) => id === uuidOfKey(key))?.last_used_at;
    expect(usedAt(used)?.getTime()).toBeGreaterThanOrEqual(before - 5);
    expect(usedAt(signer)?.getTime()).toBeGreaterThanOrEqual(before - 5);
    expect(usedAt(idle)).toBeNull();
  });
});

describe('an API key of the dashboard', () => {
  let owner: TestPerson;
  beforeAll(async () => {
    owner = await makeMember(api, tenant, 'owner');
  });
  const ask = (method: string, path: string, body?: object, headers = {}) =>
    api.request(method, `/v1/api-keys${path}`, { headers: { ...owner.headers, ...headers }, body });

  test('shows its secrets once, works at once, and is listed without them', async () => {
    const made = await ask('POST', '', { name: 'backend', scopes: ['questions:read'] });
    expect(made.status).toBe(201);
    expect(ApiKey.parse(made.body)).toMatchObject({ kind: 'server', status: 'active', scopes: ['questions:read'] });
    expect(made.headers.get('Location')).toBe(`/v1/api-keys/${made.body.id}`);
    expect(made.headers.get('Cache-Control')).toBe('no-store');
    expect(await statusOf(made.body.api_key)).toBe(200);
    const read = await ask('GET', `/${made.body.id}`);
    const { secret: _, api_key: __, ...visible } = made.body;
    expect(read.body).toEqual({ ...visible, last_used_at: read.body.last_used_at });
    expect(JSON.stringify((await ask('GET', '?limit=100')).body)).not.toMatch(/"secret"|"api_key"/);
  });

  test('with the Public option has no secrets, and serves its allowed origins, changed within a second', async () => {
    const made = await ask('POST', '', { name: 'web', kind: 'public', allowed_origins: ['https://app.example.com'] });
    expect(made.body).not.toHaveProperty('secret');
    expect(made.body).not.toHaveProperty('api_key');
    const issue = async (origin: string) => {
      const authorization = `Basic ${Buffer.from(`api_key:${made.body.id}`).toString('base64')}`;
      const path = `/v1/tenants/${tenant.id}/issuers/public/auth/token`;
      const headers = { Authorization: authorization, Origin: origin };
      return (await api.request('POST', path, { headers, body: { user_id: 'user|1' } })).status;
    };
    expect([await issue('https://app.example.com'), await issue('https://other.example')]).toEqual([200, 403]);
    const changed = await ask('PATCH', `/${made.body.id}`, { allowed_origins: ['https://other.example'] });
    expect(changed.body.allowed_origins).toEqual(['https://other.example']);
    await waitFor(async () => (await issue('https://other.example')) === 200, 10_000);
    expect(await issue('https://app.example.com')).toBe(403);
  });

  test('is rotated with an overlap, and revoked permanently', async () => {
    const made = await ask('POST', '', { name: 'backend' });
    const rotated = await ask('POST', `/${made.body.id}/rotate`, { overlap_hours: 1 });
    expect(rotated).toMatchObject({ status: 200, body: { status: 'rotating' } });
    expect(rotated.body.api_key).not.toBe(made.body.api_key);
    for (const key of [made.body.api_key, rotated.body.api_key])
      await waitFor(async () => (await statusOf(key)) === 200, 10_000);
    expect((await ask('DELETE', `/${made.body.id}`)).status).toBe(204);
    for (const key of [made.body.api_key, rotated.body.api_key])
      await waitFor(async () => (await statusOf(key)) === 401, 10_000);
    expect((await ask('PATCH', `/${made.body.id}`, { name: 'again' })).body.code).toBe('invalid-transition');
    expect((await ask('POST', `/${made.body.id}/rotate`, {})).body.code).toBe('invalid-transition');
  });

  test('created twice with one Idempotency-Key is one key, and its stored reply is encrypted', async () => {
    const headers = { 'Idempotency-Key': 'make-it-once' };
    const first = await ask('POST', '', { name: 'once' }, headers);
    const again = await ask('POST', '', { name: 'once' }, headers);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('Idempotency-Replayed')).toBe('true');
    const kept = await api.database.query<{ row: string }>(
      'select idempotency_keys::text as row from idempotency_keys',
    );
    expect(kept.filter(({ row }) => row.includes(first.body.secret) || row.includes(first.body.api_key))).toEqual([]);
  });

  test('is not created or changed by an invalid body', async () => {
    for (const body of [{}, { name: '' }, { name: 'x', scopes: ['everything'] }, { name: 'x', secret: 'mine' }])
      expect((await ask('POST', '', body)).status).toBe(422);
    const made = await ask('POST', '', { name: 'web', kind: 'public' });
    for (const body of [{ kind: 'server' }, { scopes: ['answers:read'] }, { allowed_origins: ['app.example.com'] }])
      expect((await ask('PATCH', `/${made.body.id}`, body)).status).toBe(422);
    expect((await ask('POST', `/${made.body.id}/rotate`, { overlap_hours: 169 })).status).toBe(422);
  });
});
