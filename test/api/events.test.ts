import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordAnswers } from '../../src/storage/answers/recording.ts';
import { wakeSnoozed } from '../../src/storage/conversations/timers.ts';
import type { Storage } from '../../src/storage/database/orm.ts';
import { createApi, type TestApi } from '../support/api.ts';
import { conversationsOf, uuidOf } from '../support/conversations.ts';
import { expireEvents, numberAll } from '../support/events.ts';
import { anAcceptedAnswer, publishQuestion, type TestTenant } from '../support/make.ts';

let api: TestApi;
let worker: Storage;
beforeAll(async () => {
  api = await createApi();
  worker = api.database.storage('parley_worker');
});
afterAll(() => api[Symbol.asyncDispose]());

const { makeParties, start, write, patch, messages } = conversationsOf(() => api);

const read = async (as: string, query = '') => (await api.request('GET', `/v1/events${query}`, { as })).body;
/** All numbered events of a tenant after the number that it had before. */
async function eventsAfter(as: string, act: () => Promise<unknown>) {
  await numberAll(worker);
  const { last } = await read(as, '?limit=100');
  await act();
  await numberAll(worker);
  return (await read(as, `?after=${last}&limit=100`)).data;
}
const typesAfter = async (as: string, act: () => Promise<unknown>) =>
  (await eventsAfter(as, act)).map(({ type }: { type: string }) => type);

const store = ({ uuid: tenant_id }: TestTenant, fields: object) =>
  recordAnswers(worker, [{ flush: v7(), answers: [anAcceptedAnswer({ tenant_id, ...fields })] }]);

describe('the feed', () => {
  test('numbers the events of a tenant from 1 without gaps, and continues after the last one', async () => {
    const { team, user, tenant } = await makeParties();
    const { body } = await start(user);
    await write(team, body.id);
    await numberAll(worker);
    const all = await read(team, '?limit=100');
    expect(all.data.map((event: { sequence: number }) => event.sequence)).toEqual([1, 2, 3, 4, 5]);
    expect(all.data.map((event: { type: string }) => event.type)).toEqual([
      'api_key.created',
      'conversation.created',
      'message.created',
      'message.created',
      'conversation.status_changed',
    ]);
    expect(all).toMatchObject({ has_more: false, last: 5, oldest: 1, newest: 5 });
    expect(await read(team, '?limit=2')).toMatchObject({ has_more: true, last: 2, oldest: 1, newest: 5 });
    expect(all.data[4]).toEqual({
      id: expect.stringMatching(/^event_/),
      type: 'conversation.status_changed',
      sequence: 5,
      timestamp: expect.any(String),
      tenant_id: tenant.id,
      object: { type: 'conversation', id: body.id },
      data: { from: 'open', to: 'pending', by: { type: 'api_key', id: tenant.key.id } },
    });
    const walked = [];
    for (let page = { last: 0, has_more: true, data: [] as unknown[] }; page.has_more; ) {
      page = await read(team, `?after=${page.last}&limit=2`);
      walked.push(...page.data);
    }
    expect(walked).toEqual(all.data);
    expect(await read(team, '?after=5')).toEqual({ data: [], has_more: false, last: 5, oldest: 1, newest: 5 });
  });

  test('is filtered by type, and an empty page still leads on', async () => {
    const { team, user } = await makeParties();
    await start(user);
    await numberAll(worker);
    const page = await read(team, '?types=conversation.created,answer.completed');
    expect(page.data).toMatchObject([{ type: 'conversation.created', sequence: 2 }]);
    expect(page.last).toBe(3);
    expect(await read(team, '?types=answer.deleted')).toMatchObject({ data: [], has_more: false, last: 3 });
  });

  test('has the objects as they are now with expand, and null for what is gone', async () => {
    const { team, user, tenant } = await makeParties();
    const question = await publishQuestion(api, tenant);
    const { body: kept } = await start(user, { message: 'stays' });
    const { body: gone } = await start(user, { message: 'goes' });
    await api.request('PUT', '/v1/identities/user%7C42', { as: team, body: { attributes: { plan: 'pro' } } });
    await patch(team, `/v1/conversations/${kept.id}`, { subject: 'Renamed' });
    await api.request('DELETE', `/v1/conversations/${gone.id}`, { as: team });
    await numberAll(worker);
    const { data } = await read(team, '?expand=true&limit=100');
    const objectsOf = (type: string) =>
      data.flatMap((event: { type: string; data: { object?: object } }) =>
        event.type === type ? [event.data.object] : [],
      );
    expect(objectsOf('conversation.created')).toEqual([
      expect.objectContaining({ id: kept.id, subject: 'Renamed' }),
      null,
    ]);
    expect(objectsOf('message.created')).toEqual([expect.objectContaining({ body: 'stays' }), null]);
    expect(objectsOf('question.published')).toMatchObject([{ id: question.id, status: 'live' }]);
    expect(objectsOf('identity.updated')).toMatchObject([{ identity: 'user|42', attributes: { plan: 'pro' } }]);
    expect(objectsOf('api_key.created')).toEqual([undefined]);
    const [profile] = data.filter(({ type }: { type: string }) => type === 'identity.updated');
    expect(profile.object).toEqual({ type: 'identity', id: 'user|42', verified: true });
  });

  test('shows objects only with the right to read them', async () => {
    const { tenant, user } = await makeParties();
    await start(user);
    await numberAll(worker);
    const reader = (await tenant.addKey({ scopes: ['events:read', 'answers:read'] })).apiKey;
    expect((await read(reader)).data).not.toEqual([]);
    expect(await read(reader, '?expand=true')).toMatchObject({ status: 403, code: 'insufficient-scope' });
    expect(await read(reader, '?expand=true&types=answer.stored')).toMatchObject({ data: [] });
    const writer = (await tenant.addKey({ scopes: ['answers:write'] })).apiKey;
    expect(await read(writer)).toMatchObject({ status: 403, code: 'insufficient-scope' });
    expect(await read(user)).toMatchObject({ status: 403 });
  });

  test('contains nothing of another tenant', async () => {
    const [one, other] = [await makeParties(), await makeParties()];
    await start(one.user);
    await numberAll(worker);
    const { data } = await read(other.team, '?limit=100&expand=true');
    expect(data.map((event: { type: string }) => event.type)).toEqual(['api_key.created']);
    expect(data[0].tenant_id).toBe(other.tenant.id);
  });

  test('refuses numbers that are no longer kept, with the oldest, and those that no event has', async () => {
    const { team, tenant, user } = await makeParties();
    await start(user);
    await numberAll(worker);
    await expireEvents(api.database, tenant.uuid, 2);
    expect(await read(team, '?after=1')).toMatchObject({ status: 410, code: 'events-expired', oldest: 3 });
    expect(await read(team, '?after=2')).toMatchObject({ data: [{ sequence: 3 }], last: 3, oldest: 3, newest: 3 });
    expect(await read(team)).toMatchObject({ data: [{ sequence: 3 }] });
    await expireEvents(api.database, tenant.uuid, 3);
    expect(await read(team, '?after=2')).toMatchObject({ status: 410, oldest: 4 });
    expect(await read(team, '?after=3')).toEqual({ data: [], has_more: false, last: 3, oldest: 4, newest: 3 });
    expect(await read(team, '?after=4')).toMatchObject({
      status: 422,
      errors: [{ parameter: 'after', code: 'out-of-range' }],
    });
    expect(await read(team, '?types=answer.eaten')).toMatchObject({
      status: 422,
      errors: [{ parameter: 'types', code: 'unknown-value' }],
    });
  });
});

describe('an event', () => {
  test('is the strongest of each stored sync, and a view has none', async () => {
    const { team, tenant } = await makeParties();
    const id = v7();
    const sync = (revision: number, state: string) => () =>
      store(tenant, { id, revision, state, card_id: tenant.uuid, values: state === 'seen' ? {} : { main: 9 } });
    expect(await typesAfter(team, sync(1, 'seen'))).toEqual([]);
    expect(await typesAfter(team, sync(2, 'partial'))).toEqual(['answer.stored']);
    expect(await typesAfter(team, sync(3, 'partial'))).toEqual(['answer.updated']);
    expect(await typesAfter(team, sync(4, 'completed'))).toEqual(['answer.completed']);
    expect(await typesAfter(team, sync(4, 'completed'))).toEqual([]);
  });

  test('of an answer contains none of its words, before and after it is deleted', async () => {
    const { team, tenant } = await makeParties();
    const id = v7();
    const types = await typesAfter(team, async () => {
      await store(tenant, { id, comment: 'Zebrafink', values: { main: 9 } });
      await api.request('PATCH', `/v1/answers/${id}`, { as: team, body: { tags: ['zebra'] } });
      await api.request('DELETE', `/v1/answers/${id}`, { as: team });
    });
    expect(types).toEqual(['answer.completed', 'answer.updated', 'answer.deleted']);
    const rows = await api.database.query('select from events where tenant_id = $1 and events::text ~* $2', [
      tenant.uuid,
      'zebra|user',
    ]);
    expect(rows).toEqual([]);
    const { data } = await read(team, '?expand=true&types=answer.completed');
    expect(data).toMatchObject([{ object: { type: 'answer', id }, data: { object: null } }]);
  });

  test('is written for each kind of change of a conversation, with its author', async () => {
    const { team, user, tenant } = await makeParties();
    const { id } = (await start(user)).body;
    const path = `/v1/conversations/${id}`;
    const by = { type: 'api_key', id: tenant.key.id };
    expect(await typesAfter(team, () => write(team, id, { kind: 'note' }))).toEqual(['message.created']);
    expect(await eventsAfter(team, () => patch(team, path, { status: 'resolved', priority: 'high' }))).toMatchObject([
      { type: 'conversation.status_changed', data: { from: 'open', to: 'resolved', by } },
      { type: 'conversation.updated', data: { by } },
    ]);
    expect(await typesAfter(team, () => patch(team, path, { priority: 'high' }))).toEqual([]);
    expect(await eventsAfter(team, () => write(user, id))).toMatchObject([
      { type: 'message.created', object: { conversation_id: id }, data: { by: { type: 'user', id: null } } },
      { type: 'conversation.status_changed', data: { from: 'resolved', to: 'open' } },
    ]);
    const { id: message } = (await messages(user, id)).at(-1);
    const edit = () => patch(user, `${path}/messages/${message}`, { body: 'Edited' });
    expect(await typesAfter(team, edit)).toEqual(['message.updated']);
    const redact = () => api.request('DELETE', `${path}/messages/${message}`, { as: user });
    expect(await typesAfter(team, redact)).toEqual(['message.redacted']);
    const bulk = { ids: [id], change: { add_tags: ['vip'] } };
    const change = () => api.request('POST', '/v1/conversations/bulk', { as: team, body: bulk });
    expect(await typesAfter(team, change)).toEqual(['conversation.updated']);
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    const snooze = () => patch(team, path, { status: 'snoozed', snoozed_until: tomorrow });
    expect(await typesAfter(team, snooze)).toEqual(['conversation.status_changed', 'conversation.updated']);
    await api.database.query("update conversations set snoozed_until = now() - interval '1 s' where id = $1", [
      uuidOf(id),
    ]);
    expect(await eventsAfter(team, () => wakeSnoozed(worker, tenant.uuid))).toMatchObject([
      { type: 'conversation.status_changed', data: { from: 'snoozed', to: 'open', by: { type: 'system', id: null } } },
    ]);
    const into = (await start(user)).body.id;
    const merge = () => api.request('POST', `${path}/merge`, { as: team, body: { into } });
    expect(await typesAfter(team, merge)).toEqual(['conversation.status_changed', 'conversation.updated']);
    expect(await typesAfter(team, () => api.request('DELETE', path, { as: team }))).toEqual(['conversation.deleted']);
  });

  test('is written for questions, profiles and keys', async () => {
    const { team, tenant, user } = await makeParties();
    const path = '/v1/questions';
    const draft = (await api.request('POST', path, { as: team, body: { type: 'nps', title: 'How likely?' } })).body;
    const act = (action: string) => () => api.request('POST', `${path}/${draft.id}/${action}`, { as: team });
    const rename = () => patch(team, `${path}/${draft.id}`, { name: 'NPS' });
    expect(await typesAfter(team, rename)).toEqual(['question.updated']);
    expect(await typesAfter(team, rename)).toEqual([]);
    expect(await typesAfter(team, act('publish'))).toEqual(['question.published']);
    expect(await typesAfter(team, act('pause'))).toEqual(['question.updated']);
    expect(await typesAfter(team, act('close'))).toEqual(['question.closed']);
    const identities = [{ identity: 'user|1' }, { identity: 'user|2', locale: 'de' }];
    const save = () => api.request('POST', '/v1/identities', { as: team, body: { identities } });
    expect(await typesAfter(team, save)).toEqual(['identity.updated', 'identity.updated']);
    expect(await typesAfter(team, save)).toEqual([]);
    expect(await typesAfter(team, () => tenant.addKey())).toEqual(['api_key.created']);
    expect(await typesAfter(team, () => start(user))).toEqual(['conversation.created', 'message.created']);
  });
});
