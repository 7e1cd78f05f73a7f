import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseTypeId } from '../../src/domain/ids.ts';
import { ASSIGNED_AT_ONCE, assignBatch, listTenantsToAssign } from '../../src/storage/conversations/assignment.ts';
import type { Storage } from '../../src/storage/database/orm.ts';
import { createApi, type TestApi } from '../support/api.ts';
import { assignmentOf } from '../support/assignment.ts';
import { type Body, conversationsOf } from '../support/conversations.ts';
import { waitFor } from '../support/wait.ts';

let api: TestApi;
let storage: Storage;
let tenants: Storage;
beforeAll(async () => {
  api = await createApi();
  [storage, tenants] = [api.database.storage('parley_worker'), api.database.storage('parley_app')];
});
afterAll(() => api[Symbol.asyncDispose]());

const { patch, start, read, messages, seed } = conversationsOf(() => api);

const { counts, assign, makeTeam, setMember, setRules, loads, waitForLoads, events, startWorkers } = assignmentOf(
  () => api,
);

describe('100 conversations at once for five agents with a capacity of ten', () => {
  test.each(['round_robin', 'least_busy'])(
    'fill every place evenly by %s, and each resolved one is replaced',
    async how => {
      const team = await makeTeam(5, 10);
      await setRules(team, [{ name: 'All', then: { assign: { [how]: team.agents } } }]);
      await using workers = startWorkers();
      const started = async (_: unknown, number: number) => {
        const user = await team.tenant.sign(`user|${number % 4}`); // at most 50 per user
        await waitFor(async () => (await start(user)).status === 201); // 503 while there is no connection
      };
      await Promise.all(Array.from({ length: 100 }, started));
      await waitForLoads(team, [10, 10, 10, 10, 10, 50]);
      const held = await api.database.query<{ id: string }>(
        'select id from conversations where tenant_id = $1 and assignee_id is not null order by id limit 7',
        [team.tenant.uuid],
      );
      workers.kill(0);
      const resolved = held.map(({ id }) => id);
      await api.database.query("update conversations set status = 'resolved' where id = any($1)", [resolved]);
      await api.database.query("select mark_tenant($1, 'assignment')", [team.tenant.uuid]);
      await waitForLoads(team, [10, 10, 10, 10, 10, 43]);
      const [row] = await api.database.query(
        `select count(*)::int as assigned, count(distinct conversation_id)::int as conversations from messages
       where tenant_id = $1 and event->>'field' = 'assignee_id' and event->>'to' is not null`,
        [team.tenant.uuid],
      );
      expect(row).toEqual({ assigned: 57, conversations: 57 });
    },
  );

  test('never exceed a capacity while ten transactions assign and members assign by hand', async () => {
    const team = await makeTeam(3, 10);
    const [first] = team.agents as [string];
    await setRules(team, [{ name: 'All', then: { assign: { least_busy: team.agents } } }]);
    await seed(team.tenant, 60);
    const manual = await Promise.all(
      Array.from({ length: 5 }, async () => (await start(team.team, { identity: 'user|42' })).body.id),
    );
    const tenant = tenants.forTenant(team.tenant.uuid);
    await Promise.all([
      ...Array.from({ length: 10 }, () => assignBatch(tenant)),
      ...manual.map(id => patch(team.team, `/v1/conversations/${id}`, { assignee_id: first })),
    ]);
    await assign();
    const all = await loads(team);
    // A person may exceed the capacity, but the rules have assigned nothing beyond it.
    const [{ count: beyond } = { count: -1 }] = await api.database.query<{ count: number }>(
      `select count(*)::int from (
         select row_number() over (partition by event->>'to' order by created_at, note_seq) as place, event
         from messages where tenant_id = $1 and event->>'field' = 'assignee_id' and event->>'to' is not null) as placed
       where place > 10 and event#>>'{reason,type}' = 'rule'`,
      [team.tenant.uuid],
    );
    expect(beyond).toBe(0);
    expect(all.slice(1, 3)).toEqual([10, 10]);
    expect(all.reduce((sum, each) => sum + each, 0)).toBe(65);
  });
});

describe('a rule', () => {
  test('is recorded with the change that it makes', async () => {
    const team = await makeTeam(1);
    const [agent] = team.agents as [string];
    const [rule] = await setRules(team, [
      { name: 'All', then: { add_tags: ['new'], priority: 'high', assign: { member_id: agent } } },
    ]);
    const { id } = (await start(team.user)).body;
    const before = await read(team.user, id);
    await assign();
    expect(await read(team.team, id)).toMatchObject({ assignee_id: agent, tags: ['new'], priority: 'high' });
    const reason = { type: 'rule', id: rule?.id };
    expect(await events(team.team, id)).toEqual([
      { field: 'assignee_id', from: null, to: agent, reason },
      { field: 'priority', from: 'none', to: 'high', reason },
      { field: 'tags', from: [], to: ['new'], reason },
    ]);
    expect(await read(team.user, id)).toEqual(before);
    expect((await messages(team.team, id)).at(-1).author).toEqual({ type: 'system', id: null, name: null });
  });

  test('that finds no member says why once, and assigns the oldest first when a place is free', async () => {
    const team = await makeTeam(1, 1);
    const [agent] = team.agents as [string];
    const [rule] = await setRules(team, [{ name: 'All', then: { assign: { member_id: agent } } }]);
    await setMember(agent, { availability: 'away' });
    const [first, second] = [(await start(team.user)).body.id, (await start(team.user)).body.id];
    for (let round = 0; round < 3; round++) await assign();
    const reason = { type: 'rule', id: rule?.id };
    const away = { field: 'assignee_id', from: null, to: null, reason: { ...reason, code: 'members-away' } };
    expect(await events(team.team, first)).toEqual([away]);
    expect((await messages(team.team, first)).at(-1).body).toBe(
      'assignee_id: none, because every member of the rule is away',
    );
    await setMember(agent, { availability: 'active' });
    await assign();
    const assigned = { field: 'assignee_id', from: null, to: agent, reason };
    expect(await events(team.team, first)).toEqual([away, assigned]);
    expect(await events(team.team, second)).toEqual([away]);
    const third = (await start(team.user)).body.id;
    await assign();
    expect(await events(team.team, third)).toEqual([{ ...away, reason: { ...reason, code: 'members-full' } }]);
    await patch(team.team, `/v1/conversations/${first}`, { status: 'pending' });
    await assign();
    expect(await loads(team)).toEqual([1, 2]); // a pending conversation keeps its place
    await patch(team.team, `/v1/conversations/${first}`, { status: 'resolved' });
    await assign();
    expect(await read(team.team, second)).toMatchObject({ assignee_id: agent });
    expect(await read(team.team, third)).toMatchObject({ assignee_id: null });
  });

  test('decides by source, tag, priority and attribute, and the first that matches', async () => {
    const team = await makeTeam(5);
    const [byTag, byPriority, byPlan, bySource, rest] = team.agents as [string, string, string, string, string];
    const to = (member_id: string) => ({ assign: { member_id } });
    await setRules(team, [
      { name: 'Tag', when: { tag: 'billing' }, then: to(byTag) },
      { name: 'Priority', when: { priority: 'urgent' }, then: to(byPriority) },
      { name: 'Plan', when: { attribute: { attribute: 'plan', op: 'in', value: ['pro'] } }, then: to(byPlan) },
      { name: 'Source', when: { source: 'api' }, then: to(bySource) },
      { name: 'Rest', then: to(rest) },
    ]);
    await api.request('PUT', '/v1/identities/user%7C7', { as: team.team, body: { attributes: { plan: 'pro' } } });
    const ids = {
      tag: (await start(team.user)).body.id,
      priority: (await start(team.user)).body.id,
      plan: (await start(await team.tenant.sign('user|7'))).body.id,
      source: (await start(team.team, { identity: 'user|42' })).body.id,
      rest: (await start(team.user)).body.id,
    };
    await patch(team.team, `/v1/conversations/${ids.tag}`, { add_tags: ['billing'], priority: 'urgent' });
    await patch(team.team, `/v1/conversations/${ids.priority}`, { priority: 'urgent' });
    await assign();
    const assignees = await Promise.all(Object.values(ids).map(async id => (await read(team.team, id)).assignee_id));
    expect(assignees).toEqual([byTag, byPriority, byPlan, bySource, rest]);
  });

  test('looks again after a change of tags, but does not repeat a tag that a person has removed', async () => {
    const team = await makeTeam(1);
    const [agent] = team.agents as [string];
    await setRules(team, [
      { name: 'Billing', when: { tag: 'billing' }, then: { assign: { member_id: agent } } },
      { name: 'Rest', then: { add_tags: ['new'] } },
    ]);
    const { id } = (await start(team.user)).body;
    const path = `/v1/conversations/${id}`;
    await assign();
    expect(await read(team.team, id)).toMatchObject({ tags: ['new'], assignee_id: null });
    await patch(team.team, path, { remove_tags: ['new'] });
    await assign();
    expect(await read(team.team, id)).toMatchObject({ tags: [], assignee_id: null });
    await patch(team.team, path, { add_tags: ['billing'] });
    await assign();
    expect(await read(team.team, id)).toMatchObject({ tags: ['billing'], assignee_id: agent });
    await patch(team.team, path, { assignee_id: null });
    await assign();
    expect(await read(team.team, id)).toMatchObject({ assignee_id: agent });
  });

  test('leaves out tags for which there is no room, and ignores a member who was removed', async () => {
    const team = await makeTeam(2);
    const [gone, agent] = team.agents as [string, string];
    await setRules(team, [{ name: 'All', then: { add_tags: ['more'], assign: { round_robin: [gone, agent] } } }]);
    await api.database.query('delete from members where id = $1', [parseTypeId('member', gone)]);
    const { id } = (await start(team.user)).body;
    const tags = Array.from({ length: 20 }, (_, number) => `tag ${number}`);
    await patch(team.team, `/v1/conversations/${id}`, { tags });
    await assign();
    expect(await read(team.team, id)).toMatchObject({ tags, assignee_id: agent });
  });

  test('assigns in turn across rounds and rule changes, and only open conversations', async () => {
    const team = await makeTeam(3);
    const rules = await setRules(team, [{ name: 'All', then: { assign: { round_robin: team.agents } } }]);
    const ids: string[] = [];
    const next = async () => {
      ids.push((await start(team.user)).body.id);
      await assign();
    };
    for (let round = 0; round < 2; round++) await next();
    await setRules(team, [{ ...rules[0], name: 'Everybody' } as Body]);
    for (let round = 0; round < 2; round++) await next();
    const resolved = (await start(team.user)).body.id;
    await patch(team.team, `/v1/conversations/${resolved}`, { status: 'resolved' });
    await assign();
    const assignees = await Promise.all(ids.map(async id => (await read(team.team, id)).assignee_id));
    const [one, two, three] = team.agents;
    expect(assignees).toEqual([one, two, three, one]);
    expect(await read(team.team, resolved)).toMatchObject({ assignee_id: null });
    await patch(team.team, `/v1/conversations/${resolved}`, { status: 'open' });
    await assign();
    expect(await read(team.team, resolved)).toMatchObject({ assignee_id: two });
  });
});

describe('conversations that no rule matches', () => {
  test('are looked at once, in batches, and again when the rules change', async () => {
    const team = await makeTeam(1, 1000);
    const [agent] = team.agents as [string];
    await seed(team.tenant, 2 * ASSIGNED_AT_ONCE + 5);
    const rule = { name: 'VIP', when: { tag: 'vip' }, then: { assign: { member_id: agent } } };
    await setRules(team, [rule]);
    const before = { ...counts };
    await assign();
    expect((counts.unmatched ?? 0) - (before.unmatched ?? 0)).toBe(2 * ASSIGNED_AT_ONCE + 5);
    expect(await listTenantsToAssign(storage)).not.toContain(team.tenant.uuid);
    await setRules(team, [rule, { name: 'Rest', then: { assign: { member_id: agent } } }]);
    expect(await listTenantsToAssign(storage)).toContain(team.tenant.uuid);
    await assign();
    expect(await loads(team)).toEqual([2 * ASSIGNED_AT_ONCE + 5, 0]);
  });

  /** Pages that one search for tenants reads, without those of the catalog, which each connection reads once. */
  const pagesRead = async (): Promise<number> => {
    await api.database.query('vacuum analyze conversations');
    const counts: number[] = [];
    for (let time = 0; time < 5; time++) {
      const [plan] = await api.database.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
        'explain (analyze, buffers, format json) select tenants_to_assign()',
      );
      const { Plan } = (plan as NonNullable<typeof plan>)['QUERY PLAN'][0];
      counts.push((Plan['Shared Hit Blocks'] ?? 0) + (Plan['Shared Read Blocks'] ?? 0));
    }
    return Math.min(...counts);
  };

  test('cost no more the more there are: 8,000 without a rule, and 8,000 without a place', async () => {
    const team = await makeTeam(1, 1);
    const [agent] = team.agents as [string];
    const to = { assign: { member_id: agent } };
    const [, rest] = await setRules(team, [
      { name: 'VIP', when: { tag: 'vip' }, then: to },
      { name: 'Low', when: { priority: 'low' }, then: to },
    ]);
    for (const status of ['open', 'open', 'resolved']) {
      const { id } = (await start(team.user)).body;
      await patch(team.team, `/v1/conversations/${id}`, { priority: 'low', ...(status === 'open' ? {} : { status }) });
    }
    await assign();
    expect(await loads(team)).toEqual([1, 1]);
    const before = await pagesRead();
    await seed(team.tenant, 16_000);
    await api.database.query(
      `update conversations set rules_checked = (select version from assignment_rules where tenant_id = $1),
         assignment_waits = n % 2 = 0, assignment_rule = case when n % 2 = 0 then $2::uuid end
       from (select id as one, row_number() over () as n from conversations where tenant_id = $1 and rules_checked = 0) as numbered
       where tenant_id = $1 and id = one`,
      [team.tenant.uuid, parseTypeId('rule', rest?.id ?? '')],
    );
    expect((await pagesRead()) - before).toBeLessThan(60); // the indexes are some levels deeper
    expect(await listTenantsToAssign(storage)).not.toContain(team.tenant.uuid);
    await setMember(agent, { capacity: 3 });
    expect(await listTenantsToAssign(storage)).toContain(team.tenant.uuid);
    await assign();
    expect((await loads(team))[0]).toBe(3);
  });
});

test('one tenant never gets the members of another', async () => {
  const [one, two] = [await makeTeam(1), await makeTeam(1)];
  for (const team of [one, two])
    await setRules(team, [{ name: 'All', then: { assign: { round_robin: team.agents } } }]);
  await Promise.all([start(one.user), start(two.user), start(two.user)]);
  await assign();
  expect([await loads(one), await loads(two)]).toEqual([
    [1, 0],
    [2, 0],
  ]);
  const foreign = await api.request('PUT', '/v1/assignment-rules', {
    headers: one.owner.headers,
    body: { data: [{ name: 'Foreign', then: { assign: { member_id: two.agents[0] } } }] },
  });
  expect(foreign).toMatchObject({ status: 422, body: { errors: [{ pointer: '/data/0/then/assign/member_id' }] } });
});
