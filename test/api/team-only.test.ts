import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Operation } from '../../src/api/operation.ts';
import { OPERATIONS } from '../../src/api/routes/index.ts';
import { createApi, type TestApi } from '../support/api.ts';
import { type Body, conversationsOf } from '../support/conversations.ts';
import { claimToken, type TestTenant } from '../support/make.ts';
import { makeMember, type TestPerson } from '../support/person.ts';

let api: TestApi;
let tenant: TestTenant;
let member: TestPerson;
let token: string;
/** Conversations of the user: snoozed, waiting for a reply with a target, and one that the team has started. */
let conversations: string[];

const { makeParties, start, write, patch } = conversationsOf(() => api);

const SECRETS = ['secret-note', 'secret-tag', 'secret-value', 'secret-edit', 'urgent', 'snoozed'];
const FIELDS = ['priority', 'assignee_id', 'tags', 'custom', 'snoozed_until', 'reply_due_at'];

async function hideThings(team: string, id: string): Promise<void> {
  await patch(team, `/v1/conversations/${id}`, {
    ...{ priority: 'urgent', assignee_id: member.memberId, tags: ['secret-tag'], custom: { secret: 'secret-value' } },
  });
  const note = await write(team, id, { kind: 'note', body: 'secret-note', mentions: [member.memberId] });
  await patch(team, `/v1/conversations/${id}/messages/${note.body.id}`, { body: 'secret-edit' });
}

beforeAll(async () => {
  api = await createApi();
  const parties = await makeParties();
  ({ tenant } = parties);
  const { team, user } = parties;
  token = user;
  member = await makeMember(api, tenant, 'owner');
  const settings = {
    custom_fields: [{ key: 'secret', label: 'Secret', type: 'text' }],
    reply_targets: { none: 60, urgent: 60 },
  };
  await api.request('PATCH', '/v1/tenant', { headers: member.headers, body: settings });
  conversations = [
    (await start(user)).body.id,
    (await start(user)).body.id,
    (await start(team, { identity: 'user|42' })).body.id,
  ];
  for (const id of conversations) await hideThings(team, id);
  const snooze = { status: 'snoozed', snoozed_until: new Date(Date.now() + 86_400_000).toISOString() };
  await patch(team, `/v1/conversations/${conversations[0]}`, snooze);
});
afterAll(() => api[Symbol.asyncDispose]());

const USERS = ['access-token', 'public-access-token', 'test-token'];
const isOfUser = ({ path, credentials }: Operation) =>
  path.startsWith('/v1/conversations') && credentials.some(kind => USERS.includes(kind));
const MATRIX = OPERATIONS.filter(isOfUser);

const BODIES: Record<string, Body> = {
  createConversation: { message: 'Hello again' },
  createMessage: { body: 'More' },
  patchConversation: { status: 'resolved' },
  patchMessage: { body: 'Changed' },
  markConversationRead: { seq: 1 },
};

/** Every text of a reply: its body and its headers. */
async function readReply(operation: Operation, as: string, path: string): Promise<{ status: number; text: string }> {
  const body = operation.body ? { body: BODIES[operation.id] } : {};
  if (operation.body && !BODIES[operation.id]) throw new Error(`no body is known for ${operation.id}`);
  const { status, headers, body: reply } = await api.request(operation.method.toUpperCase(), path, { as, ...body });
  return { status, text: JSON.stringify([[...headers], reply]) };
}

/** Reads come first, then the writes, so that each read sees all conversations. */
const inOrder = [...MATRIX].sort((one, other) => Number(one.method !== 'get') - Number(other.method !== 'get'));

test.each(inOrder.map(operation => [operation.id, operation] as const))(
  '%s returns nothing of the team to a user',
  async (id, operation) => {
    const messages = await api.request('GET', `/v1/conversations/${conversations[1]}/messages`, { as: token });
    const [own] = messages.body.data;
    for (const conversation of conversations) {
      const path = operation.path.replace('{id}', conversation).replace('{message_id}', own.id);
      const query = id.startsWith('list') ? '?limit=100' : '';
      const claimed = await claimToken(api, tenant, 'user|42');
      for (const as of [token, claimed]) {
        const { status, text } = await readReply(operation, as, path + query);
        expect(status).toBeLessThan(500);
        for (const secret of [...SECRETS, member.memberId]) expect(text).not.toContain(secret);
        for (const field of FIELDS) expect(text).not.toContain(`"${field}"`);
        if (as === claimed) expect([401, 403]).toContain(status);
      }
      const isElsewhere = path.includes(own.id) && conversation !== conversations[1];
      if (operation.method === 'get')
        expect((await readReply(operation, token, path + query)).status).toBe(isElsewhere ? 404 : 200);
    }
  },
);

test('the matrix contains the operations on conversations of a user, and the team sees what it looks for', async () => {
  expect(MATRIX.map(({ id }) => id)).toEqual(
    expect.arrayContaining(['listConversations', 'listMessages', 'createMessage']),
  );
  const { body } = await api.request('GET', '/v1/conversations?limit=100', { as: tenant.key.apiKey });
  const seen = JSON.stringify(body);
  for (const field of FIELDS) expect(seen).toContain(`"${field}"`);
  const path = `/v1/conversations/${conversations[0]}/messages?limit=100`;
  const read = JSON.stringify((await api.request('GET', path, { as: tenant.key.apiKey })).body);
  for (const secret of ['secret-edit', 'secret-value', 'secret-tag', 'snoozed', member.memberId])
    expect(read).toContain(secret);
});
