import { describe, expect, test } from 'vitest';
import { backends, createApi, createWorker, waitFor } from '../support/api.ts';
import { answerTo, makeTenant, publishQuestion } from '../support/make.ts';

describe.each(backends())('with the queue in %s', backend => {
  test('a user answers a card, the worker stores it, and the card is gone', async () => {
    await using api = await createApi({ backend });
    await using _worker = await createWorker(api);
    const tenant = await makeTenant(api);
    const question = await publishQuestion(api, tenant);
    const token = await tenant.sign('user|42');

    const cards = await waitFor(async () => {
      const { body } = await api.request('GET', '/v1/cards', { as: token });
      return body.data.length > 0 && body.data;
    });
    expect(cards[0]).toMatchObject({ question_id: question.id, question_version: 1, kind: 'question' });

    const answer = answerTo(cards[0], { comment: 'I like it' });
    const synced = await api.request('POST', '/v1/answers', { as: token, body: { answers: [answer] } });
    expect(synced.status).toBe(202);
    expect(synced.body.results).toEqual([{ id: answer.id, revision: 1, status: 'accepted' }]);

    const stored = await waitFor(async () => {
      const { status, body } = await api.request('GET', `/v1/answers/${answer.id}`, { as: token });
      return status === 200 && body;
    });
    expect(stored).toMatchObject({ id: answer.id, status: 'stored', identity: 'user|42', comment: 'I like it' });
    expect((await api.request('GET', '/v1/cards', { as: token })).body.data).toEqual([]);
    const ingestion = await api.request('GET', '/v1/ingestion', { as: tenant.key.apiKey });
    expect(ingestion.body).toMatchObject({ accepted: 1, stored: 1, queued: 0, repeated: 0, quarantined: 0 });
  });
});
