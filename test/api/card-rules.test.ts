import { afterAll, describe, expect, test } from 'vitest';
import { createApi } from '../support/api.ts';
import { aQuestion, publishQuestion } from '../support/make.ts';
import { expectProblem, makeAsker } from '../support/questions.ts';

const api = await createApi();
afterAll(() => api[Symbol.asyncDispose]());
const make = () => makeAsker(api);

const LATER = '2099-01-01T00:00:00.000Z';
const LATEST = '2099-02-01T00:00:00.000Z';

/** Every rule, with a value other than its default. */
const RULES = {
  audience: {
    any: [
      { attribute: 'plan', op: 'in', value: ['pro', 'team'] },
      { none: [{ locale: { op: 'eq', value: 'de' } }, { verified: false }] },
    ],
  },
  schedule: { start_at: LATER, end_at: LATEST },
  trigger: {
    ...{ event: 'paid', click: null, where: [{ property: 'total', op: 'gte', value: 50 }], url: null },
    ...{ count: 3, delay_s: 5, cancel_on: ['left'] },
  },
  frequency: {
    ...{ repeat: 'every_days', every_days: 90, max_displays: 3 },
    ...{ snooze_after_dismiss_days: 7, ignore_cooldown: true },
  },
  sampling_percent: 12.5,
  response_limit: { count: 100, per: 'week' },
};

const DEFAULTS = {
  audience: null,
  schedule: { start_at: null, end_at: null },
  trigger: null,
  frequency: {
    ...{ repeat: 'until_answered', every_days: null, max_displays: null },
    ...{ snooze_after_dismiss_days: 30, ignore_cooldown: false },
  },
  sampling_percent: 100,
  response_limit: null,
};

describe('the rules of a question', () => {
  test('have defaults that ask everyone', async () => {
    const { ask } = await make();
    expect((await ask('POST', '', aQuestion())).body).toMatchObject(DEFAULTS);
  });

  test('are stored and returned as they were sent, and changed by member or as a whole', async () => {
    const { ask } = await make();
    const { body } = await ask('POST', '', aQuestion(RULES));
    expect(body).toMatchObject(RULES);
    expect((await ask('GET', `/${body.id}`)).body).toEqual(body);
    const patched = await ask('PATCH', `/${body.id}`, {
      schedule: { end_at: null },
      frequency: { max_displays: null },
      trigger: { url: { op: 'contains', value: '/cart' } },
      response_limit: { count: 5 },
      audience: null,
    });
    expect(patched.body).toMatchObject({
      schedule: { start_at: LATER, end_at: null },
      frequency: { ...RULES.frequency, max_displays: null },
      trigger: { event: null, where: [], url: { op: 'contains', value: '/cart' }, count: 1, delay_s: 0, cancel_on: [] },
      response_limit: { count: 5, per: 'total' },
      audience: null,
      sampling_percent: 12.5,
    });
  });

  test('another repeat than every_days drops its number', async () => {
    const { ask } = await make();
    const { id } = (await ask('POST', '', aQuestion(RULES))).body;
    const { body } = await ask('PATCH', `/${id}`, { frequency: { repeat: 'once' } });
    expect(body.frequency).toEqual({ ...RULES.frequency, repeat: 'once', every_days: null });
  });

  test('are no content: a change of a live question makes no version', async () => {
    const { tenant, ask } = await make();
    const { id } = await publishQuestion(api, tenant);
    const { body } = await ask('PATCH', `/${id}`, RULES);
    expect(body).toMatchObject({ version: 1, ...RULES });
    expect((await ask('GET', `/${id}/versions`)).body.data).toHaveLength(1);
  });

  test('of a question that was stored before them are the defaults', async () => {
    const { tenant, ask } = await make();
    const { id } = await publishQuestion(api, tenant);
    const old = { repeat: 'until_answered', snooze_after_dismiss_days: 30, ignore_cooldown: false };
    await api.database.query(`update questions set frequency = '${JSON.stringify(old)}'`);
    expect((await ask('GET', `/${id}`)).body).toMatchObject(DEFAULTS);
  });

  test('opening a question to public tokens is refused while its audience depends on the person', async () => {
    const { ask } = await make();
    const audience = { all: [{ attribute: 'plan', op: 'set' }, { verified: true }] };
    const { id } = (await ask('POST', '', aQuestion({ audience }))).body;
    const refused = await ask('PATCH', `/${id}`, { allow_public: true });
    expectProblem(refused, 422, 'validation-failed');
    expect(refused.body.errors).toMatchObject([{ pointer: '/allow_public', code: 'audience-not-public' }]);
    const open = await ask('PATCH', `/${id}`, { allow_public: true, audience: { all: [{ platform: { op: 'set' } }] } });
    expect(open.status).toBe(200);
  });

  test('a question of another tenant is unknown to an audience', async () => {
    const [{ ask }, other] = [await make(), await make()];
    const { id } = (await other.ask('POST', '', aQuestion())).body;
    const audience = { all: [{ answered: { question: id, op: 'answered' } }] };
    const refused = await ask('POST', '', aQuestion({ audience }));
    expect(refused.body.errors).toMatchObject([{ code: 'unknown-reference' }]);
    expect((await other.ask('POST', '', aQuestion({ audience }))).status).toBe(201);
  });
});

describe('publishing', () => {
  test('is refused while the audience refers to a question that is gone, or to values that it no longer has', async () => {
    const { ask } = await make();
    const create = async (fields = {}) => (await ask('POST', '', aQuestion(fields))).body.id;
    const asking = (question: string, rest: object) =>
      create({ audience: { all: [{ answered: { question, ...rest } }] } });
    const [gone, changed] = [await create(), await create()];
    const drafts = [await asking(gone, { op: 'answered' }), await asking(changed, { op: 'lte', value: 6 })];
    await ask('DELETE', `/${gone}`);
    await ask('PATCH', `/${changed}`, { type: 'text' });
    const replies = [await ask('POST', `/${drafts[0]}/publish`), await ask('POST', `/${drafts[1]}/publish`)];
    expect(replies.map(({ status, body }) => [status, body.errors?.[0]?.pointer, body.errors?.[0]?.code])).toEqual([
      [422, '/audience/all/0/answered/question', 'unknown-reference'],
      [422, '/audience/all/0/answered/op', 'wrong-operator'],
    ]);
    expect((await ask('GET', `/${drafts[0]}`)).body.status).toBe('draft');
    await ask('PATCH', `/${changed}`, { type: 'nps' });
    expect((await ask('POST', `/${drafts[1]}/publish`)).body.status).toBe('live');
  });
});

describe('the schedule', () => {
  test('keeps a published question scheduled; publishing it again starts it now', async () => {
    const { ask } = await make();
    const { id } = (await ask('POST', '', aQuestion({ schedule: { start_at: LATER } }))).body;
    const published = (await ask('POST', `/${id}/publish`)).body;
    expect(published).toMatchObject({ status: 'scheduled', schedule: { start_at: LATER } });
    const started = (await ask('POST', `/${id}/publish`)).body;
    expect(started).toMatchObject({ status: 'live', published_at: published.published_at });
    expect(Date.parse(started.schedule.start_at)).toBeLessThanOrEqual(Date.now());
  });

  test('that ended keeps a question from being published', async () => {
    const { ask } = await make();
    const { id } = (await ask('POST', '', aQuestion({ schedule: { end_at: LATER } }))).body;
    await api.database.query(`update questions set end_at = now() - interval '1 second'`);
    const refused = await ask('POST', `/${id}/publish`);
    expect(refused.body.errors).toMatchObject([{ pointer: '/schedule/end_at', code: 'out-of-range' }]);
  });

  test('is not copied by a clone, unlike the other rules', async () => {
    const { ask } = await make();
    const { id } = (await ask('POST', '', aQuestion(RULES))).body;
    const { body } = await ask('POST', `/${id}/clone`);
    expect(body).toMatchObject({ ...RULES, schedule: { start_at: null, end_at: null } });
  });
});

test('a card has the trigger, the end and whether it is under the cooldown', async () => {
  const { tenant } = await make();
  const { trigger } = RULES;
  await publishQuestion(api, tenant, { trigger, schedule: { end_at: LATER }, frequency: { ignore_cooldown: true } });
  const { body } = await api.request('GET', '/v1/cards?triggers=true', { as: await tenant.sign('ada') });
  expect(body.data).toMatchObject([{ trigger, expires_at: LATER, in_cooldown: false }]);
});
