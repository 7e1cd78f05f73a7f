import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, type TestApi } from '../support/api.ts';
import { type Body, conversationsOf, uuidOf } from '../support/conversations.ts';
import { makeMember as logIn } from '../support/person.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const { makeParties, patch, start, write, messages, makeMember } = conversationsOf(() => api);

describe('messages', () => {
  test('include an event for each change, with its values and who made it', async () => {
    const { user, team, tenant } = await makeParties();
    const ada = await logIn(api, tenant, 'agent', `ada-${v7()}@acme.example`);
    const assignee = await makeMember(tenant);
    const { id } = (await start(user)).body;
    const path = `/v1/conversations/${id}`;
    await patch(team, path, { assignee_id: assignee, status: 'pending' });
    await api.request('PATCH', path, { headers: ada.headers, body: { assignee_id: null, priority: 'high' } });
    await patch(team, path, { priority: 'none', tags: ['vip'] });
    const all = await messages(team, id);
    const byKey = { type: 'member', id: null };
    const byAda = { type: 'member', id: ada.memberId };
    expect(all.map(({ event }: Body) => event)).toEqual([
      null,
      { field: 'status', from: 'open', to: 'pending', reason: byKey },
      { field: 'assignee_id', from: null, to: assignee, reason: byKey },
      { field: 'assignee_id', from: assignee, to: null, reason: byAda },
      { field: 'priority', from: 'none', to: 'high', reason: byAda },
      { field: 'priority', from: 'high', to: 'none', reason: byKey },
      { field: 'tags', from: [], to: ['vip'], reason: byKey },
    ]);
    expect(all[6].body).toBe('tags: none → vip');
    expect(all[2]).toMatchObject({
      kind: 'event',
      body: `assignee_id: none → ${assignee}`,
      author: { type: 'api', id: tenant.key.id, name: null },
    });
    expect((await messages(user, id)).map(({ event }: Body) => event)).toEqual([null]);
  });

  test('include the changes that replies and users make, after the reply that made them', async () => {
    const { user, team, tenant } = await makeParties();
    const { id } = (await start(user, { subject: 'Billing' })).body;
    const path = `/v1/conversations/${id}`;
    await write(team, id);
    await write(team, id);
    await write(user, id);
    await patch(user, path, { status: 'resolved' });
    await write(user, id);
    await patch(team, path, { subject: 'Refund' });
    const byKey = { type: 'member', id: null };
    const byUser = { type: 'user', id: 'user|42' };
    expect((await messages(team, id)).map(({ seq, kind, event }: Body) => (kind === 'event' ? event : seq))).toEqual([
      1,
      2,
      { field: 'status', from: 'open', to: 'pending', reason: byKey },
      3,
      4,
      { field: 'status', from: 'pending', to: 'open', reason: byUser },
      { field: 'status', from: 'open', to: 'resolved', reason: byUser },
      5,
      { field: 'status', from: 'resolved', to: 'open', reason: byUser },
      { field: 'subject', from: 'Billing', to: 'Refund', reason: byKey },
    ]);
    expect((await messages(user, id)).map(({ seq }: Body) => seq)).toEqual([1, 2, 3, 4, 5]);
    const [notes] = await api.database.query('select last_note_seq from conversations where tenant_id = $1', [
      tenant.uuid,
    ]);
    expect(notes).toEqual({ last_note_seq: 5 });
  });

  test('include the events that the previous version has stored as text, before and after newer ones', async () => {
    const { user, team, tenant } = await makeParties();
    const ada = await makeMember(tenant);
    const { id } = (await start(user)).body;
    const writeText = (noteSeq: number, body: string) =>
      api.database.query(
        `insert into messages (tenant_id, id, conversation_id, seq, note_seq, kind, author_type, author_id, body, format, created_at, redacted)
         values ($1, gen_random_uuid(), $2, 1, $3, 'event', 'member', $4, $5, 'text', now(), false)`,
        [tenant.uuid, uuidOf(id), noteSeq, ada, body],
      );
    await patch(team, `/v1/conversations/${id}`, { priority: 'low' });
    await writeText(2, `assignee_id: none → ${ada}`);
    await writeText(3, 'priority: low → none');
    await writeText(4, 'something else');
    const reason = { type: 'member', id: ada };
    expect((await messages(team, id)).slice(1).map(({ event, body }: Body) => [event, body])).toEqual([
      [expect.objectContaining({ field: 'priority', from: 'none', to: 'low' }), 'priority: none → low'],
      [{ field: 'assignee_id', from: null, to: ada, reason }, `assignee_id: none → ${ada}`],
      [{ field: 'priority', from: 'low', to: 'none', reason }, 'priority: low → none'],
      [null, 'something else'],
    ]);
  });
});
