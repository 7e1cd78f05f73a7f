/**
 * The main flow with the `typescript-fetch` client of openapi-generator, which is compiled in its folder. Prints what it saw
 * as JSON.
 */
import { AnswersApi, CardsApi, Configuration, ConversationsApi, QuestionsApi, ResponseError, TokensApi } from './index';

const configurationOf = (url: string, credential: string): Configuration =>
  new Configuration({ basePath: process.env[url] ?? '', accessToken: process.env[credential] ?? '' });

/** Repeats until there is a result. */
async function until<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 1; tries <= 100; tries++) {
    const found = await attempt();
    if (found !== undefined) return found;
    await new Promise(done => setTimeout(done, 100));
  }
  throw new Error('no result after 10 s');
}

/** The reply of a call that fails. */
const failureOf = (call: Promise<unknown>): Promise<Response | undefined> =>
  call.then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof ResponseError) return error.response;
      throw error;
    },
  );

async function main(): Promise<void> {
  const team = configurationOf('PARLEY_URL', 'PARLEY_KEY');
  const user = configurationOf('PARLEY_URL', 'PARLEY_TOKEN');
  const questions = new QuestionsApi(team);

  const question = await questions.createQuestion({
    idempotencyKey: crypto.randomUUID(),
    questionInput: { type: 'nps', title: 'How likely?', config: { labels: { low: 'no' } } },
  });
  const { id } = question;
  const published = await questions.publishQuestion({ id });

  const card = await until(async () => {
    const { data } = await new CardsApi(user).listCards({ limit: 20 });
    return data.find(each => each.questionId === id);
  });
  const answer = {
    id: crypto.randomUUID(),
    revision: 1,
    cardId: card.id,
    questionId: card.questionId,
    questionVersion: card.questionVersion,
    state: 'completed' as const,
    values: { main: 9 },
    displayedAt: new Date(),
  };
  const answers = new AnswersApi(user);
  const { results } = await answers.recordAnswers({ answerBatch: { answers: [answer] } });
  const stored = await until(() => answers.readAnswer({ id: answer.id }).catch(() => undefined));
  const figures = await questions.readResults({ id, groupBy: 'month' });

  await new ConversationsApi(user).createConversation({ conversationInput: { message: 'Hello' } });
  const conversations = await new ConversationsApi(team).listConversations({ limit: 100, verified: true });

  const stale = await failureOf(questions.patchQuestion({ id, questionPatch: { priority: 5 }, ifMatch: '"old"' }));
  const me = await new TokensApi(user).whoAmI();
  const conditional = process.env.PARLEY_QUESTION ?? '';
  const asked = (await new CardsApi(user).listCards()).data.find(each => each.questionId === conditional);
  const patched = await questions.patchQuestion({ id: conditional, questionPatch: { priority: 5 } });
  const threads = new ConversationsApi(team);
  const thread = conversations.data[0]?.id ?? '';
  const message = await threads.createMessage({ id: thread, messageInput: { body: 'Yes?' } });
  const resolved = await threads.patchConversation({ id: thread, conversationPatch: { status: 'resolved' } });

  const limited = new QuestionsApi(configurationOf('PARLEY_LIMITED_URL', 'PARLEY_KEY'));
  const refused = await until(() => failureOf(limited.listQuestions()));

  const tomorrow = configurationOf('PARLEY_TOMORROW_URL', 'PARLEY_KEY');
  const cards = await new CardsApi(tomorrow).listCards();
  const later = await new ConversationsApi(tomorrow).listConversations();
  const failed = await failureOf(new QuestionsApi(tomorrow).readQuestion({ id }));
  const problem = (await failed?.json()) as { code: string };

  console.log(
    JSON.stringify({
      created: question.status,
      published: published.status,
      receipts: results.map(receipt => receipt.status),
      answer: stored.state,
      completed: figures.completed,
      conversations: conversations.data.length,
      stale: stale?.status,
      retry: Number(refused.headers.get('Retry-After')) > 0,
      changes: {
        me: 'identity' in me ? me.identity : null,
        condition: asked?.steps[1]?.showIf?.value,
        priority: patched.priority,
        message: message.kind,
        conversation: resolved.status,
      },
      tomorrow: [cards.data[0]?.steps[0]?.type, later.data[0]?.status, problem.code],
    }),
  );
}

void main();
