import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { backends, createApi, type TestApi, type TestReply, waitFor } from '../support/api.ts';
import { makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';

const basic = (keyId: string) => `Basic ${Buffer.from(`api_key:${keyId}`).toString('base64')}`;

/** Resolves when the current minute, the window of the limits, has at least 5 seconds left. */
const withinOneMinute = () => waitFor(() => Date.now() % 60_000 < 48_000);

async function ask(times: number, request: () => Promise<TestReply>): Promise<TestReply[]> {
  const replies: TestReply[] = [];
  for (let sent = 0; sent < times; sent++) replies.push(await request());
  return replies;
}

const statuses = (replies: TestReply[]) => replies.map(({ status }) => status);

describe.each(backends())('with counters in %s', backend => {
  let api: TestApi;
  let tenant: TestTenant;

  beforeAll(async () => {
    api = await createApi({
      backend,
      settings: {
        RATE_LIMITS: 'on',
        RATE_API_KEY: '100',
        RATE_ACCESS_TOKEN: '4',
        RATE_PUBLIC_TOKEN: '3',
        RATE_TOKEN_ISSUE_IP: '6',
        RATE_TOKEN_ISSUE_USER: '2',
        PUBLIC_KEY_DAILY_CAP: '5',
        TRUSTED_PROXY_HOPS: '1',
      },
    });
    tenant = await makeTenant(api);
  });
  afterAll(() => api[Symbol.asyncDispose]());

  const me = (token: string) => () => api.request('GET', '/v1/me', { as: token });
  const issue = (keyId: string, userId: string, from: string) => () =>
    api.request('POST', `/v1/tenants/${tenant.id}/issuers/public/auth/token`, {
      body: { user_id: userId },
      headers: { authorization: basic(keyId), 'x-forwarded-for': from },
    });

  test('a user who exceeds the limit gets Retry-After and the limit', async () => {
    await withinOneMinute();
    const replies = await ask(6, me(await tenant.sign('user|busy')));
    expect(statuses(replies)).toEqual([200, 200, 200, 200, 429, 429]);
    expect(replies.map(({ headers }) => headers.get('ratelimit-policy'))).toEqual(Array(6).fill('"identity";q=4;w=60'));
    expect(replies.map(({ headers }) => headers.get('ratelimit')?.replace(/t=\d+$/, 't='))).toEqual(
      [3, 2, 1, 0, 0, 0].map(left => `"identity";r=${left};t=`),
    );
    const refused = replies.at(-1) as TestReply;
    expect(refused.body).toMatchObject({ status: 429, code: 'rate-limit-exceeded' });
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(wait).toBeLessThanOrEqual(60);
    expect(refused.headers.get('ratelimit')).toMatch(new RegExp(`t=${wait}$`));
    expect(refused.headers.get('access-control-allow-origin')).toBe('*');
    expect(refused.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('another user of the tenant, and one of the same name elsewhere, have separate limits', async () => {
    await withinOneMinute();
    const other = await makeTenant(api);
    await ask(5, me(await tenant.sign('user|shared')));
    expect(statuses(await ask(1, me(await tenant.sign('user|shared'))))).toEqual([429]);
    expect(statuses(await ask(1, me(await tenant.sign('user|calm'))))).toEqual([200]);
    expect(statuses(await ask(1, me(await other.sign('user|shared'))))).toEqual([200]);
  });

  test("a new token does not reset a user's limit", async () => {
    await withinOneMinute();
    const replies = [];
    for (let index = 0; index < 5; index++)
      replies.push(await me(await tenant.sign('user|fresh', { claims: { jti: index } }))());
    expect(statuses(replies)).toEqual([200, 200, 200, 200, 429]);
  });

  test('public tokens are limited by user, and by day for all users of their key', async () => {
    await withinOneMinute();
    const key = await tenant.addKey({ kind: 'public' });
    const tokenOf = async (user: string, from: string) => (await issue(key.id, user, from)()).body.access_token;
    const [first, second] = [await tokenOf('a', '192.0.2.1'), await tokenOf('b', '192.0.2.2')];
    expect(statuses(await ask(4, me(first)))).toEqual([200, 200, 200, 429]);
    const capped = await ask(3, me(second)); // requests rejected by the user's limit do not count against the key
    expect(statuses(capped)).toEqual([200, 200, 429]);
    expect(capped[2]?.headers.get('ratelimit-policy')).toBe('"public-key";q=5;w=86400');
  });

  describe('a batch of answers', () => {
    const send = (token: string, items: number) =>
      api.request('POST', '/v1/answers', { as: token, body: { answers: Array(items).fill({}) } });
    const left = ({ headers }: TestReply) => headers.get('ratelimit')?.replace(/;t=\d+$/, '');

    test('counts one request per item for a user, including rejected items', async () => {
      await withinOneMinute();
      const token = await tenant.sign('user|items');
      const first = await send(token, 3);
      expect(first.status).toBe(202);
      expect(first.body.results.map(({ status }: { status: string }) => status)).toEqual(Array(3).fill('rejected'));
      expect(left(first)).toBe('"identity";r=1');
      expect(left(await send(token, 1))).toBe('"identity";r=0');
      expect((await send(token, 1)).status).toBe(429);
    });

    test('that exceeds the remainder is rejected as a whole, and counts as one request', async () => {
      await withinOneMinute();
      const token = await tenant.sign('user|too-many');
      await send(token, 1);
      const refused = await send(token, 4);
      expect(refused.status).toBe(429);
      expect(refused.body.results).toBeUndefined();
      expect(refused.body.detail).toBe('2 of 4 requests per 60 s remain, but this request counts as 4.');
      expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
      expect(left(refused)).toBe('"identity";r=2');
      expect((await send(token, 2)).status).toBe(202);
    });

    test('of any size is accepted by a full limit, which is then used up for the windows that it exceeds', async () => {
      await withinOneMinute();
      const token = await tenant.sign('user|full');
      const taken = await send(token, 12);
      expect(taken.status).toBe(202);
      expect(left(taken)).toBe('"identity";r=0');
      const refused = await send(token, 1);
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(120); // two more windows
    });

    test('of a public token counts for its user and for its key', async () => {
      await withinOneMinute();
      const key = await tenant.addKey({ kind: 'public' });
      const tokenOf = async (user: string) => (await issue(key.id, user, '192.0.2.77')()).body.access_token;
      const [first, second] = [await tokenOf('batch a'), await tokenOf('batch b')];
      const taken = await send(first, 3);
      expect(left(taken)).toBe('"public-identity";r=0');
      const refused = await send(second, 3);
      expect(refused.status).toBe(429);
      expect(refused.headers.get('ratelimit-policy')).toBe('"public-key";q=5;w=86400');
    });

    test('of an API key counts as one request', async () => {
      await withinOneMinute();
      const key = await tenant.addKey();
      expect(left(await send(key.apiKey, 50))).toBe('"api-key";r=99');
    });

    test('beyond the limit is rejected before its body is read', async () => {
      await withinOneMinute();
      const token = await tenant.sign('user|unread');
      await send(token, 4);
      const { status } = await api.request('POST', '/v1/answers', { as: token, raw: 'x'.repeat(300_000) });
      expect(status).toBe(429);
    });
  });

  test('issuing public tokens is limited by user', async () => {
    await withinOneMinute();
    const key = await tenant.addKey({ kind: 'public' });
    const replies = [];
    for (const from of ['198.51.100.1', '198.51.100.2', '198.51.100.3'])
      replies.push(await issue(key.id, 'user|1', from)());
    expect(statuses(replies)).toEqual([200, 200, 429]);
    expect(replies[2]?.headers.get('ratelimit-policy')).toBe('"token-user";q=2;w=60');
    expect((await issue(key.id, 'user|2', '198.51.100.4')()).status).toBe(200);
  });

  test('issuing public tokens is limited by address, including failed attempts, whatever headers a client adds', async () => {
    await withinOneMinute();
    const key = await tenant.addKey({ kind: 'public' });
    const replies = [];
    for (let index = 0; index < 7; index++)
      replies.push(await issue('key_unknown', `user|${index}`, `10.0.0.${index}, 203.0.113.9`)());
    expect(statuses(replies)).toEqual([401, 401, 401, 401, 401, 401, 429]);
    expect((await issue(key.id, 'user|x', '203.0.113.9')()).status).toBe(429);
    expect((await issue(key.id, 'user|x', '203.0.113.9, 203.0.113.10')()).status).toBe(200);
  });

  test('all processes share a limit', async () => {
    await using second = await createApi({
      backend,
      sharing: api,
      settings: { RATE_LIMITS: 'on', RATE_API_KEY: '100' },
    });
    const key = await tenant.addKey();
    const { id } = await publishQuestion(api, tenant);
    const read = (of: TestApi) => () => of.request('GET', `/v1/questions/${id}`, { as: key.apiKey });
    await withinOneMinute();
    const here = await Promise.all(Array.from({ length: 101 }, read(api)));
    expect(here.filter(({ status }) => status === 200)).toHaveLength(100);
    let passed = 0;
    await waitFor(async () => {
      const { status } = await read(second)();
      if (status === 200) passed++;
      return status === 429;
    });
    expect(passed).toBeLessThan(50);
    expect((await read(api)()).status).toBe(429);
  });

  test('if disabled, limits are reported and counted, but not enforced', async () => {
    await using open = await createApi({
      backend,
      sharing: api,
      settings: { RATE_LIMITS: 'off', RATE_ACCESS_TOKEN: '2' },
    });
    const token = await tenant.sign('user|free');
    await withinOneMinute();
    const replies = await ask(4, () => open.request('GET', '/v1/me', { as: token }));
    expect(statuses(replies)).toEqual([200, 200, 200, 200]);
    expect(replies[3]?.headers.get('ratelimit')).toMatch(/^"identity";r=0;t=\d+$/);
    expect(await open.metrics.render()).toMatch(/rate_limited\w*\{[^}]*scope="identity"[^}]*\} 2\b/);
  });

  test('setup, resets and invitations have limits of their own per address', async () => {
    await using limited = await createApi({
      backend,
      sharing: api,
      settings: { RATE_LIMITS: 'on', RATE_LINK_IP: '1', TRUSTED_PROXY_HOPS: '1' },
    });
    const headers = { 'x-forwarded-for': '192.0.2.77' };
    const setup = { token: 'x', tenant_name: 'A', name: 'A', email: 'a@acme.example', password: 'a long password' };
    const requests = [
      () => limited.request('GET', '/v1/invitations/unknown', { headers }),
      () => limited.request('POST', '/v1/password-resets', { headers, body: { email: 'a@acme.example' } }),
      () => limited.request('POST', '/v1/setup', { headers, body: setup }),
    ];
    await withinOneMinute();
    const replies = [];
    for (const request of requests) replies.push(...(await ask(2, request)));
    expect(statuses(replies)).toEqual([404, 429, 202, 429, 404, 429]);
  });

  test('600 people behind one address get tokens and cards within a minute, by the default limits', async () => {
    await using open = await createApi({
      backend,
      sharing: api,
      settings: { RATE_LIMITS: 'on', TRUSTED_PROXY_HOPS: '1' },
    });
    const { id } = await tenant.addKey({ kind: 'public' });
    const arrive = async (person: number): Promise<number> => {
      const issued = await open.request('POST', `/v1/tenants/${tenant.id}/issuers/public/auth/token`, {
        body: { user_id: `guest|${person}` },
        headers: { authorization: basic(id), 'x-forwarded-for': '198.51.100.77' },
      });
      if (issued.status !== 200) return issued.status;
      return (await open.request('GET', '/v1/cards', { as: issued.body.access_token })).status;
    };
    await waitFor(() => Date.now() % 60_000 < 30_000);
    for (let group = 0; group < 6; group++) {
      const people = await Promise.all(Array.from({ length: 100 }, (_, at) => arrive(100 * group + at)));
      expect(people.filter(status => status !== 200)).toEqual([]);
    }
    expect(await arrive(600)).toBe(429);
  });

  test('X-Forwarded-For is ignored without a trusted proxy', async () => {
    await using direct = await createApi({
      backend,
      sharing: api,
      settings: { RATE_LIMITS: 'on', RATE_TOKEN_ISSUE_IP: '3' },
    });
    await withinOneMinute();
    const replies = [];
    for (let index = 0; index < 4; index++)
      replies.push(
        await direct.request('POST', `/v1/tenants/${tenant.id}/issuers/public/auth/token`, {
          body: { user_id: 'a' },
          headers: {
            authorization: basic('key_unknown'),
            'x-forwarded-for': `192.0.2.${index}`,
            forwarded: `for=192.0.2.${index}`,
          },
        }),
      );
    expect(statuses(replies)).toEqual([401, 401, 401, 429]);
  });

  test("one address can use a share of a public key's daily limit, and all others of the network the rest", async () => {
    await using capped = await createApi({
      backend,
      sharing: api,
      settings: { RATE_LIMITS: 'on', RATE_PUBLIC_TOKEN: '1000', PUBLIC_KEY_DAILY_CAP: '40', TRUSTED_PROXY_HOPS: '1' },
    });
    await waitFor(() => Date.now() % 86_400_000 < 86_390_000); // the cap is per day
    const key = await tenant.addKey({ kind: 'public' });
    const issued = await capped.request('POST', `/v1/tenants/${tenant.id}/issuers/public/auth/token`, {
      body: { user_id: 'a' },
      headers: { authorization: basic(key.id), 'x-forwarded-for': '2001:db8:7::1' },
    });
    const from = (address: string) => () =>
      capped.request('GET', '/v1/me', { as: issued.body.access_token, headers: { 'x-forwarded-for': address } });
    const flood = await ask(30, from('2001:db8:1:2::1'));
    expect(statuses(flood)).toEqual([...Array(24).fill(200), ...Array(6).fill(429)]);
    expect(flood.at(-1)?.headers.get('ratelimit-policy')).toBe('"public-key-address";q=4;w=86400');
    expect(statuses(await ask(1, from('2001:db8:1:2:ffff::')))).toEqual([429]);
    expect(statuses(await ask(2, from('2001:db8:1:3::1')))).toEqual([200, 200]);
    expect(statuses(await ask(2, from('192.0.2.1')))).toEqual([200, 200]);
  });

  test('addresses of one IPv6 /64 share a limit, and an IPv4-mapped address is the IPv4 address', async () => {
    await withinOneMinute();
    const from = (address: string) => issue('key_unknown', 'user|1', address);
    const replies = [];
    for (let host = 1; host <= 7; host++) replies.push(await from(`2001:db8:5:${'0'.repeat(host % 4)}6::${host}`)());
    expect(statuses(replies)).toEqual([401, 401, 401, 401, 401, 401, 429]);
    expect((await from('2001:db8:5:7::1')()).status).toBe(401);
    for (let sent = 0; sent < 6; sent++) await from('203.0.113.77')();
    expect((await from('::ffff:203.0.113.77')()).status).toBe(429);
  });
});
