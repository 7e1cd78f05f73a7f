import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseTypeId, toTypeId } from '../../src/domain/ids.ts';
import { assignBatch, listTenantsToAssign } from '../../src/storage/conversations/assignment.ts';
import type { Storage } from '../../src/storage/database/orm.ts';
import { createApi, type TestApi } from '../support/api.ts';
import { assignmentOf, type Team } from '../support/assignment.ts';
import { type Body, conversationsOf } from '../support/conversations.ts';
import { makeMember as logIn } from '../support/person.ts';

let api: TestApi;
let storage: Storage;
let tenants: Storage;
beforeAll(async () => {
  api = await createApi();
  [storage, tenants] = [api.database.storage('parley_worker'), api.database.storage('parley_app')];
});
afterAll(() => api[Symbol.asyncDispose]());

const { patch, start, read, seed } = conversationsOf(() => api);

const { assign, makeTeam, setMember, setRules, loads, events } = assignmentOf(() => api);

describe('rules that apply to new conversations only', () => {
  const setFor = async (team: Team, data: Body[], apply: 'new' | 'waiting') => {
    const body = { data, apply };
    const reply = await api.request('PUT', '/v1/assignment-rules', { headers: team.owner.headers, body });
    expect(reply.status).toBe(200);
    return reply.body.data as Body[];
  };
  const assigneeOf = async (team: Team, id: string) => (await read(team.team, id)).assignee_id;

  test('leave the waiting ones alone until they change, or until the rules are saved for them too', async () => {
    const team = await makeTeam(1);
    const [agent] = team.agents as [string];
    const [waiting, tagged] = [(await start(team.user)).body.id, (await start(team.user)).body.id];
    const rules = await setFor(
      team,
      [{ name: 'All', then: { add_tags: ['new'], assign: { member_id: agent } } }],
      'new',
    );
    await patch(team.team, `/v1/conversations/${tagged}`, { priority: 'high' });
    const fresh = (await start(team.user)).body.id;
    await assign();
    expect(await assigneeOf(team, fresh)).toBe(agent);
    expect(await assigneeOf(team, tagged)).toBe(agent);
    expect(await read(team.team, waiting)).toMatchObject({ assignee_id: null, tags: [] });
    expect(await events(team.team, waiting)).toEqual([]);
    expect(await listTenantsToAssign(storage)).not.toContain(team.tenant.uuid);
    await setFor(team, rules, 'new');
    await assign();
    expect(await assigneeOf(team, waiting)).toBeNull();
    await setFor(team, rules, 'waiting');
    await assign();
    expect(await assigneeOf(team, waiting)).toBe(agent);
  });

  test('let those that wait for a member of an unchanged rule go on waiting, but not of a changed one', async () => {
    const team = await makeTeam(3);
    const [one, two, three] = team.agents as [string, string, string];
    const to = (member_id: string, tag: string) => ({ name: tag, when: { tag }, then: { assign: { member_id } } });
    for (const id of [one, two]) await setMember(id, { availability: 'away' });
    const [kept, changed] = [(await start(team.user)).body.id, (await start(team.user)).body.id];
    await patch(team.team, `/v1/conversations/${kept}`, { tags: ['kept'] });
    await patch(team.team, `/v1/conversations/${changed}`, { tags: ['changed'] });
    const [first, second] = (await setRules(team, [to(one, 'kept'), to(two, 'changed')])) as unknown as Body[];
    await assign();
    await setFor(team, [first as Body, { ...second, then: { assign: { member_id: three } } }], 'new');
    await assign();
    await setMember(one, { availability: 'active' });
    await assign();
    expect(await assigneeOf(team, kept)).toBe(one);
    expect(await assigneeOf(team, changed)).toBeNull();
  });
});

describe('a member who loses the right to answer', () => {
  const demote = async ({ owner }: Team, id: string, role = 'analyst') =>
    (await api.request('PATCH', `/v1/members/${id}`, { headers: owner.headers, body: { role } })).body;
  const withAccounts = async (count: number): Promise<Team> => {
    const team = await makeTeam(0);
    for (let number = 0; number < count; number++) team.agents.push((await logIn(api, team.tenant, 'agent')).memberId);
    return team;
  };

  test('loses the conversations, with events, and is skipped by rules until they may answer again', async () => {
    const team = await withAccounts(2);
    const [ada, bob] = team.agents as [string, string];
    await setRules(team, [{ name: 'All', then: { assign: { round_robin: [ada, bob] } } }]);
    const ids: string[] = [];
    for (let number = 0; number < 4; number++) ids.push((await start(team.user)).body.id);
    await assign();
    expect(await loads(team)).toEqual([2, 2, 0]);
    await patch(team.team, `/v1/conversations/${ids[0]}`, { status: 'resolved' });
    expect(await demote(team, ada)).toMatchObject({ role: 'analyst', availability: 'away' });
    expect(await loads(team)).toEqual([0, 2, 1]);
    expect(await read(team.team, ids[0] as string)).toMatchObject({ assignee_id: null }); // resolved ones too
    const [last] = (await events(team.team, ids[2] as string)).slice(-1);
    expect(last).toMatchObject({ field: 'assignee_id', from: ada, to: null, reason: { type: 'member' } });
    await setMember(ada, { availability: 'active' }); // by an admin
    for (let round = 0; round < 2; round++) await assign();
    expect(await loads(team)).toEqual([0, 3, 0]);
    expect(await demote(team, ada, 'agent')).toMatchObject({ role: 'agent', availability: 'active' });
    await start(team.user);
    await assign();
    expect(await loads(team)).toEqual([1, 3, 0]);
  });

  test('has none left, whoever assigns at the same time: rules, members, bulk changes and macros', async () => {
    for (let round = 0; round < 4; round++) {
      const team = await withAccounts(2);
      const [ada] = team.agents as [string];
      await setRules(team, [{ name: 'All', then: { assign: { least_busy: team.agents } } }]);
      await seed(team.tenant, 20);
      const rows = await api.database.query<{ id: string }>('select id from conversations where tenant_id = $1', [
        team.tenant.uuid,
      ]);
      const ids = rows.map(({ id }) => toTypeId('conversation', id));
      const macro = { name: 'Ada', changes: { assignee_id: ada } };
      const made = await api.request('POST', '/v1/macros', { as: team.team, body: macro });
      const change = { assignee_id: ada };
      await Promise.all([
        assignBatch(tenants.forTenant(team.tenant.uuid)),
        ...ids.slice(0, 3).map(id => patch(team.team, `/v1/conversations/${id}`, change)),
        api.request('POST', '/v1/conversations/bulk', { as: team.team, body: { ids: ids.slice(3, 9), change } }),
        api.request('POST', `/v1/conversations/${ids[10]}/macros/${made.body.id}`, { as: team.team }),
        demote(team, ada),
      ]);
      await assign();
      expect((await loads(team))[0]).toBe(0);
    }
  });

  test('loses more conversations than one transaction unassigns', async () => {
    const team = await withAccounts(1);
    const [ada] = team.agents as [string];
    await seed(team.tenant, 1100);
    await api.database.query('update conversations set assignee_id = $2 where tenant_id = $1', [
      team.tenant.uuid,
      parseTypeId('member', ada),
    ]);
    expect(await demote(team, ada)).toMatchObject({ role: 'analyst', availability: 'away' });
    expect(await loads(team)).toEqual([0, 1100]);
  });

  test('cannot be assigned by hand, in bulk or by a macro, made before or after', async () => {
    const team = await withAccounts(2);
    const [ada, bob] = team.agents as [string, string];
    const { id } = (await start(team.user)).body;
    const before = { name: 'To Ada', body: 'I pass this on.', changes: { assignee_id: ada } };
    const asTeam = (method: string, path: string, body?: object) => api.request(method, path, { as: team.team, body });
    const macro = (await asTeam('POST', '/v1/macros', before)).body;
    await demote(team, ada);
    const change = { assignee_id: ada };
    const refused = [
      [await asTeam('PATCH', `/v1/conversations/${id}`, change), '/assignee_id'],
      [await asTeam('POST', '/v1/conversations/bulk', { ids: [id], change }), '/change/assignee_id'],
      [await asTeam('POST', '/v1/macros', before), '/changes/assignee_id'],
      [await asTeam('PATCH', `/v1/macros/${macro.id}`, { name: 'Ada' }), '/changes/assignee_id'],
      [await asTeam('POST', `/v1/conversations/${id}/macros/${macro.id}`), '/changes/assignee_id'],
    ] as const;
    for (const [{ body }, pointer] of refused)
      expect(body).toMatchObject({ status: 422, errors: [{ pointer, code: 'not-allowed' }] });
    expect(await read(team.team, id)).toMatchObject({ assignee_id: null, message_count: 1 });
    expect((await asTeam('PATCH', `/v1/macros/${macro.id}`, { changes: { assignee_id: bob } })).status).toBe(200);
    expect((await asTeam('POST', `/v1/conversations/${id}/macros/${macro.id}`)).body.conversation.assignee_id).toBe(
      bob,
    );
  });

  test('keeps them if the change is refused: by an agent, an admin to an owner, or of the last owner', async () => {
    const team = await withAccounts(1);
    const admin = await logIn(api, team.tenant, 'admin');
    const agent = await logIn(api, team.tenant, 'agent');
    const { memberId } = team.owner;
    const { id } = (await start(team.user)).body;
    await patch(team.team, `/v1/conversations/${id}`, { assignee_id: memberId });
    for (const { headers } of [admin, agent, team.owner])
      expect(
        (await api.request('PATCH', `/v1/members/${memberId}`, { headers, body: { role: 'analyst' } })).status,
      ).not.toBe(200);
    expect(await read(team.team, id)).toMatchObject({ assignee_id: memberId });
  });
});
