import { describe, expect, test } from 'vitest';
import type { Metrics } from '../../src/platform/metrics.ts';
import { backends, createApi, createWorker, type TestApi, waitFor } from '../support/api.ts';
import { anAnswer, makeTenant, publishQuestion } from '../support/make.ts';

async function make(api: TestApi) {
  const tenant = await makeTenant(api);
  const question = await publishQuestion(api, tenant);
  const key = tenant.key.apiKey;
  return {
    tenant,
    question,
    key,
    answer: (fields: Record<string, unknown> = {}) =>
      anAnswer({ identity: 'user|42', question_id: question.id, ...fields }),
    send: (answers: unknown[], to: TestApi = api) =>
      to.request('POST', '/v1/answers', { as: key, body: { answers } }).then(reply => reply.body.results),
    ingestion: async () => (await api.request('GET', '/v1/ingestion', { as: key })).body,
    quarantine: async () => (await api.request('GET', '/v1/quarantine', { as: key })).body.data,
  };
}

/** The number of jobs that a worker has handled. */
async function countHandled({ jobDuration }: Metrics): Promise<number> {
  const { values } = await jobDuration.get();
  return values.filter(({ metricName }) => metricName?.endsWith('_count')).reduce((sum, { value }) => sum + value, 0);
}

const NOTHING = {
  queued: 0,
  accepted: 0,
  stored: 0,
  repeated: 0,
  quarantined: 0,
  rejected: 0,
  oldest_queued_age_ms: null,
  first_card_at: null,
};

describe.each(backends())('with the queue in %s', backend => {
  test('the figures show where the answers of one tenant are, waiting and at rest', async () => {
    await using api = await createApi({ backend });
    const [one, other] = [await make(api), await make(api)];
    expect(await one.ingestion()).toEqual(NOTHING);
    const answer = one.answer();
    await one.send([answer, one.answer(), one.answer({ values: {} })]);
    await one.send([one.answer(), { ...answer }, null]);
    await other.send([other.answer()]);
    const waiting = await waitFor(async () => {
      const figures = await one.ingestion();
      return figures.queued === 3 && figures.rejected === 2 && figures;
    });
    expect(waiting).toEqual({
      ...NOTHING,
      queued: 3,
      accepted: 3,
      rejected: 2,
      oldest_queued_age_ms: expect.any(Number),
    });
    const older = await waitFor(async () => {
      const figures = await one.ingestion();
      return figures.oldest_queued_age_ms > waiting.oldest_queued_age_ms && figures;
    });
    expect(older.queued).toBe(3);

    await using _worker = await createWorker(api);
    await waitFor(async () => (await one.ingestion()).stored === 3 && (await other.ingestion()).stored === 1);
    const atRest = await waitFor(async () => {
      const figures = await one.ingestion();
      return figures.queued === 0 && figures;
    });
    expect(atRest).toEqual({ ...NOTHING, accepted: 3, stored: 3, rejected: 2 });
    await waitFor(async () => (await other.ingestion()).queued === 0);
    expect(await other.ingestion()).toEqual({ ...NOTHING, accepted: 1, stored: 1 });
  });

  test('acknowledged answers are in the next figures of every process, and never twice', async () => {
    await using api = await createApi({ backend });
    await using second = await createApi({ backend, sharing: api });
    const { key, answer, send } = await make(api);
    const accepted = async (from: TestApi) =>
      (await from.request('GET', '/v1/ingestion', { as: key })).body.accepted as number;
    const sendAll = async (first: number, last: number) => {
      for (let number = first; number <= last; number++) {
        const [to, from] = number % 2 === 0 ? [api, second] : [second, api];
        await send([answer()], to);
        expect([await accepted(from), await accepted(to)]).toEqual([number, number]);
      }
    };
    await sendAll(1, 5);
    await using _worker = await createWorker(api);
    await sendAll(6, 25);
  });

  test('a conflict accepted by two processes stays in the quarantine until it is replayed or discarded', async () => {
    await using api = await createApi({ backend });
    await using second = await createApi({ backend, sharing: api });
    await using worker = await createWorker(api);
    const { tenant, question, key, answer, send, ingestion, quarantine } = await make(api);
    const act = (method: string, path: string) => api.request(method, `/v1/quarantine/${path}`, { as: key });
    const atRest = (figures: Record<string, number>) =>
      waitFor(async () => {
        const found = await ingestion();
        return Object.entries({ queued: 0, ...figures }).every(([name, value]) => found[name] === value) && found;
      });
    const answers = [answer(), answer()];
    await send(answers);
    await atRest({ stored: 2 });
    const atOdds = answers.map(one => ({ ...one, values: { main: 1 } }));
    for (const receipt of await send(atOdds, second)) expect(receipt.status).toBe('accepted');
    expect(await atRest({ quarantined: 2 })).toMatchObject({ accepted: 4, stored: 2, repeated: 0 });

    const entries = await quarantine();
    expect(entries.map((entry: { answer_id: string }) => entry.answer_id).sort()).toEqual(
      answers.map(({ id }) => id).sort(),
    );
    const entry = entries.find((found: { answer_id: string }) => found.answer_id === answers[0]?.id);
    expect(entry).toMatchObject({
      id: expect.stringMatching(/^quarantine_/),
      reason: 'revision-conflict',
      detail: expect.any(String),
      quarantined_at: expect.any(String),
      payload: { question_id: question.id, identity: 'user|42', values: { main: 1 }, revision: 1 },
    });
    expect((await act('GET', entry.id)).body).toEqual(entry);
    expect(entry.payload).not.toHaveProperty('tenant_id');

    const handled = await countHandled(worker.metrics);
    const failed = await act('POST', `${entry.id}/replay`);
    expect([failed.status, failed.body]).toEqual([200, entry]);
    await waitFor(async () => (await countHandled(worker.metrics)) > handled); // until then it is also quarantined
    await atRest({ quarantined: 2 });
    expect(await quarantine()).toHaveLength(2);

    await api.database.query('delete from answers where id = $1', [entry.answer_id]);
    const replays = await Promise.all([act('POST', `${entry.id}/replay`), act('POST', `${entry.id}/replay`)]);
    expect(replays.map(reply => reply.status)).toContain(200);
    for (const { status } of replays) expect([200, 404]).toContain(status); // 404: the other request was faster
    expect(await atRest({ quarantined: 1, stored: 3 })).toMatchObject({ accepted: 4, repeated: 0 });
    expect((await api.request('GET', `/v1/answers/${entry.answer_id}`, { as: key })).body.values).toEqual({ main: 1 });
    const [left] = await quarantine();
    expect(left.answer_id).toBe(answers[1]?.id);

    const stranger = await makeTenant(api);
    for (const [method, path] of [
      ['POST', `${left.id}/replay`],
      ['DELETE', left.id],
    ] as const) {
      expect((await api.request(method, `/v1/quarantine/${path}`, { as: stranger.key.apiKey })).status).toBe(404);
      expect((await act(method, path.replace(left.id, entry.id))).status).toBe(404);
      expect((await act(method, path.replace(left.id, 'x'))).status).toBe(404);
    }
    expect((await act('DELETE', left.id)).status).toBe(204);
    expect(await quarantine()).toEqual([]);
    expect(await atRest({ quarantined: 1 })).toMatchObject({ accepted: 4, stored: 3 });
    expect((await api.request('GET', '/v1/quarantine', { as: await tenant.sign('user|42') })).status).toBe(403);
    const reader = await tenant.addKey({ scopes: ['answers:read'] });
    expect((await api.request('GET', '/v1/quarantine', { as: reader.apiKey })).status).toBe(403);
    expect((await api.request('GET', '/v1/ingestion', { as: reader.apiKey })).status).toBe(200);
  });
});

test('the quarantine is listed newest first, page by page', async () => {
  await using api = await createApi();
  const { tenant, key } = await make(api);
  await api.database.query(
    `insert into quarantined_answers
     select $1, gen_random_uuid(), gen_random_uuid(), 'unstorable', 'x', $2, now() - number * interval '1 second'
     from generate_series(1, 7) as number`,
    [
      tenant.uuid,
      JSON.stringify({
        tenant_id: tenant.uuid,
        card_id: tenant.uuid,
        question_id: tenant.uuid,
        comment: 'kept as it came: \u0000 \ud800',
      }),
    ],
  );
  const entries: { quarantined_at: string; payload: { comment: string } }[] = [];
  let cursor = '';
  for (;;) {
    const { status, body } = await api.request('GET', `/v1/quarantine?limit=3${cursor}`, { as: key });
    expect(status).toBe(200);
    entries.push(...body.data);
    if (!body.has_more) break;
    cursor = `&cursor=${body.next_cursor}`;
  }
  const times = entries.map(entry => entry.quarantined_at);
  expect(times).toEqual(times.toSorted().toReversed());
  expect(new Set(times).size).toBe(7);
  expect(entries[0]?.payload.comment).toBe('kept as it came: \u0000 \ud800');
});
