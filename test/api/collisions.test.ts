import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, type TestApi } from '../support/api.ts';
import { type Body, conversationsOf, idsOf, problem } from '../support/conversations.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const { makeParties, get, patch, start, write, read, messages, readPages } = conversationsOf(() => api);

const seqsOf = (rows: Body[]) => rows.map(({ kind, seq }) => `${kind} ${seq}`);

describe('a message of the team after what its author has seen', () => {
  test('is not written if anybody has written a reply or a note since, and the reply has what was missed', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const after = { seq: 1, note_seq: 0 };
    const added = await write(user, id, { body: 'One more thing' });
    await write(team, id, { body: 'Known bug', kind: 'note' });
    const before = await messages(team, id);
    for (const kind of ['reply', 'note']) {
      const refused = await write(team, id, { kind, after, client_message_id: `m-${kind}` });
      expect(problem(refused)).toEqual([409, 'conversation-moved']);
      expect(refused.body.missed).toEqual(before.slice(1));
      expect(refused.body.missed[0].id).toBe(added.body.id);
    }
    expect(await messages(team, id)).toEqual(before);
    const forced = await write(team, id, { after, force: true, client_message_id: 'm-reply' });
    expect([forced.status, forced.body.seq]).toEqual([201, 3]);
    // a repeated request is the message that it has written, not one that was missed
    expect((await write(team, id, { after, client_message_id: 'm-reply' })).status).toBe(200);
  });

  test('is written after changes and reads of others, which are no messages', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    await patch(team, `/v1/conversations/${id}`, { priority: 'high', tags: ['vip'] });
    expect((await write(team, id, { after: { seq: 1, note_seq: 0 } })).status).toBe(201);
    expect((await write(team, id, { after: { seq: 2, note_seq: 3 } })).status).toBe(201);
    const ahead = await write(team, id, { after: { seq: 99, note_seq: 99 } });
    expect(ahead.status).toBe(201);
  });

  test('is written by one of two who send at the same time', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const replies = await Promise.all(
      ['one', 'two', 'three'].map(body => write(team, id, { body, after: { seq: 1, note_seq: 0 } })),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
    expect((await messages(user, id)).length).toBe(2);
  });

  test('misses at most the 50 newest messages', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    for (let count = 0; count < 52; count++) await write(user, id, { body: String(count) });
    const refused = await write(team, id, { after: { seq: 1, note_seq: 0 } });
    expect(refused.body.missed.map(({ seq }: Body) => seq)).toEqual(Array.from({ length: 50 }, (_, at) => at + 4));
  });

  test.each<[string, Body, string]>([
    ['a position without notes', { after: { seq: 1 } }, '/after/note_seq'],
    ['a negative number', { after: { seq: -1, note_seq: 0 } }, '/after/seq'],
    ['force that is no boolean', { force: 'yes' }, '/force'],
  ])('with %s is rejected', async (_, fields, pointer) => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const refused = await write(team, id, fields);
    expect([...problem(refused), refused.body.errors[0].pointer]).toEqual([422, 'validation-failed', pointer]);
    expect(await messages(team, id)).toHaveLength(1);
  });

  test('is only for the team', async () => {
    const { user } = await makeParties();
    const { id } = (await start(user)).body;
    for (const fields of [{ after: { seq: 1, note_seq: 0 } }, { force: true }])
      expect(problem(await write(user, id, fields))).toEqual([422, 'validation-failed']);
    const path = `/v1/conversations/${id}/messages`;
    expect(problem(await get(user, `${path}?after_note_seq=0`))).toEqual([400, 'unknown-parameter']);
  });
});

describe('messages after a reply and a note', () => {
  test('are those that the reader has not seen, in both orders and page by page', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body; // reply 1
    for (const kind of ['note', 'reply', 'note', 'reply', 'note']) await write(team, id, { kind });
    // reply 1, note 1, reply 2, event 2, note 3, reply 3, note 4
    const at = (seq: number, note: number, query = '') =>
      readPages(team, `/v1/conversations/${id}/messages?after_seq=${seq}&after_note_seq=${note}${query}`);
    expect(seqsOf(await at(0, 0))).toEqual(['reply 1', 'note 1', 'reply 2', 'event 2', 'note 3', 'reply 3', 'note 4']);
    expect(seqsOf(await at(1, 0))).toEqual(['note 1', 'reply 2', 'event 2', 'note 3', 'reply 3', 'note 4']);
    expect(seqsOf(await at(3, 3))).toEqual(['note 4']);
    expect(seqsOf(await at(3, 1))).toEqual(['event 2', 'note 3', 'note 4']); // seen by a reply's own response only
    expect(seqsOf(await at(2, 4))).toEqual(['reply 3']);
    expect(await at(3, 4)).toEqual([]);
    for (const query of ['&limit=1', '&limit=2']) expect(await at(1, 1, query)).toEqual(await at(1, 1));
    expect(await at(1, 1, '&order=desc&limit=2')).toEqual((await at(1, 1)).toReversed());
  });
});

describe('the first reply of the team', () => {
  test("is its first one after the user's first message, also in a conversation that the team has started", async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(team, { identity: 'user|42' })).body;
    await write(team, id);
    expect((await read(team, id)).first_reply_at).toBeNull();
    await write(user, id);
    expect((await read(team, id)).first_reply_at).toBeNull();
    const replied = await write(team, id);
    await write(team, id);
    expect((await read(team, id)).first_reply_at).toBe(replied.body.created_at);
  });
});

describe('deleted conversations', () => {
  test('are listed to incremental readers of both sides, only of their own identity', async () => {
    const { user, team, tenant } = await makeParties();
    const other = await tenant.sign('user|43');
    const mine = [(await start(user)).body, (await start(user)).body, (await start(user)).body];
    const foreign = (await start(other)).body;
    const since = mine[0].created_at;
    for (const id of [mine[1].id, foreign.id])
      expect((await api.request('DELETE', `/v1/conversations/${id}`, { as: team })).status).toBe(204);
    const path = `/v1/conversations?updated_since=${since}&deleted=true`;
    const readAll = async (as: string, limit: number) => {
      const found = { data: [] as Body[], deleted: [] as Body[] };
      for (let next: string | null = `${path}&limit=${limit}`; next; ) {
        const { body, headers } = await get(as, next);
        expect(body.data.length + body.deleted.length).toBeLessThanOrEqual(limit);
        expect(headers.get('Updated-Until')).toBeTruthy();
        found.data.push(...body.data);
        found.deleted.push(...body.deleted);
        next = body.next_cursor && `${path}&limit=${limit}&cursor=${body.next_cursor}`;
      }
      return found;
    };
    for (const limit of [1, 2, 100]) {
      const forTeam = await readAll(team, limit);
      expect(idsOf(forTeam.data as { id: string }[])).toEqual([mine[0].id, mine[2].id]);
      expect(forTeam.deleted).toEqual(
        [mine[1].id, foreign.id].map(id => ({ id, deleted_at: expect.stringMatching(/^\d{4}-.*Z$/) })),
      );
      const forUser = await readAll(user, limit);
      expect(idsOf(forUser.data as { id: string }[])).toEqual([mine[0].id, mine[2].id]);
      expect(idsOf(forUser.deleted as { id: string }[])).toEqual([mine[1].id]);
    }
    expect((await get(team, path.replace('&deleted=true', ''))).body).not.toHaveProperty('deleted');
    const alone = await get(team, '/v1/conversations?deleted=true');
    expect([...problem(alone), alone.body.errors[0].parameter]).toEqual([422, 'validation-failed', 'updated_since']);
  });
});
