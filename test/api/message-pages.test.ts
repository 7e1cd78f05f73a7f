import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, type TestApi } from '../support/api.ts';
import { conversationsOf, problem, uuidOf } from '../support/conversations.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const { makeParties, get, start, write, messages, readPages } = conversationsOf(() => api);

describe('messages', () => {
  test('are listed newest first, page by page, back to a sequence number', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    for (const body of ['r2', 'n1', 'n2', 'r3', 'n3', 'r4'])
      await write(team, id, { body, kind: body.startsWith('n') ? 'note' : 'reply' });
    const path = `/v1/conversations/${id}/messages?order=desc`;
    for (const as of [user, team]) {
      const backwards = (await messages(as, id)).toReversed();
      expect(backwards).toHaveLength(as === user ? 4 : 8);
      for (const limit of [1, 2, 3, 100]) expect(await readPages(as, `${path}&limit=${limit}`)).toEqual(backwards);
      const bodies = async (query: string) => (await readPages(as, `${path}${query}`)).map(({ body }) => body);
      expect(await bodies('&limit=1&after_seq=3')).toEqual(as === user ? ['r4'] : ['r4', 'n3']);
      expect(await bodies('&after_seq=4')).toEqual([]);
      expect(await bodies('&after_seq=2147483647')).toEqual([]);
    }
  });

  test('that arrive while the pages are read backwards are not repeated', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    for (let count = 2; count <= 5; count++) await write(user, id, { body: String(count) });
    for (const as of [user, team]) {
      const rows = await readPages(as, `/v1/conversations/${id}/messages?order=desc&limit=2`, () =>
        write(user, id, { body: 'late' }),
      );
      const numbers = rows.map(({ seq }) => seq as number);
      expect(numbers).toEqual(
        Array.from({ length: numbers[0] as number }, (_, index) => (numbers[0] as number) - index),
      );
    }
  });

  test('a cursor of one direction is rejected in the other', async () => {
    const { user } = await makeParties();
    const { id } = (await start(user)).body;
    await write(user, id);
    const path = `/v1/conversations/${id}/messages?limit=1`;
    const { next_cursor } = (await get(user, path)).body;
    expect(problem(await get(user, `${path}&order=desc&cursor=${next_cursor}`))).toEqual([400, 'invalid-cursor']);
  });

  test('after many others are found by their number, and a page that ends early names no time', async () => {
    const { tenant, user, team } = await makeParties();
    const { id } = (await start(user)).body;
    await write(team, id, { kind: 'note', body: 'first' });
    const many = 5100;
    const insert = (kind: string, seq: string, noteSeq: string) =>
      api.database.query(
        `insert into messages (tenant_id, id, conversation_id, seq, note_seq, kind, author_type, author_id, body, format,
           created_at, redacted)
         select $1, gen_random_uuid(), $2, ${seq}, ${noteSeq}, $3, 'api', 'key', n::text, 'text', now(), false
         from generate_series(2, ${many}) as n`,
        [tenant.uuid, uuidOf(id), kind],
      );
    await insert('reply', 'n', '0');
    await insert('note', String(many), 'n');
    await api.database.query('update conversations set last_seq = $2, last_note_seq = $2 where id = $1', [
      ...[uuidOf(id), many],
    ]);
    const list = async (query: string) => (await get(team, `/v1/conversations/${id}/messages?limit=100&${query}`)).body;
    for (const order of ['asc', 'desc']) {
      const newest = await list(`after_seq=${many}&after_note_seq=${many - 3}&order=${order}`);
      const seqs = newest.data.map(({ seq }: { seq: number }) => seq);
      expect([seqs.toSorted(), newest.has_more]).toEqual([[many - 2, many - 1, many], false]);
    }
    const early = await list(`after_seq=${many}&after_note_seq=0`);
    expect([early.data.length, early.has_more]).toEqual([1, true]);
    expect(early).not.toHaveProperty('searched_to');
  });
});
