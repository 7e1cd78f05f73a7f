import { afterAll, beforeAll, expect, test } from 'vitest';
import { answersOf } from '../support/answers.ts';
import { createApi, createWorker, type TestApi, waitFor } from '../support/api.ts';
import { dumpDatabase } from '../support/dump.ts';
import type { TestTenant } from '../support/make.ts';
import { createReceiver, type Reaction, type Receiver } from '../support/receivers.ts';
import { LOCAL_WEBHOOKS, makeWebhook } from '../support/webhooks.ts';

/** Words of a person, of which the index of words has other forms. */
const WORDS = 'Zanzibar-7f3a';
const EVENTS = [
  ...[
    'answer.completed',
    'answer.deleted',
    'conversation.created',
    'conversation.status_changed',
    'conversation.deleted',
  ],
  ...['message.created', 'message.redacted'],
];

let api: TestApi;
let worker: Awaited<ReturnType<typeof createWorker>>;
beforeAll(async () => {
  api = await createApi({ settings: LOCAL_WEBHOOKS });
  worker = await createWorker(api);
});
afterAll(async () => {
  await worker?.[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

const { make, sync, stored } = answersOf(new Proxy({} as TestApi, { get: (_, name) => api[name as keyof TestApi] }));

/** Accepts an event, and repeats it. */
const echo: Reaction = ({ body }, response) => {
  response.end(body);
};

async function addWebhook(tenant: TestTenant, receiver: Receiver): Promise<void> {
  receiver.react(echo);
  await makeWebhook(api, tenant, receiver.url, { event_types: EVENTS });
}

/** Waits until the receiver has these events, and they are in the ledger. */
const delivered = (tenant: TestTenant, types: string[]) =>
  waitFor(async () => {
    const rows = await api.database.query<{ type: string }>(
      "select type from deliveries where tenant_id = $1 and status = 'delivered'",
      [tenant.uuid],
    );
    return types.every(type => rows.some(row => row.type === type));
  });

const responsesWithWords = async ({ uuid }: TestTenant) =>
  (
    await api.database.query<{ type: string }>(
      "select distinct type from deliveries where tenant_id = $1 and response like '%' || $2 || '%' order by 1",
      [uuid, WORDS],
    )
  ).map(({ type }) => type);

async function sendAnswer({ token, card, key }: Awaited<ReturnType<typeof make>>): Promise<string> {
  const id = crypto.randomUUID();
  const { id: card_id, question_id, question_version } = card;
  const about = { card_id, question_id, question_version };
  await sync(token, [{ id, revision: 1, ...about, state: 'completed', values: { main: 9 }, comment: WORDS }]);
  await stored(key, id);
  return id;
}

/** Starts a conversation, waits until the receiver has repeated its words, and returns its id. */
async function startConversation({ token, tenant }: Awaited<ReturnType<typeof make>>): Promise<string> {
  const { body } = await api.request('POST', '/v1/conversations', { as: token, body: { message: WORDS } });
  await delivered(tenant, ['conversation.created', 'message.created']);
  expect(await responsesWithWords(tenant)).toEqual(['conversation.created', 'message.created']);
  return body.id;
}

test('a deleted answer leaves no words in a dump, although a receiver has repeated them', async () => {
  await using receiver = await createReceiver();
  const made = await make();
  await addWebhook(made.tenant, receiver);
  const id = await sendAnswer(made);
  await delivered(made.tenant, ['answer.completed']);
  expect(await responsesWithWords(made.tenant)).toEqual(['answer.completed']);
  expect(await dumpDatabase(api.database)).toContain(WORDS);
  expect((await api.request('DELETE', `/v1/answers/${id}`, { as: made.key })).status).toBe(204);
  await delivered(made.tenant, ['answer.deleted']);
  expect(receiver.requests.some(({ body }) => body.includes(WORDS))).toBe(true);
  expect(await dumpDatabase(api.database)).not.toContain(WORDS);
});

test('nor does a deleted conversation', async () => {
  await using receiver = await createReceiver();
  const made = await make();
  await addWebhook(made.tenant, receiver);
  const id = await startConversation(made);
  expect((await api.request('DELETE', `/v1/conversations/${id}`, { as: made.key })).status).toBe(204);
  await delivered(made.tenant, ['conversation.deleted']);
  expect(await dumpDatabase(api.database)).not.toContain(WORDS);
});

test('a redacted message leaves none, nor does the conversation that shows it', async () => {
  await using receiver = await createReceiver();
  const made = await make();
  await addWebhook(made.tenant, receiver);
  const path = `/v1/conversations/${await startConversation(made)}/messages`;
  const { data } = (await api.request('GET', path, { as: made.token })).body;
  expect((await api.request('DELETE', `${path}/${data[0].id}`, { as: made.token })).status).toBeLessThan(300);
  await delivered(made.tenant, ['message.redacted']);
  expect(await responsesWithWords(made.tenant)).toEqual([]);
});
