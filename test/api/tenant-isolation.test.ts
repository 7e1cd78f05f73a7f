import { v7 } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CredentialKind } from '../../src/api/caller.ts';
import type { Operation } from '../../src/api/operation.ts';
import { OPERATIONS } from '../../src/api/routes/index.ts';
import { toTypeId } from '../../src/domain/ids.ts';
import { readNumberingDelay } from '../../src/storage/events/events.ts';
import { createApi, createWorker, type TestApi, waitFor } from '../support/api.ts';
import { makeTenant, type TestTenant } from '../support/make.ts';
import { makeMember, type TestPerson } from '../support/person.ts';
import { IDENTITY, made, makeObjects, missing, type Objects } from '../support/tenant-objects.ts';

/**
 * Operations without a 404, each with its own tests: one replies with the same 401 to every fault of the tenant in its
 * path; the others create an identity that does not exist yet, explain which of the tenant's own cards any identity would see,
 * and list the changes of any identity.
 */
const ELSEWHERE = ['issuePublicToken', 'listProfileChanges', 'putIdentity', 'readCardDecisions'];

/** A body with which each operation would succeed on the caller's own object. */
const BODIES: Record<string, unknown> = {
  patchQuestion: { title: 'Taken over' },
  patchAnswer: { tags: ['taken-over'] },
  patchConversation: { status: 'resolved' },
  createMessage: { body: 'Taken over' },
  mergeConversation: { into: 'conversation_01h455vb4pex5vsknk084sn02q' },
  applyMacro: {},
  patchMacro: { name: 'Taken over' },
  patchView: { name: 'Taken over' },
  patchMessage: { body: 'Taken over' },
  markConversationRead: { seq: 1 },
  patchApiKey: { name: 'Taken over' },
  rotateApiKey: { overlap_hours: 0 },
  patchMember: { role: 'analyst' },
  patchIdentity: { locale: 'tlh' },
  estimateReach: {},
  patchWebhook: { description: 'Taken over' },
  rotateWebhookSecret: { overlap_hours: 0 },
  replayDeliveries: { from: '2026-01-01T00:00:00.000Z' },
};

const isOfObject = ({ path, credentials, id }: Operation): boolean =>
  path.includes('{') && credentials.length > 0 && !ELSEWHERE.includes(id);

const OF_OBJECTS = OPERATIONS.filter(isOfObject);

/** The collection in a path, or `messages` for one of its messages. */
const collectionOf = ({ path }: Operation): string => path.slice(0, path.indexOf('/{')).split('/').at(-1) as string;

/** The part of the matrix for one kind of credential. */
const taking = (kind: CredentialKind) =>
  OF_OBJECTS.filter(({ credentials }) => credentials.includes(kind)).map(operation => ({
    name: operation.id,
    operation,
  }));

const isCollection = (name: string, objects: Objects): name is keyof Objects => name in objects;

function pathTo(operation: Operation, objects: Objects): string {
  const collection = collectionOf(operation);
  if (!isCollection(collection, objects)) throw new Error(`no object is made for ${operation.path}`);
  const path = operation.path
    .replace(/\{(id|identity)\}/, objects[collection])
    .replace('{message_id}', objects.message)
    .replace('{macro_id}', objects.macros)
    .replace('{delivery_id}', objects.delivery);
  if (path.includes('{')) throw new Error(`${operation.path} has a parameter that the test does not know`);
  return path;
}

const bodyOf = (operation: Operation): { body?: unknown } => {
  if (!operation.body) return {};
  if (!(operation.id in BODIES)) throw new Error(`no body is known for ${operation.id}`);
  return { body: BODIES[operation.id] };
};

let api: TestApi;
let worker: Awaited<ReturnType<typeof createWorker>>;
let owner: TestTenant;
let other: TestTenant;
let ownerPerson: TestPerson;
let otherPerson: TestPerson;
let objects: Objects;
let atFirst: unknown;

/** A bearer credential, or a logged-in person. */
type Asker = string | TestPerson;

const ask = (operation: Operation, asker: Asker, target: Objects) =>
  api.request(operation.method.toUpperCase(), pathTo(operation, target), {
    ...(typeof asker === 'string' ? { as: asker } : { headers: asker.headers }),
    ...bodyOf(operation),
  });

/** A reply without the request id and the requested path. */
async function blindReply(operation: Operation, asker: Asker, target: Objects) {
  const { status, headers, body } = await ask(operation, asker, target);
  const { request_id, instance, ...rest } = body;
  expect(request_id).toBe(headers.get('X-Request-Id'));
  expect(instance === undefined || typeof instance === 'string').toBe(true);
  const names = [...headers.keys()].filter(name => name !== 'date').toSorted();
  return { status, names, body: rest };
}

/** All data that the owner can read of its objects. */
const snapshot = async () => {
  const replies = [];
  for (const operation of OF_OBJECTS.filter(({ method }) => method === 'get'))
    replies.push([operation.path, (await ask(operation, ownerPerson, objects)).body]);
  return replies;
};

/** Whether all events of the owner are numbered, and its webhook has looked at them. */
async function isSettled(): Promise<boolean> {
  const delay = await readNumberingDelay(api.database.storage());
  const { body } = await api.request('GET', `/v1/webhooks/${objects.webhooks}`, { as: owner.key.apiKey });
  return delay === 0 && body.lag.events === 0;
}

beforeAll(async () => {
  api = await createApi();
  worker = await createWorker(api);
  [owner, other] = [await makeTenant(api), await makeTenant(api, 'Other')];
  [ownerPerson, otherPerson] = [await makeMember(api, owner, 'owner'), await makeMember(api, other, 'owner')];
  objects = await makeObjects(api, owner, owner.key.apiKey, ownerPerson);
  await waitFor(isSettled);
  atFirst = await snapshot();
});
afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

test('the matrix contains every kind of object of the API', () => {
  expect(new Set(OF_OBJECTS.map(collectionOf))).toEqual(
    new Set([
      'answers',
      'conversations',
      'identities',
      'questions',
      'quarantine',
      'api-keys',
      'members',
      'invitations',
      'sessions',
      'macros',
      'webhooks',
      'views',
      'demo-tenants',
    ]),
  );
  expect(OF_OBJECTS.length).toBeGreaterThan(20);
});

test.each(taking('api-key'))(
  '$name returns the 404 of a missing object to the key of another tenant',
  async ({ operation }) => {
    const foreign = await blindReply(operation, other.key.apiKey, objects);
    expect(foreign).toMatchObject({ status: 404, body: { code: 'resource-not-found' } });
    expect(foreign).toEqual(await blindReply(operation, other.key.apiKey, missing()));
  },
);

test.each([...taking('session'), ...taking('person')])(
  '$name returns the 404 of a missing object to the owner of another tenant',
  async ({ operation }) => {
    const foreign = await blindReply(operation, otherPerson, objects);
    expect(foreign).toMatchObject({ status: 404, body: { code: 'resource-not-found' } });
    expect(foreign).toEqual(await blindReply(operation, otherPerson, missing()));
  },
);

test.each(taking('access-token'))(
  '$name returns the 404 of a missing object to another identity',
  async ({ operation }) => {
    const nothing = await blindReply(operation, await owner.sign(IDENTITY), missing());
    expect(nothing).toMatchObject({ status: 404, body: { code: 'resource-not-found' } });
    for (const token of [await owner.sign('user|43'), await owner.sign('USER|42'), await other.sign(IDENTITY)])
      expect(await blindReply(operation, token, objects)).toEqual(nothing);
  },
);

test.each(taking('public-access-token'))(
  '$name returns the 404 of a missing object to the unverified identity of the same name',
  async ({ operation }) => {
    const { id } = await owner.addKey({ kind: 'public' });
    const issued = await api.request('POST', `/v1/tenants/${owner.id}/issuers/public/auth/token`, {
      body: { user_id: IDENTITY },
      headers: { Authorization: `Basic ${Buffer.from(`api_key:${id}`).toString('base64')}` },
    });
    const claimed = issued.body.access_token;
    const foreign = await blindReply(operation, claimed, objects);
    expect(foreign.status).toBe(404);
    expect(foreign).toEqual(await blindReply(operation, claimed, missing()));
  },
);

test('the objects are unchanged after the whole matrix', async () => {
  await waitFor(isSettled); // the keys that the matrix adds are events
  expect(await snapshot()).toEqual(atFirst);
  expect(atFirst).toHaveLength(OF_OBJECTS.filter(({ method }) => method === 'get').length);
});

test.each(taking('api-key'))('$name finds an object of its own tenant', async ({ operation }) => {
  const own = await makeObjects(api, owner, owner.key.apiKey, ownerPerson);
  const { status } = await ask(operation, owner.key.apiKey, own);
  expect(status).toBeLessThan(500);
  expect(status).not.toBe(404);
});

test.each(
  [...taking('session'), ...taking('person')].filter(({ operation }) => !operation.credentials.includes('api-key')),
)('$name finds an object of its own person or tenant', async ({ operation }) => {
  const own = await makeObjects(api, owner, owner.key.apiKey, ownerPerson);
  expect([200, 204]).toContain((await ask(operation, ownerPerson, own)).status);
});

test("an identity cannot reach the team's notes, nor a message through another conversation", async () => {
  const key = owner.key.apiKey;
  const note = await api.request('POST', `/v1/conversations/${objects.conversations}/messages`, {
    as: key,
    body: { body: 'for us', kind: 'note' },
  });
  const second = await api.request('POST', '/v1/conversations', {
    as: key,
    body: { message: 'Another', identity: IDENTITY },
  });
  const patch = OF_OBJECTS.find(({ id }) => id === 'patchMessage') as Operation;
  const token = await owner.sign(IDENTITY);
  const nothing = await blindReply(patch, token, { ...objects, message: made('message') });
  expect(await blindReply(patch, token, { ...objects, message: note.body.id })).toEqual(nothing);
  expect(await blindReply(patch, key, { ...objects, conversations: second.body.id })).toEqual(nothing);
});

test('lists contain no data of another tenant, with any filter', async () => {
  const lists = OPERATIONS.filter(
    ({ method, path }) => method === 'get' && path.startsWith('/v1/') && !path.includes('{'),
  );
  const paged = lists.filter(({ query, credentials }) => {
    const names = Object.keys((query as { shape?: object } | undefined)?.shape ?? {});
    return names.includes('cursor') && credentials.includes('api-key');
  });
  expect(paged.map(({ path }) => path).toSorted()).toEqual([
    '/v1/answers',
    '/v1/conversations',
    '/v1/identities',
    '/v1/macros',
    '/v1/quarantine',
    '/v1/questions',
    '/v1/webhooks',
  ]);
  for (const { path } of paged) {
    expect((await api.request('GET', path, { as: owner.key.apiKey })).body.data, path).not.toEqual([]);
    expect((await api.request('GET', path, { as: other.key.apiKey })).body.data, path).toEqual([]);
  }
  for (const filter of [`identity=${encodeURIComponent(IDENTITY)}`, `question_id=${objects.questions}`])
    expect((await api.request('GET', `/v1/answers?${filter}`, { as: other.key.apiKey })).body.data).toEqual([]);
  const own = await api.request('GET', '/v1/conversations', { as: await other.sign(IDENTITY) });
  expect(own.body.data).toEqual([]);
});

test('a cursor of one tenant, identity or list does not work for another', async () => {
  const key = owner.key.apiKey;
  for (let count = 0; count < 2; count++)
    await api.request('POST', '/v1/conversations', { as: key, body: { message: 'Hello', identity: IDENTITY } });
  const page = await api.request('GET', '/v1/conversations?limit=1', { as: key });
  const cursor = page.body.next_cursor;
  const path = `/v1/conversations?limit=1&cursor=${cursor}`;
  expect((await api.request('GET', path, { as: key })).status).toBe(200);
  for (const as of [other.key.apiKey, await owner.sign(IDENTITY)])
    expect((await api.request('GET', path, { as })).body).toMatchObject({ status: 400, code: 'invalid-cursor' });
  const elsewhere = await api.request('GET', `/v1/answers?limit=1&cursor=${cursor}`, { as: key });
  expect(elsewhere.body).toMatchObject({ status: 400, code: 'invalid-cursor' });
});

test('an assignee of another tenant is rejected like one that does not exist', async () => {
  const member = v7();
  await api.database.query(
    `insert into members (tenant_id, id, account_id, role, created_at) values ($1, $2, gen_random_uuid(), 'agent', now())`,
    [other.uuid, member],
  );
  const assign = (id: string) =>
    api.request('PATCH', `/v1/conversations/${objects.conversations}`, {
      as: owner.key.apiKey,
      body: { assignee_id: id },
    });
  const [foreign, unknown] = [await assign(toTypeId('member', member)), await assign(made('member'))];
  expect([foreign.status, unknown.status]).toEqual([422, 422]);
  expect(foreign.body.errors).toEqual(unknown.body.errors);
});
