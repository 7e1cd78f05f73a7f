import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createApi, type TestApi, waitFor } from '../support/api.ts';
import { makeTenant, type TestTenant } from '../support/make.ts';
import { connect } from '../support/migrations.ts';
import { headersOf, logIn, makeMember, PASSWORD, type TestPerson } from '../support/person.ts';

let api: TestApi;
let tenant: TestTenant;
let owner: TestPerson;
beforeAll(async () => {
  api = await createApi();
});
beforeEach(async () => {
  tenant = await makeTenant(api);
  owner = await makeMember(api, tenant, 'owner');
});
afterAll(() => api[Symbol.asyncDispose]());

const invite = (email: string, role = 'agent', by = owner) =>
  api.request('POST', '/v1/members', { headers: by.headers, body: { email, role } });
const tokenIn = (link: string) => link.split('#token=')[1] as string;
const accept = (token: string, body: object = {}) =>
  api.request('POST', `/v1/invitations/${token}/accept`, { body: { name: 'Grace', password: PASSWORD, ...body } });
const patch = (person: TestPerson, role: string, by = owner) =>
  api.request('PATCH', `/v1/members/${person.memberId}`, { headers: by.headers, body: { role } });
const remove = (person: TestPerson, by = owner) =>
  api.request('DELETE', `/v1/members/${person.memberId}`, { headers: by.headers });

let count = 0;
const newAddress = () => `somebody-${count++}@acme.example`;

describe('an invitation', () => {
  test('is sent to one mailbox at most five times an hour, and a hundred per tenant', async () => {
    await using limited = await createApi({ sharing: api, settings: { RATE_LIMITS: 'on' } });
    const send = async (email: string) => {
      const body = { email, role: 'agent' };
      const { status } = await limited.request('POST', '/v1/members', { headers: owner.headers, body });
      return status;
    };
    const [victim, domain] = newAddress().split('@') as [string, string];
    const statuses = [];
    for (const name of ['', '', '+a', '+b', '', '+c', '']) statuses.push(await send(`${victim}${name}@${domain}`));
    expect(statuses).toEqual([201, 201, 201, 201, 201, 429, 429]);
    let sent = statuses.length;
    while ((await send(newAddress())) === 201) sent++;
    expect(sent).toBe(100);
  });

  test('returns a link once, describes itself to its holder, and creates a logged-in member', async () => {
    const email = newAddress();
    const invited = await invite(email.toUpperCase(), 'analyst');
    expect(invited).toMatchObject({ status: 201, body: { email, role: 'analyst', mail: 'none' } });
    expect(invited.body.link).toMatch(/^https:\/\/parley\.test\/dashboard\/invitation#token=[\w-]{43}$/);
    const token = tokenIn(invited.body.link);
    const open = await api.request('GET', '/v1/members/invitations', { headers: owner.headers });
    expect(open.body.data).toEqual([expect.not.objectContaining({ link: expect.anything() })]);
    const notice = await api.request('GET', `/v1/invitations/${token}`);
    expect(notice.body).toMatchObject({ tenant_name: 'Acme', email, role: 'analyst', account_exists: false });

    const accepted = await accept(token);
    expect(accepted).toMatchObject({ status: 200, body: { member: { email, name: 'Grace' } } });
    const list = await api.request('GET', '/v1/members', { headers: headersOf(accepted, tenant.id) });
    expect(list.body.data.map((one: { role: string }) => one.role)).toEqual(['owner', 'analyst']);
    expect((await logIn(api, email)).status).toBe(200);
    const spent = await accept(token);
    expect(spent.body).toMatchObject({ status: 404, code: 'link-not-valid' });
    const after = await api.request('GET', '/v1/members/invitations', { headers: owner.headers });
    expect(after.body.data).toEqual([]);
  });

  test('that is accepted while the person is invited again locks the tenant before the invitation', async () => {
    const email = newAddress();
    const token = tokenIn((await invite(email)).body.link);
    await using other = await connect(api.database.url);
    await other.query("begin; set local deadlock_timeout = '100ms'");
    await other.query('select from tenants where id = $1 for update', [tenant.uuid]);
    const accepted = accept(token);
    await waitFor(async () => {
      const sql = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      return (await api.database.query(sql)).length > 0;
    });
    await other.query('update invitations set role = role where tenant_id = $1', [tenant.uuid]);
    await other.query('commit');
    expect((await accepted).status).toBe(200);
  });

  test('accepted fifty times at once succeeds once', async () => {
    const email = newAddress();
    const token = tokenIn((await invite(email)).body.link);
    const replies = await Promise.all(Array.from({ length: 50 }, () => accept(token)));
    const statuses = replies.map(({ status }) => status);
    expect(statuses.filter(status => status === 200)).toHaveLength(1);
    expect(statuses.filter(status => status !== 200 && status !== 404 && status !== 503)).toEqual([]);
    expect(await api.database.query('select from accounts where email = $1', [email])).toHaveLength(1);
    expect(await api.database.query('select from members where tenant_id = $1', [tenant.uuid])).toHaveLength(2);
  }, 300_000);

  test('of an account holder requires the password and the authenticator', async () => {
    const other = await makeTenant(api, 'Other');
    const person = await makeMember(api, other, 'owner');
    const token = tokenIn((await invite(person.email)).body.link);
    expect((await api.request('GET', `/v1/invitations/${token}`)).body.account_exists).toBe(true);
    const wrong = await accept(token, { password: 'some other password' });
    expect(wrong.body).toMatchObject({ status: 401, code: 'login-failed' });
    const accepted = await accept(token);
    expect(accepted.body.member.memberships).toHaveLength(2);
    expect(accepted.body.member.name).toBe('The owner');
  });

  test('is invalid after it was revoked, replaced, or has expired', async () => {
    const revoked = await invite(newAddress());
    const path = `/v1/members/invitations/${revoked.body.id}`;
    expect((await api.request('DELETE', path, { headers: owner.headers })).status).toBe(204);
    expect((await api.request('DELETE', path, { headers: owner.headers })).status).toBe(404);
    const email = newAddress();
    const replaced = await invite(email);
    const current = await invite(email, 'admin');
    const expired = await invite(newAddress());
    await api.database.query('update invitations set expires_at = now() where email = $1', [expired.body.email]);
    for (const { body } of [revoked, replaced, expired])
      expect((await accept(tokenIn(body.link))).body).toMatchObject({ status: 404, code: 'link-not-valid' });
    expect((await accept('nonsense')).status).toBe(404);
    expect((await accept(tokenIn(current.body.link))).body.member.memberships[0].role).toBe('admin');
  });

  test('is stored as the hash of its token, and a stored idempotent reply is encrypted', async () => {
    const headers = { ...owner.headers, 'Idempotency-Key': 'one' };
    const body = { email: newAddress(), role: 'agent' };
    const first = await api.request('POST', '/v1/members', { headers, body });
    const again = await api.request('POST', '/v1/members', { headers, body });
    expect(again.headers.get('Idempotency-Replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    const token = tokenIn(first.body.link);
    for (const table of ['invitations', 'idempotency_keys', 'audit_log']) {
      const rows = await api.database.query<{ row: string }>(`select ${table}::text as row from ${table}`);
      expect(rows.filter(({ row }) => row.includes(token))).toEqual([]);
    }
  });

  test('is rejected for a member, an invalid address or role, and for an owner unless an owner invites', async () => {
    const admin = await makeMember(api, tenant, 'admin');
    expect((await invite(admin.email)).body).toMatchObject({ status: 409, code: 'member-exists' });
    expect((await invite('nobody')).status).toBe(422);
    expect((await invite(newAddress(), 'king')).status).toBe(422);
    expect((await invite(newAddress(), 'owner', admin)).body.code).toBe('insufficient-scope');
    expect((await invite(newAddress(), 'admin', admin)).status).toBe(201);
  });

  test('is rejected if the team is full', async () => {
    await api.database.query(
      `insert into members (tenant_id, id, account_id, role, created_at)
       select $1, gen_random_uuid(), gen_random_uuid(), 'agent', now() from generate_series(1, 198)`,
      [tenant.uuid],
    );
    expect((await invite(newAddress())).status).toBe(201);
    expect((await invite(newAddress())).body).toMatchObject({ status: 409, code: 'limit-reached' });
  });
});

describe('a member', () => {
  test('changes role and is removed by an admin, an owner only by an owner', async () => {
    const admin = await makeMember(api, tenant, 'admin');
    const agent = await makeMember(api, tenant, 'agent');
    expect((await patch(agent, 'analyst', admin)).body).toMatchObject({ id: agent.memberId, role: 'analyst' });
    expect((await patch(agent, 'owner', admin)).body.code).toBe('insufficient-scope');
    expect((await patch(owner, 'agent', admin)).body.code).toBe('insufficient-scope');
    expect((await remove(owner, admin)).body.code).toBe('insufficient-scope');
    expect((await remove(agent, admin)).status).toBe(204);
    expect((await remove(agent, admin)).status).toBe(404);
    expect((await patch(admin, 'owner')).body.role).toBe('owner');
  });

  test('that is the last owner remains owner', async () => {
    expect((await patch(owner, 'admin')).body).toMatchObject({ status: 409, code: 'last-owner' });
    expect((await remove(owner)).body).toMatchObject({ status: 409, code: 'last-owner' });
    expect((await patch(owner, 'owner')).status).toBe(200);
    const second = await makeMember(api, tenant, 'owner');
    expect((await remove(owner, second)).status).toBe(204);
  });

  test('of two owners who remove each other at once, one stays', async () => {
    for (let round = 0; round < 5; round++) {
      const own = await makeTenant(api);
      const [one, two] = [await makeMember(api, own, 'owner'), await makeMember(api, own, 'owner')];
      const statuses = (await Promise.all([remove(two, one), remove(one, two)])).map(({ status }) => status);
      expect(statuses).toContain(204);
      const left = await api.database.query(`select from members where tenant_id = $1 and role = 'owner'`, [own.uuid]);
      expect(left).toHaveLength(1);
    }
  });

  test('of another tenant is not found', async () => {
    const foreign = await makeMember(api, await makeTenant(api, 'Other'), 'agent');
    expect((await patch(foreign, 'analyst')).status).toBe(404);
    expect((await remove(foreign)).status).toBe(404);
  });

  test('writes to conversations as a member, who is assigned and reads like the team', async () => {
    const agent = await makeMember(api, tenant, 'agent');
    const token = await tenant.sign('user|42');
    const started = await api.request('POST', '/v1/conversations', { as: token, body: { message: 'Help' } });
    const path = `/v1/conversations/${started.body.id}`;
    const written = await api.request('POST', `${path}/messages`, { headers: agent.headers, body: { body: 'Yes?' } });
    expect(written.body.author).toMatchObject({ type: 'member', id: agent.memberId });
    const assigned = await api.request('PATCH', path, {
      headers: agent.headers,
      body: { assignee_id: agent.memberId },
    });
    expect(assigned.body).toMatchObject({ status: 'pending', assignee_id: agent.memberId });
    const unread = await api.request('GET', '/v1/conversations/unread-count', { headers: agent.headers });
    expect(unread.body).toEqual({ count: 1, more: false });
    const seen = await api.request('GET', `${path}/messages`, { as: token });
    expect(seen.body.data[1].author).toEqual({ type: 'member', id: null, name: 'The agent' });
    expect(seen.body.data[0].author).toEqual({ type: 'user', id: 'user|42', name: null });
    const team = await api.request('GET', `${path}/messages`, { headers: agent.headers });
    expect(team.body.data.map(({ author }: { author: { name: string | null } }) => author.name)).toEqual([
      null,
      'The agent',
      'The agent',
      'The agent',
    ]);
  });

  test('who is removed is unassigned from conversations, and their messages keep their name', async () => {
    const [agent, colleague] = [await makeMember(api, tenant, 'agent'), await makeMember(api, tenant, 'agent')];
    const as = await tenant.sign('user|42');
    const paths: string[] = [];
    for (const assignee of [agent, agent, colleague]) {
      const { body } = await api.request('POST', '/v1/conversations', { as, body: { message: 'Help' } });
      paths.push(`/v1/conversations/${body.id}`);
      const assignment = { headers: owner.headers, body: { assignee_id: assignee.memberId } };
      expect((await api.request('PATCH', paths.at(-1) as string, assignment)).status).toBe(200);
    }
    await api.request('POST', `${paths[0]}/messages`, { headers: agent.headers, body: { body: 'Bye' } });
    const before = (await api.request('GET', paths[1] as string, { as })).body;

    expect((await remove(agent)).status).toBe(204);
    const assignees = await Promise.all(
      paths.map(async path => (await api.request('GET', path, { headers: owner.headers })).body.assignee_id),
    );
    expect(assignees).toEqual([null, null, colleague.memberId]);
    expect((await api.request('GET', paths[1] as string, { as })).body).toEqual(before);
    const { body } = await api.request('GET', `${paths[0]}/messages`, { headers: owner.headers });
    expect(body.data.at(-3)).toMatchObject({ body: 'Bye', author: { id: agent.memberId, name: 'The agent' } });
    expect(body.data.at(-1)).toMatchObject({
      kind: 'event',
      body: `assignee_id: ${agent.memberId} → none`,
      author: { type: 'member', id: owner.memberId, name: 'The owner' },
    });
  });

  test('who is removed with thousands of conversations leaves in steps that keep nobody waiting', async () => {
    const agent = await makeMember(api, tenant, 'agent');
    const as = await tenant.sign('user|42');
    const { body } = await api.request('POST', '/v1/conversations', { as, body: { message: 'Help' } });
    const assign = { headers: owner.headers, body: { assignee_id: agent.memberId } };
    expect((await api.request('PATCH', `/v1/conversations/${body.id}`, assign)).status).toBe(200);
    await api.database.query(
      `insert into conversations select (jsonb_populate_record(conversations, jsonb_build_object('id', gen_random_uuid()))).*
       from conversations, generate_series(1, 2500) where tenant_id = $1`,
      [tenant.uuid],
    );

    expect((await remove(agent)).status).toBe(204);
    const [counts] = await api.database.query(
      `select count(*)::int as all, count(assignee_id)::int as assigned, count(distinct xmin::text)::int as transactions
       from conversations where tenant_id = $1`,
      [tenant.uuid],
    );
    expect(counts).toEqual({ all: 2501, assigned: 0, transactions: 3 });
    expect((await remove(agent)).status).toBe(404);
  });

  test('removed during assignments ends up without any', async () => {
    const as = await tenant.sign('user|42');
    const { body } = await api.request('POST', '/v1/conversations', { as, body: { message: 'Help' } });
    for (let round = 0; round < 10; round++) {
      const agent = await makeMember(api, tenant, 'agent');
      const assign = () =>
        api.request('PATCH', `/v1/conversations/${body.id}`, {
          headers: owner.headers,
          body: { assignee_id: agent.memberId },
        });
      const replies = await Promise.all([assign(), remove(agent), assign()]);
      expect(replies.map(({ status }) => status).filter(status => ![200, 204, 422].includes(status))).toEqual([]);
      const [row] = await api.database.query('select assignee_id from conversations where tenant_id = $1', [
        tenant.uuid,
      ]);
      expect(row).toEqual({ assignee_id: null });
    }
  });
});
