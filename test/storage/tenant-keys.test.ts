import { describe, expect, test } from 'vitest';
import { createApi, createWorker, waitFor } from '../support/api.ts';
import { createDatabase } from '../support/database.ts';
import { answerTo, makeTenant, publishQuestion } from '../support/make.ts';
import { GROWING, partition } from '../support/partitions.ts';

const INDEXES = `select index_class.relname as name
  from pg_index join pg_class index_class on index_class.oid = indexrelid
    left join pg_attribute head on head.attrelid = indrelid and head.attnum = indkey[0]
  where head.attname is distinct from 'tenant_id' and indrelid in (
    select attrelid from pg_attribute join pg_class on pg_class.oid = attrelid where attname = 'tenant_id' and relkind = 'r'
      and relnamespace = 'public'::regnamespace)`;

describe('the tables of tenants can be split by tenant', () => {
  test('every primary key and unique index starts with the tenant, except three that find a row before its tenant is known', async () => {
    await using database = await createDatabase();
    const rows = await database.query<{ name: string }>(`${INDEXES} and indisunique order by 1`);
    expect(rows.map(({ name }) => name)).toEqual([
      'api_keys_id',
      'invitations_mailed_token_hash_key',
      'invitations_token_hash_key',
    ]);
  });

  test('no table refers to another one by a foreign key', async () => {
    await using database = await createDatabase();
    expect(
      await database.query(
        "select conname from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace",
      ),
    ).toEqual([]);
  });

  test('with the growing tables in hash partitions, answers, results, lists, deletions and conversations work as before', async () => {
    await using api = await createApi();
    const tenant = await makeTenant(api);
    const question = await publishQuestion(api, tenant);
    const as = tenant.key.apiKey;
    const before = await api.request('POST', '/v1/conversations', {
      as: await tenant.sign('user|1'),
      body: { message: 'Where is my parcel?' },
    });
    for (const table of GROWING) await partition(api.database, table);

    await using _worker = await createWorker(api);
    const token = await tenant.sign('user|42');
    const [card] = (await api.request('GET', '/v1/cards', { as: token })).body.data;
    const answer = answerTo(card, { comment: 'I like it' });
    const body = { answers: [answer] };
    expect((await api.request('POST', '/v1/answers', { as: token, body })).status).toBe(202);
    await waitFor(async () => (await api.request('GET', `/v1/answers/${answer.id}`, { as })).status === 200);
    await waitFor(async () => (await api.request('GET', '/v1/cards', { as: token })).body.data.length === 0);
    const results = await api.request('GET', `/v1/questions/${question.id}/results`, { as });
    expect(results.body).toMatchObject({ completed: 1, written: 1 });
    const found = await api.request('GET', '/v1/answers?q=like', { as });
    expect(found.body.data).toEqual([expect.objectContaining({ id: answer.id })]);
    expect((await api.request('DELETE', `/v1/answers/${answer.id}`, { as })).status).toBe(204);
    expect((await api.request('GET', '/v1/answers', { as })).body.data).toEqual([]);

    const conversations = await api.request('GET', '/v1/conversations', { as });
    expect(conversations.body.data).toEqual([expect.objectContaining({ id: before.body.id })]);
    const stranger = await makeTenant(api);
    expect((await api.request('GET', '/v1/conversations', { as: stranger.key.apiKey })).body.data).toEqual([]);
  });
});
