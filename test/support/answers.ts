import type { TestApi, TestReply } from './api.ts';
import { anAnswer, makeTenant, publishQuestion } from './make.ts';
import { waitFor } from './wait.ts';

export interface TestCard {
  id: string;
  question_id: string;
  question_version: number;
}

/** Requests of answers, for the tests of one file. The API needs a worker. */
export function answersOf(api: TestApi) {
  const send = (as: string, answers: unknown[], envelope: Record<string, unknown> = {}): Promise<TestReply> =>
    api.request('POST', '/v1/answers', { as, body: { answers, ...envelope } });

  /** The results of a sync, which must return 202. */
  async function sync(as: string, answers: unknown[], envelope: Record<string, unknown> = {}) {
    const { status, body } = await send(as, answers, envelope);
    if (status !== 202) throw new Error(`status ${status}: ${JSON.stringify(body)}`);
    return body.results;
  }

  const read = (as: string, id: string) => api.request('GET', `/v1/answers/${id}`, { as });

  /** The answer, once this revision is stored. */
  const stored = (as: string, id: string, revision = 1): Promise<TestReply['body']> =>
    waitFor(async () => {
      const { status, body } = await read(as, id);
      return status === 200 && (body.revision ?? revision) === revision && body;
    });

  const firstCard = (token: string): Promise<TestCard> =>
    waitFor(async () => (await api.request('GET', '/v1/cards', { as: token })).body.data[0]);

  /** A tenant with one live question, its key, and a user with a card. */
  async function make(fields: Record<string, unknown> = {}) {
    const tenant = await makeTenant(api);
    const question = await publishQuestion(api, tenant, { allow_public: true, ...fields });
    const token = await tenant.sign('user|42');
    const card = await firstCard(token);
    const key = tenant.key.apiKey;
    /** An answer as the tenant's server sends it. */
    const answer = (more: Record<string, unknown> = {}) =>
      anAnswer({ identity: 'user|42', question_id: question.id, ...more });
    return { tenant, question, token, card, key, answer };
  }

  return { send, sync, read, stored, firstCard, make };
}
