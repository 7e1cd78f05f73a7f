import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Operation } from '../../src/api/operation.ts';
import { OPERATIONS } from '../../src/api/routes/index.ts';
import { type IdPrefix, toTypeId } from '../../src/domain/ids.ts';
import { RIGHTS, ROLES, type Role, roleHolds } from '../../src/domain/team/roles.ts';
import { createApi, type TestApi } from '../support/api.ts';
import { makeTenant, type TestTenant } from '../support/make.ts';
import { makeMember, openSession, type TestPerson } from '../support/person.ts';

/** Id prefixes for paths with a parameter; the ids belong to no object. */
const PREFIXES: Record<string, IdPrefix> = {
  questions: 'question',
  conversations: 'conversation',
  macros: 'macro',
  views: 'view',
  quarantine: 'quarantine',
  'api-keys': 'key',
  members: 'member',
  invitations: 'invitation',
  sessions: 'session',
  webhooks: 'webhook',
};

function pathTo({ path }: Operation): string {
  const parts = path.split('/');
  const prefix = PREFIXES[parts[parts.indexOf('{id}') - 1] ?? ''];
  const id = prefix ? toTypeId(prefix, v7()) : v7();
  return path
    .replace('{id}', id)
    .replace('{message_id}', toTypeId('message', v7()))
    .replace('{macro_id}', toTypeId('macro', v7()))
    .replace('{delivery_id}', toTypeId('delivery', v7()));
}

const OF_SESSIONS = OPERATIONS.filter(({ credentials }) => credentials.includes('session'));
const matrix = OF_SESSIONS.flatMap(operation =>
  ROLES.map(role => ({ role, id: operation.id, allowed: roleHolds(role, operation.right as never), operation })),
);

const RIGHTS_TO_WRITE = Object.keys(RIGHTS).filter(right => /:(write|manage|delete)$/.test(right));

let api: TestApi;
let tenant: TestTenant;
const people = new Map<Role, TestPerson>();
beforeAll(async () => {
  api = await createApi();
  tenant = await makeTenant(api);
  for (const role of ROLES) people.set(role, await makeMember(api, tenant, role));
});
afterAll(() => api[Symbol.asyncDispose]());

/** Sends a request in a new session that cannot succeed after the role check: missing object, empty body. */
async function ask(operation: Operation, role: Role) {
  const { accountId } = people.get(role) as TestPerson;
  const headers = { ...(await openSession(api, accountId)), 'Tenant-Id': tenant.id };
  const body = operation.body ? { body: {} } : {};
  return api.request(operation.method.toUpperCase(), pathTo(operation), { headers, ...body });
}

describe('the table of rights', () => {
  test('is used by every operation for sessions, and every right by some operation', () => {
    expect(OF_SESSIONS.filter(({ right }) => right === undefined).map(({ id }) => id)).toEqual([]);
    expect(new Set(OF_SESSIONS.map(({ right }) => right))).toEqual(new Set(Object.keys(RIGHTS)));
    expect(OF_SESSIONS.length).toBeGreaterThan(40);
  });

  test('lets analysts read, agents converse, and admins manage', () => {
    const writesOf = (role: Role) =>
      matrix
        .filter(one => one.role === role && one.allowed && one.operation.method !== 'get')
        .map(({ id }) => id)
        .filter(id => id !== 'estimateReach') // reads: the audience is too large for a query
        .toSorted();
    expect(writesOf('analyst')).toEqual([]);
    expect(writesOf('agent')).toEqual([
      'applyMacro',
      'createConversation',
      'createMacro',
      'createMessage',
      'createView',
      'deleteMacro',
      'deleteView',
      'inspectToken',
      'markConversationRead',
      'mergeConversation',
      'patchConversation',
      'patchMacro',
      'patchMember', // their own availability
      'patchMessage',
      'patchView',
      'redactMessage',
      'updateConversations',
    ]);
    expect(writesOf('admin')).toEqual(writesOf('owner'));
    const unreadable = (role: Role) =>
      matrix
        .filter(one => one.role === role && !one.allowed && one.operation.method === 'get')
        .map(({ id }) => id)
        .toSorted();
    expect(unreadable('agent')).toEqual([
      'listApiKeys',
      'listDeliveries',
      'listInvitations',
      'listQuarantine',
      'listWebhooks',
      'readApiKey',
      'readAssignmentRules',
      'readAuditLog',
      'readDelivery',
      'readDemoTenant',
      'readOpenInvitation',
      'readQuarantined',
      'readWebhook',
    ]);
    expect(unreadable('analyst')).toEqual(unreadable('agent'));
    expect(unreadable('admin')).toEqual([]);
  });
});

const isWrite = ({ method }: Operation): boolean => method !== 'get';
const isOfCookies = ({ credentials }: Operation): boolean =>
  credentials.includes('session') || credentials.includes('person');
const OF_TOKENS = OPERATIONS.filter(operation => operation.credentials.length > 0 && !isOfCookies(operation));
const OF_PERSONS = OPERATIONS.filter(({ credentials }) => credentials.includes('person') && credentials.length === 1);
const OF_EVERYBODY = OPERATIONS.filter(({ credentials }) => credentials.length === 0);
/** Neither sets nor reads a cookie: its credential is in the header. */
const BY_BASIC = 'issuePublicToken';

test('every operation of the API is in the matrix, once', () => {
  const groups = [...OF_SESSIONS, ...OF_TOKENS, ...OF_PERSONS, ...OF_EVERYBODY].map(({ id }) => id);
  expect(groups.toSorted()).toEqual(
    OPERATIONS.map(({ id }) => id)
      .filter(id => id !== 'whoAmI')
      .toSorted(),
  );
  expect(OPERATIONS.find(({ id }) => id === 'whoAmI')?.credentials).toContain('person');
});

describe('a page of another site', () => {
  test.each(OPERATIONS.filter(operation => isOfCookies(operation) && isWrite(operation)))(
    "cannot send $id through a browser, nor without the session's token",
    async operation => {
      const { accountId } = people.get('owner') as TestPerson;
      const headers = { ...(await openSession(api, accountId)), 'Tenant-Id': tenant.id };
      const send = (more: Record<string, string>) =>
        api.request(operation.method.toUpperCase(), pathTo(operation), { headers: { ...headers, ...more } });
      expect((await send({ 'Sec-Fetch-Site': 'cross-site' })).body.code).toBe('cross-site-request');
      expect((await send({ Origin: 'https://evil.example' })).body.code).toBe('cross-site-request');
      expect((await send({ 'X-CSRF-Token': 'x' })).body.code).toBe('csrf-failed');
      const who = await api.request('GET', '/v1/me', { headers });
      expect(who.status).toBe(200);
    },
  );

  test.each(OF_EVERYBODY.filter(operation => isWrite(operation) && operation.id !== BY_BASIC))(
    'cannot send $id, which needs no session',
    async operation => {
      const ask = api.request(operation.method.toUpperCase(), pathTo(operation).replace('{token}', 'x'), {
        headers: { 'Sec-Fetch-Site': 'cross-site' },
        body: {},
      });
      expect((await ask).body).toMatchObject({ status: 403, code: 'cross-site-request' });
    },
  );

  test('cannot act through a link: no GET operation has side effects', () => {
    expect(OPERATIONS.filter(operation => !isWrite(operation) && operation.audit !== undefined)).toEqual([]);
    const writing = RIGHTS_TO_WRITE.flatMap(right => OPERATIONS.filter(operation => operation.right === right));
    expect(
      writing
        .filter(operation => !isWrite(operation))
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual([
      ...['listApiKeys', 'listDeliveries', 'listInvitations', 'listQuarantine', 'listWebhooks'],
      ...[
        'readApiKey',
        'readAssignmentRules',
        'readDelivery',
        'readDemoTenant',
        'readOpenInvitation',
        'readQuarantined',
      ],
      'readWebhook',
    ]);
  });
});

describe('over HTTP', () => {
  test.each(matrix)('$id allows $role: $allowed', async ({ operation, role, allowed }) => {
    const { status, body } = await ask(operation, role);
    if (allowed) expect([401, 403]).not.toContain(status);
    else expect(body).toMatchObject({ status: 403, code: 'insufficient-scope' });
    expect(status).toBeLessThan(500);
  });

  test.each(OF_TOKENS)('$id accepts no session', async operation => {
    const { body } = await ask(operation, 'owner');
    expect(body).toMatchObject({ status: 403, code: 'insufficient-scope' });
  });

  test.each(OF_PERSONS)('$id is for every person, but not for keys and tokens', async operation => {
    const method = operation.method.toUpperCase();
    const body = operation.body ? { body: {} } : {};
    for (const as of [tenant.key.apiKey, await tenant.sign('user|42')])
      expect((await api.request(method, pathTo(operation), { as, ...body })).body.code).toBe('insufficient-scope');
    for (const role of ROLES) expect([401, 403]).not.toContain((await ask(operation, role)).status);
  });

  test.each(OPERATIONS.filter(({ credentials }) => credentials.length > 0))(
    '$id rejects requests without a credential, and with the cookie of an ended session',
    async operation => {
      const method = operation.method.toUpperCase();
      const path = pathTo(operation);
      expect((await api.request(method, path)).status).toBe(401);
      const ended = { Cookie: `__Host-parley_session=${'x'.repeat(43)}`, 'Tenant-Id': tenant.id };
      expect([401, 403]).toContain((await api.request(method, path, { headers: ended })).status);
    },
  );
});
