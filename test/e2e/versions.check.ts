import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../src/api/routes/index.ts';
import { readSchemaState } from '../../src/storage/database/migrate.ts';
import { NEEDED_SCHEMA } from '../../src/storage/migrations/index.ts';
import { checkOutPrevious, findPrevious, NO_PREVIOUS, type PreviousVersion } from '../faults/previous-version.ts';
import { requestTo, type TestApi } from '../support/api.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { newSecretKey } from '../support/keychain.ts';
import { sendAnswers } from '../support/load.ts';
import { runCommand, startProcess } from '../support/process.ts';
import { signToken } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

/** The oldest version that `oldest_compatible` promises to support, with its own packages. */
const ref = findPrevious();
if (!ref) console.warn(NO_PREVIOUS);

let previous: PreviousVersion;
let database: TestDatabase;
beforeAll(async () => {
  if (ref) [previous, database] = await Promise.all([checkOutPrevious(ref), createDatabase()]);
}, 300_000);
afterAll(async () => {
  previous?.[Symbol.dispose]();
  await database?.[Symbol.asyncDispose]();
});

/** Starts an API and a worker of the previous version, with a tenant and its server key. */
async function startPrevious(environment: Record<string, string>) {
  const { program } = previous;
  await using started = new AsyncDisposableStack();
  const start = async (role: 'serve' | 'work') => started.use(await startProcess(role, environment, [], program));
  const [api, worker] = [await start('serve'), await start('work')];
  await Promise.all([api.awaitProbe('/readyz'), worker.awaitProbe('/readyz')]);
  const parley = async (args: string[]) => JSON.parse((await runCommand(args, environment, '', [], program)).stdout);
  const tenant = await parley(['tenant', 'create', '--name', 'Acme']);
  const key = await parley(['api-key', 'create', '--tenant', tenant.id, '--name', 'backend']);
  const kept = started.move();
  return { api, worker, tenant, key, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

describe.skipIf(!ref)("the previous version on today's schema", () => {
  test('is promised by the schema', async () => {
    const index = readFileSync(join(dirname(previous.program), 'storage/migrations/index.ts'), 'utf8');
    const needed = Number(/NEEDED_SCHEMA = (\d+)/.exec(index)?.[1]);
    expect(await readSchemaState(database.url)).toEqual({ version: NEEDED_SCHEMA, oldest_compatible: needed });
  });

  test('starts, creates tenants, accepts answers, and stores them, next to processes of this version', async () => {
    const environment = { DATABASE_URL: database.url, SECRET_KEY: newSecretKey() };
    await using old = await startPrevious(environment);
    const { api, worker, key } = old;
    const send = sendTo(api.baseUrl, key.api_key);
    const { id } = await send('POST', '/v1/questions', { body: { type: 'nps', title: 'How likely?' } });
    await send('POST', `/v1/questions/${id}/publish`);

    const stored = async () =>
      new Set((await database.query<{ id: string }>('select id from answers')).map(row => row.id));
    const answerTo = async (urls: string[]) => {
      const sender = sendAnswers(urls, key.api_key, id, 2);
      await waitFor(() => sender.ledger.acknowledged.size > 50, 60_000);
      const { acknowledged } = await sender.stop();
      await waitFor(async () => acknowledged.isSubsetOf(await stored()), 60_000);
    };
    await answerTo([api.baseUrl]);

    await using newer = await startProcess('serve', environment);
    await newer.awaitProbe('/readyz');
    await answerTo([api.baseUrl, newer.baseUrl]); // the older worker stores the answers of both
    worker.kill('SIGTERM');
    expect(await worker.exited).toBe(0);
    await using newWorker = await startProcess('work', environment);
    await newWorker.awaitProbe('/readyz');
    await answerTo([api.baseUrl, newer.baseUrl]);
  }, 240_000);
});

const OPTIONS = [
  { id: 'a', label: 'A' },
  { id: 'b', label: 'B' },
];
/** The types of the oldest supported version, each with as little config as possible. */
const QUESTIONS = [
  { type: 'nps' },
  { type: 'csat' },
  { type: 'ces' },
  { type: 'rating' },
  { type: 'thumbs' },
  { type: 'text' },
  { type: 'single_choice', config: { options: OPTIONS } },
  { type: 'multi_choice', config: { options: OPTIONS } },
];

type Body = Awaited<ReturnType<TestApi['request']>>['body'];
type Send = (method: string, path: string, options?: Parameters<TestApi['request']>[2]) => Promise<Body>;

/** Sends requests that must succeed, and returns the bodies. */
const sendTo =
  (baseUrl: string, key: string): Send =>
  async (method, path, options) => {
    const { status, body } = await requestTo(baseUrl)(method, path, { as: key, ...options });
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };

/** Sends requests whose replies must also match the schema of the operation at this path. */
const checkedTo =
  (baseUrl: string, key: string) =>
  async (method: string, template: string, id = '', body?: object): Promise<Body> => {
    const operation = OPERATIONS.find(({ path, method: own }) => path === template && own === method.toLowerCase());
    if (!operation) throw new Error(`there is no operation ${method} ${template}`);
    const shown = await sendTo(baseUrl, key)(method, template.replace(/\{\w+\}/, id), body ? { body } : {});
    const { success, error } = operation.response?.safeParse(shown) ?? { success: true, error: undefined };
    if (!success) throw new Error(`${method} ${template} ${JSON.stringify(shown)}: ${error}`);
    return shown;
  };

async function storeWithPrevious(environment: Record<string, string>) {
  await using old = await startPrevious(environment);
  const { api, tenant, key } = old;
  const send = sendTo(api.baseUrl, key.api_key);

  const questions: Record<string, string[]> = { draft: [], live: [], paused: [] };
  for (const [index, question] of QUESTIONS.entries())
    for (const [state, ids] of Object.entries(questions)) {
      const { id } = await send('POST', '/v1/questions', { body: { ...question, title: `${state} ${index}` } });
      if (state !== 'draft') await send('POST', `/v1/questions/${id}/publish`);
      if (state === 'paused') await send('POST', `/v1/questions/${id}/pause`);
      ids.push(id);
    }
  const person = await signToken(key, tenant.id, 'user|1');
  const { data: cards } = await send('GET', '/v1/cards', { as: person });
  const answers = cards.map((card: Record<string, unknown>) => ({
    id: crypto.randomUUID(),
    card_id: card.id,
    question_id: card.question_id,
    question_version: 1,
    revision: 1,
    state: 'dismissed',
  }));
  await send('POST', '/v1/answers', { as: person, body: { answers } });
  await waitFor(async () => (await send('GET', '/v1/answers')).data.length === answers.length, 30_000);
  await send('PUT', '/v1/identities/user%7C1', { body: { attributes: { plan: 'pro' } } });
  const { id: conversation } = await send('POST', '/v1/conversations', { as: person, body: { message: 'Hello' } });
  await send('PATCH', `/v1/conversations/${conversation}`, { body: { status: 'resolved', tags: ['x'] } });
  return { key, questions, conversation };
}

test.skipIf(!ref)(
  'objects that the previous version stored are shown as documented, and can be changed',
  async () => {
    await using database = await createDatabase();
    const environment = { DATABASE_URL: database.url, SECRET_KEY: newSecretKey() };
    const { key, questions, conversation } = await storeWithPrevious(environment);
    await using api = await startProcess('serve', environment);
    await api.awaitProbe('/readyz');
    const ask = checkedTo(api.baseUrl, key.api_key);

    for (const id of Object.values(questions).flat()) {
      const { title } = await ask('GET', '/v1/questions/{id}', id);
      await ask('PATCH', '/v1/questions/{id}', id, { title: `${title}, changed` });
      await ask('POST', '/v1/questions/{id}/clone', id);
      await ask('GET', '/v1/questions/{id}/versions', id);
      await ask('GET', '/v1/questions/{id}/results', id);
    }
    for (const id of questions.draft as string[]) await ask('POST', '/v1/questions/{id}/publish', id);
    for (const id of questions.paused as string[]) await ask('POST', '/v1/questions/{id}/resume', id);
    for (const id of questions.live as string[]) {
      await ask('PATCH', '/v1/questions/{id}', id, { frequency: { repeat: 'once' } });
      await ask('POST', '/v1/questions/{id}/close', id);
    }
    const { data: answers } = await ask('GET', '/v1/answers');
    for (const { id } of answers) await ask('GET', '/v1/answers/{id}', id);
    await ask('GET', '/v1/identities/{identity}', 'user%7C1');
    await ask('PATCH', '/v1/identities/{identity}', 'user%7C1', { attributes: { plan: 'free' } });
    await ask('GET', '/v1/conversations/{id}', conversation);
    await ask('GET', '/v1/conversations/{id}/messages', conversation);
    await ask('PATCH', '/v1/conversations/{id}', conversation, { status: 'open' });
    for (const list of ['questions', 'conversations', 'identities', 'events']) await ask('GET', `/v1/${list}`);
  },
  240_000,
);
