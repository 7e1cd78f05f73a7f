import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, type TestApi } from '../support/api.ts';
import { conversationsOf, problem } from '../support/conversations.ts';

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
});
