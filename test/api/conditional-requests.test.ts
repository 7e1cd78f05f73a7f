import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Operation } from '../../src/api/operation.ts';
import { OPERATIONS } from '../../src/api/routes/index.ts';
import { readNumberingDelay } from '../../src/storage/events/events.ts';
import { touchApiKeys } from '../../src/storage/team/api-keys.ts';
import { createApi, createWorker, type TestReply, waitFor } from '../support/api.ts';
import { anAnswer, aQuestion, makeTenant, publishQuestion, uuidOfKey } from '../support/make.ts';
import { makeMember } from '../support/person.ts';

const api = await createApi();
const worker = await createWorker(api);
afterAll(async () => {
  await worker.close();
  await api[Symbol.asyncDispose]();
});
const tenant = await makeTenant(api);
/** A tenant with few events: each would change the lag of a webhook while its tags are compared. */
const quiet = await makeTenant(api, 'Quiet');
const { headers: owner } = await makeMember(api, tenant, 'owner');

type Send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<TestReply>;
const asKey: Send = (method, path, body, headers = {}) =>
  api.request(method, path, { as: tenant.key.apiKey, body, headers });
const asQuiet: Send = (method, path, body, headers = {}) =>
  api.request(method, path, { as: quiet.key.apiKey, body, headers });
const asOwner: Send = (method, path, body, headers = {}) =>
  api.request(method, path, { body, headers: { ...owner, ...headers } });

const token = await tenant.sign('user|42');
const asUser: Send = (method, path, body, headers = {}) => api.request(method, path, { as: token, body, headers });

const tagOf = ({ headers }: TestReply) => headers.get('etag') as string;

/** A config whose members PostgreSQL returns in another order than they are sent in. */
const config = {
  shuffle: true,
  options: ['A', 'B'].map(label => ({ label, id: label.toLowerCase() })),
  allow_other: true,
  max: 2,
};
const choices = () => aQuestion({ type: 'multi_choice', config });

async function storedAnswer(): Promise<string> {
  const question = await publishQuestion(api, tenant);
  const answer = anAnswer({
    ...{ question_id: question.id, identity: 'user|42', comment: 'b' },
    metadata: { platform: 'ios', locale: 'de', app_version: '1.0.0' },
  });
  await asKey('POST', '/v1/answers', { answers: [answer] });
  await waitFor(async () => (await asKey('GET', `/v1/answers/${answer.id}`)).status === 200);
  return `/v1/answers/${answer.id}`;
}

/** The reply to a write, and the address of the resource that it changed. */
interface Written {
  reply: TestReply;
  path: string;
}

const pathOf = ({ headers, body }: TestReply, base: string): string => headers.get('location') ?? `${base}/${body.id}`;

async function written(send: Send, method: string, path: string, body?: unknown): Promise<Written> {
  const reply = await send(method, path, body);
  expect(reply.status).toBeLessThan(300);
  return { reply, path };
}

async function created(send: Send, path: string, body?: unknown): Promise<Written> {
  const reply = await send('POST', path, body);
  return { reply, path: pathOf(reply, path) };
}

const question = async () => (await created(asKey, '/v1/questions', choices())).path;
async function inStatus(...actions: string[]): Promise<string> {
  const path = await question();
  for (const action of actions) await written(asKey, 'POST', `${path}/${action}`);
  return path;
}
const acted = async (action: string, ...before: string[]): Promise<Written> => {
  const path = await inStatus(...before);
  return { reply: await asKey('POST', `${path}/${action}`), path };
};
const aKey = async () => (await created(asOwner, '/v1/api-keys', { name: 'one' })).path;
const conversation = async () => (await created(asUser, '/v1/conversations', { message: 'Hello' })).path;

const aView = () => created(asOwner, '/v1/views', { name: 'Urgent', filter: { priority: 'urgent,high' } });
const aMessage = async () => created(asUser, `${await conversation()}/messages`, { body: 'More' });
const aMember = async () => `/v1/members/${(await makeMember(api, tenant, 'agent')).memberId}`;

const macro = { name: 'Later', body: 'A moment.', changes: { status: 'snoozed', snooze_for_s: 3600 } };

const webhook = { url: 'https://93.184.215.14/hook', event_types: ['api_key.revoked'] };
/** Creates a webhook once the tenant's first event has its number. */
async function createWebhook(): Promise<Written> {
  await waitFor(async () => (await readNumberingDelay(api.database.storage())) === 0);
  return created(asQuiet, '/v1/webhooks', webhook);
}
const aWebhook = async () => (await createWebhook()).path;

/** Each write whose resource can be read with an entity tag. */
const WRITES: Record<string, [Send, () => Promise<Written>]> = {
  createQuestion: [asKey, () => created(asKey, '/v1/questions', choices())],
  patchQuestion: [
    asKey,
    async () => written(asKey, 'PATCH', await question(), { frequency: { repeat: 'always' }, config }),
  ],
  cloneQuestion: [asKey, async () => created(asKey, `${await question()}/clone`)],
  publishQuestion: [asKey, () => acted('publish')],
  pauseQuestion: [asKey, () => acted('pause', 'publish')],
  resumeQuestion: [asKey, () => acted('resume', 'publish', 'pause')],
  closeQuestion: [asKey, () => acted('close', 'publish')],
  archiveQuestion: [asKey, () => acted('archive', 'publish', 'close')],
  patchAnswer: [asKey, async () => written(asKey, 'PATCH', await storedAnswer(), { tags: ['b', 'a'] })],
  createApiKey: [asOwner, () => created(asOwner, '/v1/api-keys', { name: 'one', scopes: ['answers:read'] })],
  patchApiKey: [asOwner, async () => written(asOwner, 'PATCH', await aKey(), { name: 'two' })],
  rotateApiKey: [
    asOwner,
    async () => {
      const path = await aKey();
      return { reply: await asOwner('POST', `${path}/rotate`, { overlap_hours: 1 }), path };
    },
  ],
  patchTenant: [asOwner, () => written(asOwner, 'PATCH', '/v1/tenant', { name: 'Renamed', cooldown_days: 3 })],
  putIdentity: [
    asKey,
    () => written(asKey, 'PUT', '/v1/identities/one', { attributes: { seats: 1.5, b: true, 10: 'x', 2: 'y' } }),
  ],
  patchIdentity: [asKey, () => written(asKey, 'PATCH', '/v1/identities/one', { attributes: { a: 'z' }, locale: 'de' })],
  createMacro: [asKey, () => created(asKey, '/v1/macros', macro)],
  patchMacro: [
    asKey,
    async () => written(asKey, 'PATCH', (await created(asKey, '/v1/macros', macro)).path, { shortcut: 'later' }),
  ],
  replaceAssignmentRules: [
    asOwner,
    () =>
      written(asOwner, 'PUT', '/v1/assignment-rules', {
        // no conversation of this file has the tag: the rule would change it while its tags are compared
        data: [{ name: 'Tag', when: { tag: 'vip' }, then: { add_tags: ['a'], assign: null } }],
      }),
  ],
  createWebhook: [asQuiet, createWebhook],
  patchWebhook: [
    asQuiet,
    async () => written(asQuiet, 'PATCH', await aWebhook(), { description: 'CRM', ordered: true }),
  ],
  rotateWebhookSecret: [
    asQuiet,
    async () => {
      const path = await aWebhook();
      return { reply: await asQuiet('POST', `${path}/rotate-secret`, { overlap_hours: 1 }), path };
    },
  ],
  mergeConversation: [
    asKey,
    async () => {
      const [path, other] = [await conversation(), await conversation()];
      return { reply: await asKey('POST', `${path}/merge`, { into: other.split('/').at(-1) }), path };
    },
  ],
  createView: [asOwner, aView],
  patchView: [asOwner, async () => written(asOwner, 'PATCH', (await aView()).path, { shared: true })],
  createMessage: [asUser, aMessage],
  patchMessage: [asUser, async () => written(asUser, 'PATCH', (await aMessage()).path, { body: 'Less' })],
  patchMember: [asOwner, async () => written(asOwner, 'PATCH', await aMember(), { capacity: 7 })],
  createConversation: [asUser, () => created(asUser, '/v1/conversations', { message: 'Hello' })],
  patchConversation: [
    asKey,
    async () => written(asKey, 'PATCH', await conversation(), { tags: ['b', 'a'], priority: 'high' }),
  ],
};

describe('the entity tag in the reply to a write', () => {
  test.each(Object.entries(WRITES))(
    '%s is that of the next read, and can be sent with the next write',
    async (_, [send, write]) => {
      const { reply, path } = await write();
      const read = await send('GET', path);
      expect(tagOf(reply)).toMatch(/^"[\w-]{27,53}"$/);
      expect(tagOf(read)).toBe(tagOf(reply));
      expect(reply.headers.get('cache-control')).toBe('no-store');
      expect((await send('GET', path, undefined, { 'If-None-Match': tagOf(reply) })).status).toBe(304);
    },
  );

  test('is on every write that returns a resource which is read with one', () => {
    const shown = ({ response }: Operation): unknown[] =>
      response instanceof z.ZodUnion ? [...response.options] : [response];
    const tagged = new Set(OPERATIONS.filter(({ method, etag }) => method === 'get' && etag).flatMap(shown));
    const writes = OPERATIONS.filter(({ method, response }) => method !== 'get' && response && tagged.has(response));
    expect(writes.map(({ id }) => id).sort()).toEqual(Object.keys(WRITES).sort());
    for (const { id, etag } of writes) expect([id, etag]).toEqual([id, true]);
    // all but those that create one compare the tag of the one that they change
    const comparing = writes.filter(({ ifMatch }) => ifMatch).map(({ id }) => id);
    expect(comparing).toEqual(writes.map(({ id }) => id).filter(id => !/^(create|clone)/.test(id)));
  });

  test('is kept with the reply to an Idempotency-Key', async () => {
    const create = () => asKey('POST', '/v1/questions', choices(), { 'Idempotency-Key': 'tagged' });
    const [first, again] = [await create(), await create()];
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(tagOf(again)).toBe(tagOf(first));
  });

  test('is accepted in If-Match as weakened or suffixed by a compressing proxy, and is then outdated', async () => {
    const path = await question();
    let tag = tagOf(await asKey('GET', path));
    const copies = [
      (etag: string) => `W/${etag}`,
      ...['gzip', 'br', 'zstd'].map(suffix => (etag: string) => etag.replace(/"$/, `-${suffix}"`)),
    ];
    for (const [index, copy] of copies.entries()) {
      expect((await asKey('GET', path, undefined, { 'If-None-Match': copy(tag) })).status).toBe(304);
      const change = (title: string) => asKey('PATCH', path, { title }, { 'If-Match': copy(tag) });
      const changed = await change(`Title ${index}`);
      expect(changed.status).toBe(200);
      expect((await change('Lost update')).status).toBe(412);
      tag = tagOf(changed);
    }
  });
});

test('the tag of an API key is valid for a change after its last use, but not after a change of its settings', async () => {
  const path = await aKey();
  const read = await asOwner('GET', path);
  await touchApiKeys(api.database.storage(), [uuidOfKey(read.body)], new Date());
  const used = await asOwner('GET', path);
  expect(used.body.last_used_at).not.toBeNull();
  expect(tagOf(used)).not.toBe(tagOf(read));
  const rename = (name: string, reply: TestReply) => asOwner('PATCH', path, { name }, { 'If-Match': tagOf(reply) });
  const renamed = await rename('billing', read);
  expect([renamed.status, (await rename('lost', used)).status]).toEqual([200, 412]);
  const rotated = await asOwner('POST', `${path}/rotate`); // without a body: with the default overlap
  expect([rotated.status, (await rename('lost', renamed)).status]).toEqual([200, 412]);
  expect((await rename('kept', rotated)).status).toBe(200);
});

test('an outdated tag of an API key prevents its rotation and its revocation', async () => {
  const path = await aKey();
  const outdated = { 'If-Match': tagOf(await asOwner('GET', path)) };
  const changed = await asOwner('PATCH', path, { name: 'changed' });
  const rotate = (headers: Record<string, string>) => asOwner('POST', `${path}/rotate`, {}, headers);
  const revoke = (headers: Record<string, string>) => asOwner('DELETE', path, undefined, headers);
  expect([(await rotate(outdated)).status, (await revoke(outdated)).status]).toEqual([412, 412]);
  expect((await asOwner('GET', path)).body.status).toBe('active');
  const rotated = await rotate({ 'If-Match': tagOf(changed) });
  expect([rotated.status, (await revoke({ 'If-Match': tagOf(rotated) })).status]).toEqual([200, 204]);
});

test('an outdated tag of a conversation prevents its merge, and one of a webhook the rotation of its secret', async () => {
  const conversation = async () =>
    (await created(asQuiet, '/v1/conversations', { identity: 'user|42', message: 'Hello' })).path;
  for (const [make, change, action, bodyOf] of [
    [aWebhook, { description: 'CRM' }, 'rotate-secret', async () => ({ overlap_hours: 1 })],
    [conversation, { priority: 'high' }, 'merge', async () => ({ into: (await conversation()).split('/').at(-1) })],
  ] as const) {
    const body = await bodyOf();
    const path = await make();
    const outdated = tagOf(await asQuiet('GET', path));
    const present = tagOf(await asQuiet('PATCH', path, change));
    const act = (tag: string) => asQuiet('POST', `${path}/${action}`, body, { 'If-Match': tag });
    expect([(await act(outdated)).status, tagOf(await asQuiet('GET', path))]).toEqual([412, present]);
    expect((await act(present)).status).toBe(200);
  }
});

test.each([
  ['a view', asOwner, async () => (await aView()).path, { name: 'Other' }],
  ['a message', asUser, async () => (await aMessage()).path, { body: 'Other' }],
  ['a member', asOwner, aMember, { role: 'analyst' }],
] as const)('an outdated tag of %s prevents its change and its deletion', async (_, send, make, change) => {
  const path = await make();
  const outdated = { 'If-Match': tagOf(await send('GET', path)) };
  const changed = await send('PATCH', path, change);
  const lost = await send('PATCH', path, change, { ...outdated });
  expect([changed.status, lost.status, lost.body.etag]).toEqual([200, 412, tagOf(changed)]);
  expect((await send('DELETE', path, undefined, outdated)).status).toBe(412);
  expect((await send('DELETE', path, undefined, { 'If-Match': tagOf(changed) })).status).toBe(204);
});

describe('a PUT', () => {
  const put = (path: string, headers: Record<string, string> = {}) => asKey('PUT', path, { locale: 'de' }, headers);

  test('that creates is 201, and one that replaces is 200', async () => {
    const replies = [await put('/v1/identities/new'), await put('/v1/identities/new')];
    expect(replies.map(({ status }) => status)).toEqual([201, 200]);
    expect(tagOf(replies[0] as TestReply)).toBe(tagOf(replies[1] as TestReply));
  });

  test('with If-None-Match: * only creates', async () => {
    const path = '/v1/identities/only-once';
    const once = () => put(path, { 'If-None-Match': '*' });
    expect((await once()).status).toBe(201);
    const before = tagOf(await asKey('GET', path));
    const refused = await once();
    expect([refused.status, refused.body.code, refused.body.etag]).toEqual([412, 'precondition-failed', before]);
    expect((await put(path, { 'If-None-Match': `W/${before}` })).status).toBe(412);
    expect((await put(path, { 'If-None-Match': '"another"' })).status).toBe(200);
  });

  test('with If-None-Match: * by many callers at once creates once', async () => {
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => put('/v1/identities/raced', { 'If-None-Match': '*' })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(412)]);
  });

  test('for a user with a conversation but no profile replaces', async () => {
    await asUser('POST', '/v1/conversations', { message: 'Hello' });
    expect((await put('/v1/identities/user%7C42', { 'If-None-Match': '*' })).status).toBe(412);
    expect((await put('/v1/identities/user%7C42')).status).toBe(200);
  });
});

test('an invitation has a Location, and is read and revoked there', async () => {
  const invited = await asOwner('POST', '/v1/members', { email: 'new@acme.example', role: 'agent' });
  const location = invited.headers.get('location') as string;
  expect([invited.status, location]).toEqual([201, `/v1/members/invitations/${invited.body.id}`]);
  const { link, ...invitation } = invited.body;
  expect((await asOwner('GET', location)).body).toEqual({ ...invitation, mail: null });
  expect((await asOwner('DELETE', location)).status).toBe(204);
  expect((await asOwner('GET', location)).status).toBe(404);
});
