import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Operation } from '../../src/api/operation.ts';
import { OPERATIONS } from '../../src/api/routes/index.ts';
import { type IdPrefix, toTypeId } from '../../src/domain/ids.ts';
import { RIGHTS, ROLES, type Role, roleHolds } from '../../src/domain/roles.ts';
import { createApi, type TestApi } from '../support/api.ts';
import { makeTenant, type TestTenant } from '../support/make.ts';
import { makeMember, openSession, type TestPerson } from '../support/person.ts';

/** What may stand in each path that has a parameter: an object that is not there. */
const PREFIXES: Record<string, IdPrefix> = {
  questions: 'question',
  conversations: 'conversation',
  quarantine: 'quarantine',
  'api-keys': 'key',
  members: 'member',
  invitations: 'invitation',
  sessions: 'session',
};

function pathTo({ path }: Operation): string {
  const parts = path.split('/');
  const prefix = PREFIXES[parts[parts.indexOf('{id}') - 1] ?? ''];
  const id = prefix ? toTypeId(prefix, v7()) : v7();
  return path.replace('{id}', id).replace('{message_id}', toTypeId('message', v7()));
}

const OF_SESSIONS = OPERATIONS.filter(({ credentials }) => credentials.includes('session'));
const matrix = OF_SESSIONS.flatMap(operation =>
  ROLES.map(role => ({ role, id: operation.id, allowed: roleHolds(role, operation.right as never), operation })),
);

let api: TestApi;
let tenant: TestTenant;
const people = new Map<Role, TestPerson>();
beforeAll(async () => {
  api = await createApi();
  tenant = await makeTenant(api);
  for (const role of ROLES) people.set(role, await makeMember(api, tenant, role));
});
afterAll(() => api[Symbol.asyncDispose]());

/** Asks in a fresh session, for nothing that could succeed behind the check: a missing object, an empty body. */
async function ask(operation: Operation, role: Role) {
  const { accountId } = people.get(role) as TestPerson;
  const headers = { ...(await openSession(api, accountId)), 'Tenant-Id': tenant.id };
  const body = operation.body ? { body: {} } : {};
  return api.request(operation.method.toUpperCase(), pathTo(operation), { headers, ...body });
}

describe('the table of rights', () => {
  test('is named by every operation that takes a session, and every right by some operation', () => {
    expect(OF_SESSIONS.filter(({ right }) => right === undefined).map(({ id }) => id)).toEqual([]);
    expect(new Set(OF_SESSIONS.map(({ right }) => right))).toEqual(new Set(Object.keys(RIGHTS)));
    expect(OF_SESSIONS.length).toBeGreaterThan(40);
  });

  test('lets analysts read, agents converse, and admins manage', () => {
    const writesOf = (role: Role) =>
      matrix
        .filter(one => one.role === role && one.allowed && one.operation.method !== 'get')
        .map(({ id }) => id)
        .toSorted();
    expect(writesOf('analyst')).toEqual([]);
    expect(writesOf('agent')).toEqual([
      'createConversation',
      'createMessage',
      'inspectToken',
      'markConversationRead',
      'patchConversation',
      'patchIdentity',
      'patchMessage',
      'putIdentity',
      'redactMessage',
    ]);
    expect(writesOf('admin')).toEqual(writesOf('owner'));
    const unreadable = (role: Role) =>
      matrix
        .filter(one => one.role === role && !one.allowed && one.operation.method === 'get')
        .map(({ id }) => id)
        .toSorted();
    expect(unreadable('agent')).toEqual([
      'listApiKeys',
      'listInvitations',
      'listQuarantine',
      'readApiKey',
      'readAuditLog',
    ]);
    expect(unreadable('analyst')).toEqual(unreadable('agent'));
    expect(unreadable('admin')).toEqual([]);
  });
});

describe('over HTTP', () => {
  test.each(matrix)('$id is open to an $role: $allowed', async ({ operation, role, allowed }) => {
    const { status, body } = await ask(operation, role);
    if (allowed) expect([401, 403]).not.toContain(status);
    else expect(body).toMatchObject({ status: 403, code: 'insufficient-scope' });
    expect(status).toBeLessThan(500);
  });

  test.each(
    OPERATIONS.filter(
      ({ credentials }) =>
        credentials.length > 0 && !credentials.includes('session') && !credentials.includes('person'),
    ),
  )('$id takes no session at all', async operation => {
    const { body } = await ask(operation, 'owner');
    expect(body).toMatchObject({ status: 403, code: 'insufficient-scope' });
  });

  test.each(OPERATIONS.filter(({ credentials }) => credentials.includes('person') && credentials.length === 1))(
    '$id is for every person, and for no key or token',
    async operation => {
      const method = operation.method.toUpperCase();
      const body = operation.body ? { body: {} } : {};
      for (const as of [tenant.key.apiKey, await tenant.sign('user|42')])
        expect((await api.request(method, pathTo(operation), { as, ...body })).body.code).toBe('insufficient-scope');
      for (const role of ROLES) expect([401, 403]).not.toContain((await ask(operation, role)).status);
    },
  );
});
