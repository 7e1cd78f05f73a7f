import { v7 } from 'uuid';
import { afterAll, describe, expect, test } from 'vitest';
import { answersOf } from '../support/answers.ts';
import { createApi, createWorker, waitFor } from '../support/api.ts';
import { answerTo, claimToken, makeTenant, publishQuestion } from '../support/make.ts';

const api = await createApi();
const worker = await createWorker(api);
afterAll(async () => {
  await worker.close();
  await api[Symbol.asyncDispose]();
});
const { send, sync, read, stored, firstCard, make } = answersOf(api);

describe('a stored answer', () => {
  test('is visible to its user and the team only', async () => {
    const { tenant, token, card, key } = await make();
    const answer = answerTo(card);
    await sync(token, [answer]);
    await stored(token, answer.id);
    const other = await makeTenant(api);
    const strangers = [await tenant.sign('user|43'), await claimToken(api, tenant, 'user|42'), other.key.apiKey];
    for (const as of strangers) {
      const [hidden, missing] = [await read(as, answer.id), await read(as, v7())];
      expect(hidden.status).toBe(404);
      const { request_id: _, instance: __, ...problem } = hidden.body;
      expect(missing.body).toMatchObject(problem);
    }
    const etag = (await read(key, answer.id)).headers.get('etag') as string;
    const unchanged = await api.request('GET', `/v1/answers/${answer.id}`, {
      as: key,
      headers: { 'If-None-Match': etag },
    });
    expect(unchanged.status).toBe(304);
    for (const id of ['x', `${answer.id}0`, '%00']) expect((await read(key, id)).status).toBe(404);
  });

  test('shows its user nothing of the team: neither its tags nor that they changed', async () => {
    const { token, card, key } = await make();
    const answer = answerTo(card, { comment: 'Slow' });
    await sync(token, [answer]);
    await stored(token, answer.id);
    const before = await read(token, answer.id);
    const body = { tags: ['churn-risk'] };
    expect((await api.request('PATCH', `/v1/answers/${answer.id}`, { as: key, body })).body.tags).toEqual([
      'churn-risk',
    ]);
    const after = await read(token, answer.id);
    expect(after.body).toEqual(before.body);
    expect(after.headers.get('etag')).toBe(before.headers.get('etag'));
    const { tags, updated_at, ...own } = (await read(key, answer.id)).body;
    expect(after.body).toEqual(own);
    expect(Object.keys(own)).not.toEqual(expect.arrayContaining(['segments', 'ask_id', 'about']));
  });

  test('is listed by the values, days and counting of the results', async () => {
    const { tenant, key } = await make();
    const list = async (query: string) => {
      const { status, body } = await api.request('GET', `/v1/answers?limit=100${query}`, { as: key });
      expect(status, query).toBe(200);
      return body.data.map(({ id }: { id: string }) => id);
    };
    const give = async (question: { id: string }, values: object, fields: object = {}) => {
      const answer = { id: v7(), identity: `user|${v7()}`, question_id: question.id, question_version: 1, revision: 1 };
      await sync(key, [{ ...answer, state: 'completed', values, ...fields }]);
      await stored(key, answer.id);
      return answer.id;
    };
    const [one, two] = ['a', 'b'];
    const options = [one, two].map(id => ({ id, label: `Option ${id}` }));
    const nps = await publishQuestion(api, tenant, { type: 'nps' });
    const thumbs = await publishQuestion(api, tenant, { type: 'thumbs' });
    const choice = await publishQuestion(api, tenant, { type: 'multi_choice', config: { options, allow_other: true } });
    const words = await publishQuestion(api, tenant, { type: 'text' });
    const follow_ups = [
      { key: 'reason', type: 'single_choice', title: 'Why?', config: { options, allow_other: true } },
      { key: 'more', type: 'multi_choice', title: 'What else?', config: { options, allow_other: true } },
      { key: 'ease', type: 'csat', title: 'How easy?' },
      { key: 'note', type: 'text', title: 'Anything else?' },
    ];
    const steps = await publishQuestion(api, tenant, { type: 'nps', follow_ups });
    const nine = await give(nps, { main: 9 });
    const zero = await give(nps, { main: 0 });
    await give(nps, {}, { state: 'seen' });
    const yes = await give(thumbs, { main: true });
    const both = await give(choice, { main: { option_ids: [one, two] } });
    const other = await give(choice, { main: { option_ids: [two], other_text: 'Three' } });
    await give(words, { main: '9' });
    expect(await list('&value=9')).toEqual([nine]);
    expect(await list(`&value=0&question_id=${nps.id}`)).toEqual([zero]);
    expect(await list('&value=1')).toEqual([]);
    expect(await list('&value=true')).toEqual([yes]);
    expect(await list('&value=false')).toEqual([]);
    expect(await list(`&value=${one}`)).toEqual([both]);
    expect(await list(`&value=${two}`)).toEqual([other, both]);
    expect(await list('&value=other')).toEqual([other]);
    expect(await list('&value=%25')).toEqual([]);
    const full = await give(steps, {
      ...{ main: 3, reason: { option_id: one }, more: { option_ids: [one, two], other_text: 'Three' }, ease: 4 },
      note: '4',
    });
    const short = await give(steps, { main: 4, reason: { other_text: 'The colour' } }, { state: 'partial' });
    await give(steps, { main: 4 });
    expect(await list(`&step=reason&value=${one}`)).toEqual([full]);
    expect(await list('&step=reason&value=other')).toEqual([short]);
    expect(await list(`&step=more&value=${two}&question_id=${steps.id}&counted=true`)).toEqual([full]);
    expect(await list('&step=more&value=other')).toEqual([full]);
    expect(await list('&step=ease&value=4')).toEqual([full]);
    expect(await list('&step=note&value=4')).toEqual([]);
    expect(await list(`&step=main&value=9`)).toEqual([nine]);
    expect(await list('&step=reason')).toEqual([short, full]);
    expect(await list(`&step=none&value=${one}`)).toEqual([]);
    expect(await list("&step=');--&value=4")).toEqual([]);
    const { body: results } = await api.request('GET', `/v1/questions/${steps.id}/results?step=more`, { as: key });
    for (const { value, count } of results.values)
      expect(await list(`&question_id=${steps.id}&step=more&value=${value}`)).toHaveLength(count);
    await api.database.query("update answers set received_at = received_at - interval '2 days' where id = $1", [nine]);
    const [today, before] = [0, 2].map(days => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10));
    expect(await list(`&question_id=${nps.id}&to=${before}`)).toEqual([nine]);
    expect(await list(`&question_id=${nps.id}&from=${before}&to=${before}`)).toEqual([nine]);
    expect(await list(`&value=0&from=${today}`)).toEqual([zero]);
    expect(await list(`&value=9&from=${today}`)).toEqual([]);
    for (const query of ['from=2026-02-02&to=2026-02-01', 'from=x', 'counted=1', 'value=', 'step='])
      expect((await api.request('GET', `/v1/answers?${query}`, { as: key })).status, query).toBe(422);
  });

  test('is listed as counted unless another answer to its card is', async () => {
    const { token, card, key } = await make();
    const [first, second] = [answerTo(card), answerTo(card)];
    for (const answer of [first, second]) {
      await sync(token, [answer]);
      await stored(key, answer.id);
    }
    const list = async (counted: boolean) =>
      (await api.request('GET', `/v1/answers?counted=${counted}`, { as: key })).body.data.map(
        ({ id, counted }: { id: string; counted: boolean }) => [id, counted],
      );
    expect(await list(true)).toEqual([[first.id, true]]);
    expect(await list(false)).toEqual([[second.id, false]]);
  });

  test('is listed by time of receipt, newest first, with any filter', async () => {
    const { tenant, question, key, answer } = await make();
    const second = await publishQuestion(api, tenant, { type: 'text' });
    const answers = [
      answer({ comment: '100% fine' }),
      answer({ identity: 'user|43', state: 'dismissed', values: {} }),
      answer({ question_id: second.id, values: { main: 'the quick fox' } }),
    ];
    for (const one of answers) {
      await sync(key, [one]);
      await stored(key, one.id);
    }
    const token = await claimToken(api, tenant, 'user|42');
    const claimed = answerTo(await firstCard(token));
    await sync(token, [claimed]);
    await stored(token, claimed.id);
    const [a, b, c] = answers.map(({ id }) => id);
    await api.request('PATCH', `/v1/answers/${b}`, { as: key, body: { tags: ['vip'] } });
    const list = async (query: string) => {
      const { status, body } = await api.request('GET', `/v1/answers${query}`, { as: key });
      expect(status).toBe(200);
      return body.data.map(({ id }: { id: string }) => id);
    };
    expect(await list('')).toEqual([claimed.id, c, b, a]);
    expect(await list(`?question_id=${question.id}`)).toEqual([claimed.id, b, a]);
    expect(await list('?state=dismissed')).toEqual([b]);
    expect(await list('?identity=user%7C42')).toEqual([claimed.id, c, a]);
    expect(await list('?identity=user%7C42&verified=true')).toEqual([c, a]);
    expect(await list('?verified=false')).toEqual([claimed.id]);
    expect(await list('?tag=vip')).toEqual([b]);
    expect(await list('?q=QUICK')).toEqual([c]);
    expect(await list('?q=fox+qui')).toEqual([c]);
    expect(await list('?q=ick')).toEqual([]); // words and prefixes, not infixes
    expect(await list('?q=quick+fine')).toEqual([]);
    expect(await list('?q=0%25')).toEqual([]);
    expect(await list('?q=100%25')).toEqual([a]);
    expect(await list('?q=_')).toEqual([]);
    expect(await list('?written=true')).toEqual([c, a]);
    expect(await list(`?written=true&question_id=${second.id}&q=fox`)).toEqual([c]);
    expect(await list('?version=1')).toEqual([claimed.id, c, b, a]);
    expect(await list('?version=2')).toEqual([]);
    const page = await api.request('GET', '/v1/answers?limit=2', { as: key });
    const rest = await api.request('GET', `/v1/answers?limit=2&cursor=${page.body.next_cursor}`, { as: key });
    expect([...page.body.data, ...rest.body.data].map(({ id }) => id)).toEqual([claimed.id, c, b, a]);
    const foreign = `/v1/answers?state=seen&cursor=${page.body.next_cursor}`;
    expect((await api.request('GET', foreign, { as: key })).body.code).toBe('invalid-cursor');
    // the latest change is last
    const since = '?updated_since=2020-01-01T00:00:00Z';
    await waitFor(async () => JSON.stringify(await list(since)) === JSON.stringify([a, c, claimed.id, b]));
    expect(await list('?updated_since=2100-01-01T00:00:00Z')).toEqual([]);
  });

  test.each([
    ['?state=gone', 422],
    ['?question_id=x', 422],
    ['?identity=', 422],
    ['?identity=%00', 422],
    ['?verified=1', 422],
    ['?tag=', 422],
    ['?q=%00', 422],
    ['?q=', 422],
    ['?q=+', 422],
    ['?written=false', 422],
    ['?version=0', 422],
    ['?updated_since=yesterday', 422],
    ['?updated_since=0000-01-01T00:00:00Z', 422],
    ['?limit=1000', 422],
    ['?sort=id', 400],
  ])('rejects the query %s', async (query, status) => {
    const tenant = await makeTenant(api);
    expect((await api.request('GET', `/v1/answers${query}`, { as: tenant.key.apiKey })).status).toBe(status);
  });

  test('accepts labels from the team and keeps them in later revisions', async () => {
    const { key, token, card } = await make();
    const answer = answerTo(card, { state: 'partial' });
    await sync(token, [answer]);
    await stored(key, answer.id);
    const patch = (body: unknown, headers: Record<string, string> = {}) =>
      api.request('PATCH', `/v1/answers/${answer.id}`, { as: key, body, headers });
    const etag = (await read(key, answer.id)).headers.get('etag') as string;
    expect((await patch({ tags: ['vip', 'berlin'] }, { 'If-Match': etag })).body.tags).toEqual(['vip', 'berlin']);
    expect((await patch({ tags: [] }, { 'If-Match': etag })).status).toBe(412);
    for (const tags of [
      ['a', 'a'],
      [''],
      ['x'.repeat(51)],
      Array.from({ length: 21 }, (_, n) => `${n}`),
      'vip',
      ['\u0000'],
    ])
      expect((await patch({ tags })).status).toBe(422);
    expect((await patch({ tags: ['vip'], comment: 'x' })).status).toBe(422);
    await sync(token, [{ ...answer, revision: 2, state: 'completed' }]);
    expect(await stored(key, answer.id, 2)).toMatchObject({ tags: ['vip', 'berlin'], state: 'completed' });
    expect((await api.request('PATCH', `/v1/answers/${v7()}`, { as: key, body: { tags: [] } })).status).toBe(404);
    expect((await api.request('PATCH', `/v1/answers/${answer.id}`, { as: token, body: { tags: [] } })).status).toBe(
      403,
    );
  });

  test('is deleted permanently: its id stays reserved', async () => {
    const { key, token, card } = await make();
    const answer = answerTo(card, { state: 'partial' });
    await sync(token, [answer]);
    await stored(key, answer.id);
    const remove = (headers: Record<string, string> = {}) =>
      api.request('DELETE', `/v1/answers/${answer.id}`, { as: key, headers });
    expect((await remove({ 'If-Match': '"stale"' })).status).toBe(412);
    expect((await remove()).status).toBe(204);
    expect((await remove()).status).toBe(404);
    expect((await read(token, answer.id)).status).toBe(404);
    const later = { ...answer, revision: 2 };
    const receipt = await waitFor(async () => {
      const [found] = await sync(token, [{ ...later, revision: later.revision++ }]);
      return found.code === 'answer-deleted' && found;
    });
    expect(receipt).toMatchObject({ status: 'rejected', pointer: '/id' });
    await waitFor(async () => (await api.request('GET', '/v1/ingestion', { as: key })).body.queued === 0);
    expect((await read(key, answer.id)).status).toBe(404);
  });
});

test('writing, reading and labelling answers each need a scope', async () => {
  const { tenant, answer } = await make();
  const reader = (await tenant.addKey({ scopes: ['answers:read'] })).apiKey;
  const writer = (await tenant.addKey({ scopes: ['answers:write'] })).apiKey;
  const one = answer();
  expect((await send(reader, [one])).body.code).toBe('insufficient-scope');
  expect((await send(writer, [one])).status).toBe(202);
  expect((await read(writer, one.id)).body.code).toBe('insufficient-scope');
  await stored(reader, one.id);
  const patch = { as: reader, body: { tags: [] } };
  expect((await api.request('PATCH', `/v1/answers/${one.id}`, patch)).body.code).toBe('insufficient-scope');
  expect((await api.request('GET', '/v1/answers', { as: await tenant.sign('user|42') })).status).toBe(403);
});
