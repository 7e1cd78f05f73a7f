import { afterAll, describe, expect, test } from 'vitest';
import { createApi, createWorker, type TestReply, waitFor } from '../support/api.ts';
import { anAnswer, aQuestion, makeTenant, publishQuestion } from '../support/make.ts';
import { makeMember } from '../support/person.ts';

const api = await createApi();
const worker = await createWorker(api);
afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});
const tenant = await makeTenant(api);
const { headers: owner } = await makeMember(api, tenant, 'owner');

const asKey = (method: string, path: string, body?: unknown) =>
  api.request(method, path, { as: tenant.key.apiKey, body });
const asOwner = (method: string, path: string, body?: unknown) => api.request(method, path, { headers: owner, body });
const idsOf = ({ body }: TestReply): string[] => body.data.map(({ id }: { id: string }) => id).sort();

describe('a filter over a closed list takes several values', () => {
  test('of questions', async () => {
    const draft = (await asKey('POST', '/v1/questions', aQuestion({ type: 'thumbs' }))).body.id;
    const live = (await publishQuestion(api, tenant)).id;
    const closed = (await publishQuestion(api, tenant, { type: 'csat' })).id;
    await asKey('POST', `/v1/questions/${closed}/close`);
    const list = async (query: string) => idsOf(await asKey('GET', `/v1/questions?${query}`));
    expect(await list('status=live,closed')).toEqual([live, closed].sort());
    expect(await list('status=draft')).toEqual([draft]);
    expect(await list('type=thumbs,csat&status=draft,closed')).toEqual([draft, closed].sort());
  });

  test('of answers', async () => {
    const { id: question_id } = await publishQuestion(api, tenant);
    const answerIn = async (state: string, values: object) => {
      const answer = anAnswer({ question_id, identity: `user|${state}`, state, values });
      await asKey('POST', '/v1/answers', { answers: [answer] });
      await waitFor(async () => (await asKey('GET', `/v1/answers/${answer.id}`)).status === 200);
      return answer.id;
    };
    const completed = await answerIn('completed', { main: 9 });
    const dismissed = await answerIn('dismissed', {});
    await answerIn('seen', {});
    const list = (query: string) => asKey('GET', `/v1/answers?question_id=${question_id}&${query}`);
    expect(idsOf(await list('state=completed,dismissed'))).toEqual([completed, dismissed].sort());
    expect(idsOf(await list('state=partial,completed'))).toEqual([completed]);
  });

  test('of conversations, as the team and the user see them', async () => {
    const token = await tenant.sign('user|7');
    const asUser = (method: string, path: string, body?: unknown) => api.request(method, path, { as: token, body });
    const start = async (change: object) => {
      const { id } = (await asUser('POST', '/v1/conversations', { message: 'Hello' })).body;
      expect((await asKey('PATCH', `/v1/conversations/${id}`, change)).status).toBe(200);
      return id as string;
    };
    const open = await start({ priority: 'low' });
    const snoozed = await start({ status: 'snoozed', snoozed_until: new Date(Date.now() + 3_600_000) });
    const resolved = await start({ status: 'resolved', priority: 'high' });
    const pending = await start({ status: 'pending', priority: 'none' });
    const list = async (query: string) => idsOf(await asKey('GET', `/v1/conversations?${query}`));
    expect(await list('status=open,snoozed')).toEqual([open, snoozed].sort());
    expect(await list('status=resolved')).toEqual([resolved]);
    expect(await list('priority=low,high')).toEqual([open, resolved].sort());
    expect(await list('source=user,api&status=pending,resolved')).toEqual([pending, resolved].sort());
    const seen = async (query: string) => idsOf(await asUser('GET', `/v1/conversations?${query}`));
    expect(await seen('status=open,resolved')).toEqual([open, snoozed, resolved].sort());
    expect(await seen('status=pending')).toEqual([pending]);
    expect((await asUser('GET', '/v1/conversations?status=open,snoozed')).status).toBe(422);
    const { body: view } = await asOwner('POST', '/v1/views', { name: 'Both', filter: { status: 'open,snoozed' } });
    expect(view.filter).toEqual({ status: 'open,snoozed' });
    const { body: counts } = await asOwner('GET', '/v1/conversations/counts');
    expect(counts.views[view.id]).toMatchObject({ count: 2 });
  });

  test('of the audit log, whose actions are spelled as the types of events', async () => {
    const { id } = (await asOwner('POST', '/v1/api-keys', { name: 'new' })).body;
    await asOwner('DELETE', `/v1/api-keys/${id}`);
    const { body } = await asOwner('GET', '/v1/audit-log?action=api_key.created,api_key.revoked');
    const own = body.data.filter(({ target }: { target: { id: string } }) => target.id === id);
    expect(own.map(({ action }: { action: string }) => action)).toEqual(['api_key.revoked', 'api_key.created']);
  });

  test.each([
    ['/v1/questions', 'status=live,gone'],
    ['/v1/questions', 'type=nps,'],
    ['/v1/answers', 'state='],
    ['/v1/conversations', 'priority=high,,low'],
    ['/v1/events', 'types=answer.stored, answer.deleted'],
  ])('%s refuses %s, and names the parameter', async (path, query) => {
    const { status, body } = await asKey('GET', `${path}?${query}`);
    const parameter = query.split('=')[0];
    expect([status, body.errors[0].code, body.errors[0].parameter]).toEqual([422, 'unknown-value', parameter]);
    expect(body.detail).toBe(`The query does not match the schema: ${parameter}.`);
  });
});

test('the detail of a 422 names the first field, and how many follow', async () => {
  const create = async (body: unknown) => (await asKey('POST', '/v1/questions', body)).body.detail;
  expect(await create(aQuestion({ title: '' }))).toBe('The body does not match the schema: /title.');
  expect(await create(aQuestion({ title: '', colour: 1, priority: 'x' }))).toMatch(
    /^The body does not match the schema: \/\w+ and 2 more\.$/,
  );
  expect(await create([])).toBe('The body does not match the schema.');
});

describe('an object', () => {
  test('of a conversation is read under its Location by those who see it', async () => {
    const token = await tenant.sign('user|8');
    const { body: conversation } = await api.request('POST', '/v1/conversations', {
      as: token,
      body: { message: 'Hi' },
    });
    const path = `/v1/conversations/${conversation.id}/messages`;
    const reply = await asKey('POST', path, { body: 'Yes?' });
    const note = await asKey('POST', path, { body: 'A regular', kind: 'note' });
    const [at, noteAt] = [reply, note].map(({ headers }) => headers.get('location') as string) as [string, string];
    expect((await asKey('GET', at)).body).toEqual(reply.body);
    expect((await asKey('GET', noteAt)).body).toEqual(note.body);
    const asUser = (target: string) => api.request('GET', target, { as: token });
    expect((await asUser(at)).body).toMatchObject({ id: reply.body.id, body: 'Yes?', author: { id: null } });
    expect((await asUser(noteAt)).status).toBe(404);
    const stranger = await api.request('GET', at, { as: await tenant.sign('user|9') });
    expect(stranger.status).toBe(404);
    expect((await asKey('GET', at.replace(conversation.id, `conversation_${'0'.repeat(26)}`))).status).toBe(404);
  });

  test('of another tenant, member or person is 404', async () => {
    const other = await makeTenant(api, 'Other');
    const { headers: stranger } = await makeMember(api, other, 'owner');
    const mate = await makeMember(api, tenant, 'agent');
    const view = await asOwner('POST', '/v1/views', { name: 'Mine' });
    const invitation = await asOwner('POST', '/v1/members', { email: 'x@acme.example', role: 'agent' });
    const { body: me } = await asOwner('GET', '/v1/me');
    const paths = [
      view.headers.get('location') as string,
      invitation.headers.get('location') as string,
      `/v1/members/${mate.memberId}`,
      `/v1/sessions/${me.session.id}`,
    ];
    for (const path of paths) {
      expect([path, (await asOwner('GET', path)).status]).toEqual([path, 200]);
      expect([path, (await api.request('GET', path, { headers: stranger })).status]).toEqual([path, 404]);
    }
    const [ownView] = paths as [string];
    expect((await api.request('GET', ownView, { headers: mate.headers })).status).toBe(404);
  });
});

test('an empty list that asks for nothing is accepted', async () => {
  const token = await tenant.sign('user|10');
  const asUser = (path: string, body: object) => api.request('POST', path, { as: token, body });
  const { body: conversation } = await asUser('/v1/conversations', { message: 'Hi' });
  const path = `/v1/conversations/${conversation.id}`;
  const message = { body: 'Yes?', mentions: [] };
  expect((await asUser(`${path}/messages`, message)).status).toBe(201);
  expect((await asKey('POST', `${path}/messages`, message)).status).toBe(201);
  const tagged = await asKey('PATCH', path, { tags: ['vip'], add_tags: [], remove_tags: [] });
  expect([tagged.status, tagged.body.tags]).toEqual([200, ['vip']]);
  expect((await asKey('PATCH', path, { tags: ['vip'], add_tags: ['a'], remove_tags: [] })).status).toBe(422);
  const rest = { as: token, body: { status: 'resolved', add_tags: [], remove_tags: [] } };
  expect((await api.request('PATCH', path, rest)).status).toBe(200);
});
