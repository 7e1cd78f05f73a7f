import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, type TestApi } from '../support/api.ts';
import { type Body, conversationsOf, idsOf, uuidOf } from '../support/conversations.ts';
import { makeMember } from '../support/person.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const { makeParties, start, write, patch, read, get, list, readPages, backdate, messages } = conversationsOf(() => api);

async function makeTargets(settings: Body = { reply_targets: { none: 60, urgent: 10 } }) {
  const parties = await makeParties();
  const { headers } = await makeMember(api, parties.tenant, 'owner');
  const set = (body: Body) => api.request('PATCH', '/v1/tenant', { headers, body });
  expect((await set(settings)).status).toBe(200);
  return { ...parties, set };
}

const minutesAfter = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 60_000;

describe('the time by which a user should have a reply', () => {
  test('is set while they wait, by the priority, and only the team sees it', async () => {
    const { team, user } = await makeTargets();
    const { id, created_at } = (await start(user)).body;
    const dueIn = async () => {
      const { waiting_since, reply_due_at } = await read(team, id);
      return reply_due_at && minutesAfter(waiting_since, reply_due_at);
    };
    expect(await dueIn()).toBe(60);
    expect(await read(user, id)).not.toHaveProperty('reply_due_at');
    await write(user, id);
    expect((await read(team, id)).reply_due_at).toBe(new Date(Date.parse(created_at) + 3_600_000).toISOString());
    await patch(team, `/v1/conversations/${id}`, { priority: 'urgent' });
    expect(await dueIn()).toBe(10);
    await patch(team, `/v1/conversations/${id}`, { priority: 'low' });
    expect(await dueIn()).toBeNull();
    await patch(team, `/v1/conversations/${id}`, { priority: 'none' });
    await write(team, id, { kind: 'note' });
    expect(await dueIn()).toBe(60);
    await write(team, id);
    expect(await read(team, id)).toMatchObject({ waiting_since: null, reply_due_at: null });
    await write(user, id);
    expect(await dueIn()).toBe(60);
    await patch(team, `/v1/conversations/${id}`, { status: 'resolved' });
    expect(await read(team, id)).toMatchObject({ waiting_since: null, reply_due_at: null });
  });

  test('follows the targets at the time of the message', async () => {
    const { team, user, set } = await makeTargets();
    const { id } = (await start(user)).body;
    const before = (await read(team, id)).reply_due_at;
    await set({ reply_targets: { none: 5 } });
    await write(user, id);
    expect((await read(team, id)).reply_due_at).toBe(before);
    await write(team, id);
    await write(user, id);
    const { waiting_since, reply_due_at } = await read(team, id);
    expect(minutesAfter(waiting_since, reply_due_at)).toBe(5);
    await set({ reply_targets: {} });
    expect((await read(team, (await start(user)).body.id)).reply_due_at).toBeNull();
  });

  test('is not set for a conversation that the team has started', async () => {
    const { team } = await makeTargets();
    expect((await start(team, { identity: 'user|42' })).body.reply_due_at).toBeNull();
  });

  test('is cleared by a version that only knows waiting_since', async () => {
    const { team, user } = await makeTargets();
    const { id } = (await start(user)).body;
    await api.database.query('update conversations set waiting_since = null where id = $1', [uuidOf(id)]);
    expect((await read(team, id)).reply_due_at).toBeNull();
  });

  test('changes with the priority of a bulk change, and so do neither tag nor ETag for a change', async () => {
    const { team, user } = await makeTargets();
    const ids = [(await start(user)).body.id, (await start(user)).body.id];
    await api.request('POST', '/v1/conversations/bulk', { as: team, body: { ids, change: { priority: 'urgent' } } });
    for (const id of ids) {
      const { waiting_since, reply_due_at } = await read(team, id);
      expect(minutesAfter(waiting_since, reply_due_at)).toBe(10);
    }
  });

  test('filters and orders the list', async () => {
    const { team, user } = await makeTargets();
    const make = async () => (await start(user)).body.id;
    const [late, later, inTime, replied] = [await make(), await make(), await make(), await make()];
    await write(team, replied);
    await backdate(late, 'reply_due_at', '2 hours');
    await backdate(later, 'reply_due_at', '3 hours');
    expect(idsOf(await list(team, '?overdue=true'))).toEqual([later, late]);
    expect(idsOf(await list(team, '?overdue=true&sort=created_at'))).toEqual([late, later]);
    expect(idsOf(await list(team, '?overdue=false'))).toEqual([replied, inTime]);
    expect(idsOf(await list(team, '?sort=reply_due_at'))).toEqual([later, late, inTime]);
    expect(idsOf(await list(team, '?sort=reply_due_at&overdue=true&status=open'))).toEqual([later, late]);
    expect(idsOf(await list(team, '?overdue=true&priority=urgent'))).toEqual([]);
  });
});

describe('the list by waiting time', () => {
  test('has open conversations whose user waits, longest first, also after a reminder', async () => {
    const { team, user } = await makeParties();
    const make = async () => (await start(user)).body.id;
    const [longest, shorter, replied, resolved] = [await make(), await make(), await make(), await make()];
    const [snoozed, pending] = [await make(), await make()];
    await backdate(shorter, 'waiting_since', '2 hours');
    await backdate(longest, 'waiting_since', '3 hours');
    await write(user, longest); // the latest activity of all
    await write(team, replied);
    await patch(team, `/v1/conversations/${resolved}`, { status: 'resolved' });
    const until = new Date(Date.now() + 3_600_000).toISOString();
    await patch(team, `/v1/conversations/${snoozed}`, { status: 'snoozed', snoozed_until: until });
    await patch(team, `/v1/conversations/${pending}`, { status: 'pending' });
    expect(idsOf(await list(team, '?sort=waiting_since'))).toEqual([longest, shorter]);
    expect(idsOf(await list(team, '?sort=waiting_since&status=open'))).toEqual([longest, shorter]);
    expect(idsOf(await list(team, '?sort=waiting_since&status=pending'))).toEqual([]);
    const path = '/v1/conversations?sort=waiting_since&limit=1';
    expect((await readPages(team, path)).map(({ id }) => id)).toEqual([longest, shorter]);
    expect((await get(user, path)).status).toBe(400);
  });
});

describe('the first reply', () => {
  const observed = async () => {
    const { values } = await api.metrics.firstReply.get();
    const of = (name: string) => values.find(value => value.metricName?.endsWith(name))?.value ?? 0;
    return { count: of('_count'), sum: of('_sum') };
  };

  test('is the first one after the first message of the user, also if the team wrote first, and is measured', async () => {
    const { team, user } = await makeParties();
    const { id } = (await start(team, { identity: 'user|42' })).body;
    const before = await observed();
    await write(team, id);
    expect((await read(team, id)).first_reply_at).toBeNull();
    const asked = (await write(user, id)).body;
    await api.database.query(
      "update messages set created_at = created_at - interval '100 s' where client_message_id = $1",
      [asked.client_message_id],
    );
    await api.database.query(
      `update messages set created_at = created_at - interval '100 s' where author_type = 'user' and conversation_id = $1`,
      [uuidOf(id)],
    );
    await write(team, id, { kind: 'note' });
    expect((await read(team, id)).first_reply_at).toBeNull();
    const reply = (await write(team, id)).body;
    expect((await read(team, id)).first_reply_at).toBe(reply.created_at);
    await write(user, id);
    await write(team, id);
    expect((await read(team, id)).first_reply_at).toBe(reply.created_at);
    const after = await observed();
    expect(after.count - before.count).toBe(1);
    expect(after.sum - before.sum).toBeGreaterThanOrEqual(100);
    expect(after.sum - before.sum).toBeLessThan(200);
    expect(await messages(team, id)).not.toEqual([]);
  });

  test('of a macro counts', async () => {
    const { team, user } = await makeParties();
    const { id } = (await start(user)).body;
    const macro = await api.request('POST', '/v1/macros', { as: team, body: { name: 'Hello', body: 'Hello' } });
    const before = await observed();
    await api.request('POST', `/v1/conversations/${id}/macros/${macro.body.id}`, { as: team });
    expect((await observed()).count - before.count).toBe(1);
    expect((await read(team, id)).first_reply_at).not.toBeNull();
  });
});
