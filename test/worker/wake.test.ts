import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readTimerDelay, resolvePending, TIMERS_AT_ONCE } from '../../src/storage/conversations/timers.ts';
import type { Storage } from '../../src/storage/database/orm.ts';
import { silence, snoozes } from '../../src/worker/wake.ts';
import { createApi, type TestApi } from '../support/api.ts';
import { type Body, conversationsOf, uuidOf } from '../support/conversations.ts';
import { finish } from '../support/loops.ts';

let api: TestApi;
let worker: Storage;
beforeAll(async () => {
  api = await createApi();
  worker = api.database.storage('parley_worker');
});
afterAll(() => api[Symbol.asyncDispose]());

const { makeParties, patch, start, write, read, messages, backdate, seed } = conversationsOf(() => api);

const count = { woken: 0, resolved: 0 };
const counterOf = (name: keyof typeof count) => ({
  inc(by: number) {
    count[name] += by;
  },
});
const metrics = {
  conversationsWoken: counterOf('woken'),
  conversationsAutoResolved: counterOf('resolved'),
} as never;
const wake = () => finish(snoozes({ storage: worker, metrics }));

const snooze = (as: string, id: string) =>
  patch(as, `/v1/conversations/${id}`, {
    status: 'snoozed',
    snoozed_until: new Date(Date.now() + 86_400_000).toISOString(),
  });

describe('timers', () => {
  test('wake a conversation at its time, with one event by the system', async () => {
    const { user, team } = await makeParties();
    const [due, later] = [(await start(user)).body.id, (await start(user)).body.id];
    await write(team, due);
    for (const id of [due, later]) await snooze(team, id);
    await backdate(due, 'snoozed_until', '1 day 1 second');
    expect(await readTimerDelay(api.database.storage('parley_app'))).toBeGreaterThan(0);
    const before = await read(user, due);
    await Promise.all([wake(), wake(), wake()]);
    await wake();
    expect(count.woken).toBe(1);
    expect(await read(team, due)).toMatchObject({ status: 'open', snoozed_until: null });
    expect(await read(team, later)).toMatchObject({ status: 'snoozed' });
    expect((await messages(team, due)).at(-1)).toMatchObject({
      kind: 'event',
      author: { type: 'system', id: null, name: null },
      event: { field: 'status', from: 'snoozed', to: 'open', reason: { type: 'timer', id: null } },
      body: 'status: snoozed → open',
    });
    const after = await read(user, due);
    expect(after).toEqual({ ...before, status: 'open', updated_at: after.updated_at });
    expect(after.updated_at > before.updated_at).toBe(true);
    expect(await readTimerDelay(api.database.storage('parley_app'))).toBe(0);
    expect((await messages(user, due)).length).toBe(2);
  });

  test('wake more than one batch, by several workers at once, each conversation once', async () => {
    const { tenant } = await makeParties();
    await seed(tenant, 2 * TIMERS_AT_ONCE + 7);
    await api.database.query(
      "update conversations set status = 'snoozed', snoozed_until = now() - interval '1 second' where tenant_id = $1",
      [tenant.uuid],
    );
    await Promise.all([wake(), wake(), wake()]);
    const [row] = await api.database.query(
      `select count(*)::int as events, count(distinct conversation_id)::int as conversations from messages
       where tenant_id = $1 and kind = 'event'`,
      [tenant.uuid],
    );
    expect(row).toEqual({ events: 2 * TIMERS_AT_ONCE + 7, conversations: 2 * TIMERS_AT_ONCE + 7 });
  });

  test('ignore the time that a conversation kept from an earlier snooze', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    await snooze(team, id);
    // as a process of the previous version changes it
    await api.database.query(
      "update conversations set status = 'pending', snoozed_until = now() - interval '1 hour' where id = $1",
      [uuidOf(id)],
    );
    await wake();
    expect(await read(team, id)).toMatchObject({ status: 'pending', snoozed_until: null });
  });
});

describe('a conversation that waits for its user', () => {
  const age = async (id: string, days: number) => {
    for (const column of ['last_activity_at', 'team_updated_at']) await backdate(id, column, `${days} days`);
  };

  test("is resolved after the tenant's auto_resolve_days without any change", async () => {
    const { user, team, tenant } = await makeParties();
    const ids: string[] = [];
    for (let number = 0; number < 4; number++) ids.push((await start(user)).body.id);
    const [silent, recent, open, touched] = ids as [string, string, string, string];
    for (const id of [silent, recent, touched]) await write(team, id);
    for (const id of [silent, open, touched]) await age(id, 15);
    await patch(team, `/v1/conversations/${touched}`, { add_tags: ['vip'] });
    expect(await resolvePending(worker, tenant.uuid)).toBe(0); // off by default
    await api.database.query('update tenants set auto_resolve_days = 14 where id = $1', [tenant.uuid]);
    await finish(silence({ storage: worker, metrics }));
    expect(count.resolved).toBe(1);
    const statuses = await Promise.all(ids.map(async id => (await read(team, id)).status));
    expect(statuses).toEqual(['resolved', 'pending', 'open', 'pending']);
    expect(await read(user, silent)).toMatchObject({ status: 'resolved', resolved_at: expect.any(String) });
    expect((await messages(team, silent)).at(-1).event).toEqual({
      field: 'status',
      from: 'pending',
      to: 'resolved',
      reason: { type: 'timer', id: null },
    });
    expect((await messages(team, recent)).map(({ kind }: Body) => kind)).toEqual(['reply', 'reply', 'event']);
  });
});
