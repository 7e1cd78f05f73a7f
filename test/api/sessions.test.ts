import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, type TestApi, waitFor } from '../support/api.ts';
import { makeTenant, type TestTenant } from '../support/make.ts';
import { cookieOf, joinTenant, logIn, makeMember, openSession } from '../support/person.ts';

let api: TestApi;
let second: TestApi;
let tenant: TestTenant;

beforeAll(async () => {
  api = await createApi();
  second = await createApi({ sharing: api });
  tenant = await makeTenant(api);
});
afterAll(async () => {
  await second[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

const me = (headers: Record<string, string>, of = api) => of.request('GET', '/v1/me', { headers });

describe('a write with a session', () => {
  const rename = (headers: Record<string, string>, name = 'New name') =>
    api.request('PATCH', '/v1/tenant', { headers, body: { name } });

  test('needs the token of that session', async () => {
    const own = await makeTenant(api, 'Own');
    const person = await makeMember(api, own, 'owner');
    const another = await openSession(api, person.accountId);
    const { 'X-CSRF-Token': _, ...without } = person.headers;
    for (const headers of [
      without,
      { ...without, 'X-CSRF-Token': '' },
      { ...without, 'X-CSRF-Token': 'x'.repeat(43) },
      { ...without, 'X-CSRF-Token': another['X-CSRF-Token'] as string },
    ])
      expect((await rename(headers)).body).toMatchObject({ status: 403, code: 'csrf-failed' });
    expect((await api.request('GET', '/v1/tenant', { headers: without })).body.name).toBe('Own');
    expect((await rename(person.headers)).body.name).toBe('New name');
  });

  test('is rejected from a page of another site, even with the token', async () => {
    const person = await makeMember(api, tenant, 'owner');
    for (const more of [
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
      { Origin: 'https://evil.example' },
      { Origin: 'https://sub.parley.test' },
      { Origin: 'http://parley.test' },
      { Origin: 'https://parley.test:8443' },
      { Origin: 'null' },
    ] as Record<string, string>[])
      expect((await rename({ ...person.headers, ...more })).body).toMatchObject({ code: 'cross-site-request' });
  });

  test('is rejected in the form of a cross-site form post', async () => {
    const person = await makeMember(api, tenant, 'owner');
    const { Cookie } = person.headers as { Cookie: string };
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const reply = await api.request('POST', '/v1/api-keys', {
        raw: '{"name":"stolen"}',
        headers: { Cookie, 'Content-Type': type, 'Tenant-Id': tenant.id, Origin: 'https://evil.example' },
      });
      expect(reply.status).toBe(403);
      const fromOldBrowser = await api.request('POST', '/v1/api-keys', {
        raw: '{"name":"stolen"}',
        headers: { Cookie, 'Content-Type': type, 'Tenant-Id': tenant.id },
      });
      expect(fromOldBrowser.body).toMatchObject({ status: 403, code: 'csrf-failed' });
    }
    const keys = await api.request('GET', '/v1/api-keys', { headers: person.headers });
    expect(keys.body.data.map(({ name }: { name: string }) => name)).not.toContain('stolen');
  });
});

describe('a session', () => {
  test('names its tenant, and cannot reach tenants without a membership', async () => {
    const person = await makeMember(api, tenant, 'owner');
    const other = await makeTenant(api, 'Other');
    const read = (headers: Record<string, string>) => api.request('GET', '/v1/tenant', { headers });
    const { 'Tenant-Id': _, ...without } = person.headers;
    expect((await read(without)).body).toMatchObject({ status: 400, code: 'tenant-missing' });
    const ended = { Cookie: '__Host-parley_session=unknown' };
    expect((await read(ended)).body).toMatchObject({ status: 401, code: 'session-ended' }); // the fault to correct first
    for (const id of [other.id, 'tenant_01h455vb4pex5vsknk084sn02q', 'nonsense', tenant.uuid])
      expect((await read({ ...without, 'Tenant-Id': id })).body).toMatchObject({ status: 403, code: 'not-a-member' });
    await joinTenant(api, other, person, 'analyst');
    expect((await read({ ...without, 'Tenant-Id': other.id })).body.name).toBe('Other');
    const who = await me(person.headers);
    expect(who.body.account.memberships.map((one: { role: string }) => one.role)).toEqual(['owner', 'analyst']);
    const rename = await api.request('PATCH', '/v1/tenant', {
      headers: { ...person.headers, 'Tenant-Id': other.id },
      body: { name: 'x' },
    });
    expect(rename.body.code).toBe('insufficient-scope');
  });

  test('is ignored next to an Authorization header', async () => {
    const person = await makeMember(api, tenant, 'owner');
    const token = await tenant.sign('user|42');
    const asUser = await api.request('GET', '/v1/me', { as: token, headers: person.headers });
    expect(asUser.body).toMatchObject({ credential: 'access-token', identity: 'user|42' });
    const bad = await api.request('GET', '/v1/me', { as: 'nonsense', headers: person.headers });
    expect(bad.status).toBe(401);
  });

  test('ends at logout, in every process with the next request, and its cookie becomes useless', async () => {
    const person = await makeMember(api, tenant, 'agent');
    expect((await me(person.headers, second)).status).toBe(200);
    const out = await api.request('DELETE', '/v1/session', { headers: person.headers });
    expect(out.status).toBe(204);
    expect(out.headers.get('Set-Cookie')).toMatch(/^__Host-parley_session=; Path=\/; Max-Age=0;/);
    for (const process of [api, second])
      expect((await me(person.headers, process)).body).toMatchObject({ status: 401, code: 'session-ended' });
  });

  test('ends everywhere for requests in progress', async () => {
    const person = await makeMember(api, tenant, 'owner');
    const seen: { startedAt: number; status: number }[] = [];
    let isOver = false;
    const ask = async () => {
      while (!isOver) {
        const startedAt = performance.now();
        seen.push({ startedAt, status: (await me(person.headers, second)).status });
      }
    };
    const askers = [ask(), ask(), ask()];
    await waitFor(() => seen.length > 10);
    expect((await api.request('DELETE', '/v1/sessions', { headers: person.headers })).status).toBe(204);
    const endedAt = performance.now();
    const late = () => seen.filter(({ startedAt }) => startedAt > endedAt);
    await waitFor(() => late().length > 10);
    isOver = true;
    await Promise.all(askers);
    expect(seen[0]?.status).toBe(200);
    expect(new Set(late().map(({ status }) => status))).toEqual(new Set([401]));
  });

  test("is listed with the person's others, and each can be ended individually, or all at once", async () => {
    const person = await makeMember(api, tenant, 'agent');
    const stranger = await makeMember(api, tenant, 'agent');
    const [phone, laptop] = [await openSession(api, person.accountId), await openSession(api, person.accountId)];
    const list = await api.request('GET', '/v1/sessions', { headers: person.headers });
    expect(list.body.data).toHaveLength(3);
    expect(list.body.data.filter((one: { current: boolean }) => one.current)).toHaveLength(1);
    expect(list.body.data[0]).toMatchObject({ user_agent: 'a test', ip: null });
    const ofPhone = (await me(phone)).body.session.id;
    const end = (id: string, headers: Record<string, string>) =>
      api.request('DELETE', `/v1/sessions/${id}`, { headers });
    expect((await end(ofPhone, stranger.headers)).status).toBe(404);
    expect((await end(ofPhone, person.headers)).status).toBe(204);
    expect((await me(phone, second)).status).toBe(401);
    expect((await me(laptop, second)).status).toBe(200);
    expect((await api.request('DELETE', '/v1/sessions', { headers: person.headers })).status).toBe(204);
    for (const headers of [person.headers, laptop]) expect((await me(headers, second)).status).toBe(401);
    expect((await me(stranger.headers)).status).toBe(200);
  });

  test("has an address as the strictest of its account's tenants allows", async () => {
    const [full, truncated] = [await makeTenant(api, 'Full'), await makeTenant(api, 'Truncated')];
    for (const [each, ip_mode] of [
      [full, 'full'],
      [truncated, 'truncated'],
    ] as const) {
      const { headers } = await makeMember(api, each, 'owner');
      await api.request('PATCH', '/v1/tenant', { headers, body: { ip_mode } });
    }
    const person = await makeMember(api, full, 'agent');
    const address = async () => {
      const headers = { ...(await openSession(api, person.accountId)), 'Tenant-Id': full.id };
      return (await api.request('GET', '/v1/sessions', { headers })).body.data[0].ip;
    };
    expect(await address()).toBe('192.0.2.7');
    await joinTenant(api, truncated, person, 'agent');
    expect(await address()).toBe('192.0.2.0');
    await joinTenant(api, tenant, person, 'agent');
    expect(await address()).toBeNull();
  });

  test('ends after inactivity and at its maximum age', async () => {
    const idle = await makeMember(api, tenant, 'agent');
    const old = await makeMember(api, tenant, 'agent');
    const live = await makeMember(api, tenant, 'agent');
    const age = (accountId: string, column: string, ago: string) =>
      api.database.query(`update sessions set ${column} = now() - $2::interval where account_id = $1`, [
        accountId,
        ago,
      ]);
    await age(idle.accountId, 'last_seen_at', '12 hours 1 second');
    await age(old.accountId, 'expires_at', '1 second');
    await age(live.accountId, 'last_seen_at', '11 hours 59 minutes');
    expect((await me(idle.headers)).body.code).toBe('session-ended');
    expect((await me(old.headers)).body.code).toBe('session-ended');
    expect((await me(live.headers)).status).toBe(200);
    const [row] = await api.database.query<{ fresh: boolean }>(
      `select last_seen_at > now() - interval '1 minute' as fresh from sessions where account_id = $1`,
      [live.accountId],
    );
    expect(row?.fresh).toBe(true);
  });

  test('is stored only as the hash of its token', async () => {
    const person = await makeMember(api, tenant, 'agent');
    const reply = await logIn(api, person.email);
    const token = cookieOf(reply.headers.get('Set-Cookie') ?? '').split('=')[1] as string;
    const rows = await api.database.query<{ row: string }>('select sessions::text as row from sessions');
    expect(rows.length).toBeGreaterThan(0);
    const asHex = Buffer.from(token).toString('hex');
    expect(rows.filter(({ row }) => row.includes(token) || row.includes(asHex))).toEqual([]);
  });

  test('loses its tenant when its person is removed, and its rights when the role changes', async () => {
    const owner = await makeMember(api, tenant, 'owner');
    const person = await makeMember(api, tenant, 'admin');
    const keys = () => second.request('GET', '/v1/api-keys', { headers: person.headers });
    expect((await keys()).status).toBe(200);
    const path = `/v1/members/${person.memberId}`;
    await api.request('PATCH', path, { headers: owner.headers, body: { role: 'agent' } });
    expect((await keys()).body.code).toBe('insufficient-scope');
    expect((await api.request('DELETE', path, { headers: owner.headers })).status).toBe(204);
    expect((await keys()).body.code).toBe('not-a-member');
  });
});
