import { v7 } from 'uuid';
import { expect, test } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { openStorage } from '../../src/storage/database/orm.ts';
import { createApi, createWorker, type TestApi, waitFor } from '../support/api.ts';
import { createDatabase } from '../support/database.ts';
import { anAnswer, makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';
import { setOddDefaults } from '../support/odd-defaults.ts';

/** What a team reads after a user has answered and written. */
async function readAll(api: TestApi, tenant: TestTenant) {
  const key = tenant.key.apiKey;
  const question = await publishQuestion(api, tenant);
  const answer = anAnswer({ question_id: question.id, identity: 'user|1', comment: "it's \\d null" });
  await api.request('POST', '/v1/answers', { as: key, body: { answers: [answer] } });
  await waitFor(async () => (await api.request('GET', `/v1/answers/${answer.id}`, { as: key })).status === 200);
  const tagged = await api.request('PATCH', `/v1/answers/${answer.id}`, { as: key, body: { tags: ['NULL', 'a\\b'] } });
  const token = await tenant.sign('user|1');
  const started = await api.request('POST', '/v1/conversations', { as: token, body: { message: 'Hello \\ there' } });
  const path = `/v1/conversations/${started.body.id}`;
  const changed = await api.request('PATCH', path, { as: key, body: { status: 'pending' } });
  const since = new Date(Date.now() - 60_000).toISOString();
  const lists = ['/v1/answers?q=null', `/v1/answers?updated_since=${since}`, '/v1/conversations', `${path}/messages`];
  const replies = await Promise.all(lists.map(list => api.request('GET', list, { as: key })));
  const results = await api.request('GET', `/v1/questions/${question.id}/results`, { as: key });
  return { tagged, changed, replies, results };
}

test('the defaults of a database or its user change nothing', async () => {
  await using usual = await createApi();
  const tenant = await makeTenant(usual);
  await setOddDefaults(usual.database);
  await using api = await createApi({ sharing: usual });
  await using _worker = await createWorker(api);
  const { tagged, changed, replies, results } = await readAll(api, tenant);
  const isNow = (text: string) => Math.abs(Date.parse(text) - Date.now()) < 60_000 && text.endsWith('Z');
  expect(tagged).toMatchObject({ status: 200, body: { tags: ['NULL', 'a\\b'], comment: "it's \\d null" } });
  expect(isNow(tagged.body.received_at), tagged.body.received_at).toBe(true);
  expect(changed).toMatchObject({ status: 200, body: { status: 'pending' } });
  expect(replies.map(({ body }) => body.data?.length)).toEqual([1, 1, 1, 2]); // the change of status is an event
  expect(results).toMatchObject({ status: 200, body: { written: 1 } });
});

test('behind a pooler, each transaction replaces the defaults', async () => {
  await using database = await createDatabase();
  await setOddDefaults(database);
  const read = () => database.url;
  const url = { readUrl: read, readDirectUrl: read, isPooled: true, rolePrefix: 'parley' };
  const storage = openStorage({ url, role: 'parley_app', connections: 1, log: createLog('silent', 'test') });
  const tenant = storage.forTenant(v7());
  const sql = `select '2026-01-02 03:04:05+02'::timestamptz as at, $1::text[] as texts, 0.1::float8 as part, '\\d' as pattern,
    (select count(*)::int from answers) as answers, current_setting('datestyle') as style`;
  const row = {
    at: new Date('2026-01-02T01:04:05Z'),
    texts: ['NULL', null],
    part: 0.1,
    pattern: '\\d',
    answers: 0,
    style: 'ISO, MDY',
  };
  expect(await tenant.query(sql, ['{"NULL",NULL}'])).toEqual([row]);
  expect(await tenant.transaction(tx => tx.query(`${sql}, 1 as one`, ['{"NULL",NULL}']))).toEqual([{ ...row, one: 1 }]);
  await storage.close();
});
