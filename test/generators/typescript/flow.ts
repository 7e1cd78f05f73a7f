/** The main flow with types from openapi-typescript and the client openapi-fetch. Prints the results as JSON. */
import createClient from 'openapi-fetch';
import type { paths } from '../built/typescript/schema.ts';

const { PARLEY_URL, PARLEY_KEY, PARLEY_TOKEN, PARLEY_LIMITED_URL, PARLEY_TOMORROW_URL } = process.env as Record<
  string,
  string
>;
const clientOf = (baseUrl: string | undefined, credential: string | undefined) =>
  createClient<paths>({ baseUrl: baseUrl ?? '', headers: { Authorization: `Bearer ${credential}` } });

/** The body of a reply; throws its problem. */
function bodyOf<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

/** Repeats until there is a result. */
async function until<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 1; tries <= 100; tries++) {
    const found = await attempt();
    if (found !== undefined) return found;
    await new Promise(done => setTimeout(done, 100));
  }
  throw new Error('no result after 10 s');
}

const team = clientOf(PARLEY_URL, PARLEY_KEY);
const user = clientOf(PARLEY_URL, PARLEY_TOKEN);

const key = { 'Idempotency-Key': crypto.randomUUID() };
const question = bodyOf(
  await team.POST('/v1/questions', {
    params: { header: key },
    body: { type: 'nps', title: 'How likely?', frequency: { repeat: 'once' }, config: { labels: { low: 'no' } } },
  }),
);
const path = { id: question.id };
const published = bodyOf(await team.POST('/v1/questions/{id}/publish', { params: { path } }));

const card = await until(async () => {
  const { data } = bodyOf(await user.GET('/v1/cards', { params: { query: { limit: 20 } } }));
  return data.find(each => each.question_id === question.id);
});
const answer = {
  id: crypto.randomUUID().toUpperCase(),
  revision: 1,
  card_id: card.id,
  question_id: card.question_id,
  question_version: card.question_version,
  state: 'completed' as const,
  values: { main: 9 },
  metadata: { platform: 'web' },
  displayed_at: new Date().toISOString(),
};
const { results } = bodyOf(await user.POST('/v1/answers', { body: { answers: [answer] } }));
const stored = await until(
  async () => (await user.GET('/v1/answers/{id}', { params: { path: { id: answer.id.toLowerCase() } } })).data,
);
const figures = bodyOf(
  await team.GET('/v1/questions/{id}/results', { params: { path, query: { group_by: 'month' } } }),
);

await user.POST('/v1/conversations', { body: { message: 'Hello' } });
const conversations = bodyOf(
  await team.GET('/v1/conversations', { params: { query: { limit: 100, verified: true } } }),
);

const stale = await team.PATCH('/v1/questions/{id}', {
  params: { path, header: { 'If-Match': '"old"' } },
  body: { priority: 5 },
});

const me = bodyOf(await user.GET('/v1/me', {}));
const conditional = { id: process.env.PARLEY_QUESTION ?? '' };
const asked = bodyOf(await user.GET('/v1/cards', {})).data.find(each => each.question_id === conditional.id);
const patched = bodyOf(
  await team.PATCH('/v1/questions/{id}', { params: { path: conditional }, body: { priority: 5 } }),
);
const thread = { id: conversations.data[0]?.id ?? '' };
const message = bodyOf(
  await team.POST('/v1/conversations/{id}/messages', { params: { path: thread }, body: { body: 'Yes?' } }),
);
const resolved = bodyOf(
  await team.PATCH('/v1/conversations/{id}', { params: { path: thread }, body: { status: 'resolved' } }),
);

const limited = clientOf(PARLEY_LIMITED_URL, PARLEY_KEY);
const refused = await until(async () => {
  const { response } = await limited.GET('/v1/questions', {});
  return response.status === 429 ? response : undefined;
});

const tomorrow = clientOf(PARLEY_TOMORROW_URL, PARLEY_KEY);
const cards = bodyOf(await tomorrow.GET('/v1/cards', {}));
const later = bodyOf(await tomorrow.GET('/v1/conversations', {}));
const failed = await tomorrow.GET('/v1/questions/{id}', { params: { path } });

console.log(
  JSON.stringify({
    created: question.status,
    published: published.status,
    receipts: results.map(receipt => receipt.status),
    answer: stored.state,
    completed: figures.completed,
    conversations: conversations.data.length,
    stale: stale.response.status,
    retry: Number(refused.headers.get('Retry-After')) > 0,
    changes: {
      me: 'identity' in me ? me.identity : null,
      condition: asked?.steps[1]?.show_if?.value,
      priority: patched.priority,
      message: message.kind,
      conversation: resolved.status,
    },
    tomorrow: [cards.data[0]?.steps[0]?.type, later.data[0]?.status, failed.error?.code],
  }),
);
