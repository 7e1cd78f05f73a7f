import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, type TestApi } from '../support/api.ts';
import { type Body, conversationsOf, idsOf, problem } from '../support/conversations.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const { makeParties, get, patch, start, write, read, messages, list } = conversationsOf(() => api);

const ahead = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
const snooze = (as: string, id: string, until: string) =>
  patch(as, `/v1/conversations/${id}`, { status: 'snoozed', snoozed_until: until });

describe('a snoozed conversation', () => {
  test('has its time, an event for both, and can get another time but not the same one', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const [one, two] = [ahead(1), ahead(364)];
    expect((await snooze(team, id, one)).body).toMatchObject({ status: 'snoozed', snoozed_until: one });
    expect((await snooze(team, id, two)).body).toMatchObject({ status: 'snoozed', snoozed_until: two });
    const again = await snooze(team, id, two);
    expect([...problem(again), again.body.from]).toEqual([409, 'invalid-transition', 'snoozed']);
    const byKey = { type: 'member', id: null };
    expect((await messages(team, id)).slice(1).map(({ event }: Body) => event)).toEqual([
      { field: 'status', from: 'open', to: 'snoozed', reason: byKey },
      { field: 'snoozed_until', from: null, to: one, reason: byKey },
      { field: 'snoozed_until', from: one, to: two, reason: byKey },
    ]);
    const opened = await patch(team, `/v1/conversations/${id}`, { status: 'open' });
    expect(opened.body).toMatchObject({ status: 'open', snoozed_until: null });
  });

  test('looks to its user as it does after the last message, and nothing of it changes', async () => {
    const { user, team } = await makeParties();
    const [asked, answered] = [(await start(user)).body.id, (await start(user)).body.id];
    await write(team, answered);
    const before = [await read(user, asked), await read(user, answered)];
    expect(before.map(({ status }) => status)).toEqual(['open', 'pending']);
    await Promise.all([asked, answered].map(id => snooze(team, id, ahead(1))));
    expect([await read(user, asked), await read(user, answered)]).toEqual(before);
    expect(before[0]).not.toHaveProperty('snoozed_until');
    expect(idsOf(await list(user, '?status=open'))).toEqual([asked]);
    expect(idsOf(await list(user, '?status=pending'))).toEqual([answered]);
    expect((await list(user, `?updated_since=${ahead(-1)}`)).length).toBe(2);
    expect(idsOf(await list(team, '?status=snoozed')).toSorted()).toEqual([asked, answered].toSorted());
    expect(await list(team, '?status=open')).toEqual([]);
    const refused = await get(user, '/v1/conversations?status=snoozed');
    expect([...problem(refused), refused.body.errors[0].parameter]).toEqual([422, 'validation-failed', 'status']);
  });

  test("stays snoozed after a reply of the team, and is woken by the user's message", async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const until = ahead(1);
    await snooze(team, id, until);
    await write(team, id);
    expect(await read(team, id)).toMatchObject({ status: 'snoozed', snoozed_until: until });
    expect(await read(user, id)).toMatchObject({ status: 'pending' });
    await write(user, id);
    expect(await read(team, id)).toMatchObject({ status: 'open', snoozed_until: null });
  });

  test('can be resolved by its user, and a resolved one can be snoozed', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    await snooze(team, id, ahead(1));
    expect((await patch(user, `/v1/conversations/${id}`, { status: 'resolved' })).body.status).toBe('resolved');
    const snoozed = await snooze(team, id, ahead(1));
    expect(snoozed.body).toMatchObject({ status: 'snoozed', resolved_at: null });
    expect(await read(user, id)).toMatchObject({ status: 'open', resolved_at: null });
  });
});
