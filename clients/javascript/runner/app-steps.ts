import { join } from 'node:path';
import {
  type Card,
  type Credential,
  createClient,
  createConversations,
  createOutbox,
  type List,
  type NewAnswer,
  newId,
  ParleyError,
  publicTokens,
} from '../src/index.ts';
import { fileStorage } from '../src/outbox/file-storage.ts';
import { eventually, expectEqual, expectFailure, print, type Step, type Steps, setting } from './steps.ts';

async function all<Item>(list: List<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of list) items.push(item);
  return items;
}

/** Fetches a token of the given kind from the tenant's backend. */
async function askBackend(user: string, kind: string): Promise<Credential> {
  const url = `${setting('PARLEY_TOKEN_URL')}?token=${kind}`;
  const reply = await fetch(url, { method: 'POST', headers: { Authorization: `Bearer ${user}` } });
  if (!reply.ok) throw new Error(`the backend responded with ${reply.status}`);
  return (await reply.json()) as Credential;
}

/** App steps, implemented with a client and an outbox as in an app. */
export function createAppSteps(): Steps {
  const baseUrl = setting('SERVICE_BASE_URL');
  const retry = { baseMs: Number(setting('PARLEY_RETRY_BASE_MS')) };
  let user = '';
  let kinds: string[] = [];
  let calls = 0;
  const askPublicly = publicTokens({
    baseUrl,
    tenantId: setting('SERVICE_TENANT_ID'),
    keyId: setting('SERVICE_PUBLIC_KEY_ID'),
    userId: () => user,
  });
  let asked: Promise<unknown> = Promise.resolve();
  const provider = () => {
    const kind = kinds[Math.min(calls++, kinds.length - 1)] as string;
    const credential = kind === 'public' ? askPublicly() : askBackend(user, kind);
    asked = Promise.allSettled([credential]);
    return credential;
  };
  const client = createClient({ baseUrl, provider, retry });
  const theirs = createConversations(client);
  const lost = new Set<string>();
  const outbox = createOutbox(client, {
    storage: fileStorage(join(setting('PARLEY_STATE'), 'outbox')),
    onLost: ({ id }) => void lost.add(id),
    automatic: false,
  });

  let cards: Card[] = [];
  const answers = new Map<string, NewAnswer>();
  const conversations = new Map<string, string>();
  const titleOf = (card: Card) => card.steps[0]?.title;

  const cardOf = (title: string): Card => {
    const card = cards.find(each => titleOf(each) === title);
    if (!card) throw new Error(`there is no card "${title}"`);
    return card;
  };

  async function fetchCards(): Promise<void> {
    cards = await client.listCards();
  }

  async function record(answer: NewAnswer, identity: string): Promise<void> {
    await outbox.record(answer);
    print({ recorded: answer.id, identity });
  }

  function nextRevision(step: Step): NewAnswer {
    const card = cardOf(step.card);
    const before = answers.get(step.as);
    return {
      id: before?.id ?? newId(),
      revision: (before?.revision ?? 0) + 1,
      card_id: card.id,
      question_id: card.question_id,
      question_version: card.question_version,
      state: step.state,
      ...(step.values ? { values: step.values } : {}),
      ...(step.comment ? { comment: step.comment } : {}),
    };
  }

  const idOf = (name: string): string => answers.get(name)?.id as string;
  const conversationOf = (step: Step): string => conversations.get(step.conversation) as string;

  return {
    async provider(step) {
      user = step.user;
      kinds = step.tokens;
      calls = 0;
    },
    async logout() {
      client.logout();
      await asked;
      await new Promise(resolve => setImmediate(resolve)); // lets the client process the reply
    },
    async cards(step) {
      if (step.failure) await expectFailure(step, fetchCards);
      else
        await eventually(async () => {
          await fetchCards();
          expectEqual(cards.map(titleOf), step.titles, 'the cards');
        });
      if (step.provider_calls !== undefined) expectEqual(calls, step.provider_calls, 'calls of the provider');
    },
    async record(step) {
      const answer = nextRevision(step);
      answers.set(step.as, answer);
      await record(answer, user);
    },
    async flush(step) {
      lost.clear();
      const { error } = await outbox.flush();
      if (error) throw error;
      expectEqual((await outbox.waiting()).length, step.left, 'what is left');
      expectEqual([...lost], (step.lost ?? []).map(idOf), 'what was lost');
    },
    stored: step =>
      eventually(async () => {
        const { state, revision } = (await client.readAnswer(idOf(step.answer))) as { state: string; revision: number };
        expectEqual({ state, revision }, { state: step.state, revision: step.revision }, 'the answer');
      }),
    not_found: step => expectFailure({ ...step, failure: 'not-found' }, () => client.readAnswer(idOf(step.answer))),
    async start_conversation({ as, subject, message, client_message_id }) {
      const { id } = await theirs.create({ subject, message, client_message_id });
      expectEqual(id, conversations.get(as) ?? id, 'the conversation');
      conversations.set(as, id);
    },
    async reply(step) {
      const { body, client_message_id } = step;
      const message = await theirs.createMessage(conversationOf(step), { body, client_message_id });
      expectEqual(message.body, body, 'the message');
    },
    async messages(step) {
      const read = () => all(theirs.listMessages(conversationOf(step)));
      if (step.failure) return expectFailure(step, read);
      await eventually(async () =>
        expectEqual(
          (await read()).map(({ body }) => body),
          step.bodies,
          'the messages',
        ),
      );
    },
    unread: step => eventually(async () => expectEqual(await theirs.countUnread(), step.count, 'unread')),
    async read(step) {
      const { id, last_message } = await theirs.read(conversationOf(step));
      await theirs.markRead(id, last_message.seq);
    },
    async conversations(step) {
      const read = () => all(theirs.list({ limit: step.limit }));
      if (step.failure) return expectFailure(step, read);
      expectEqual(
        (await read()).map(({ subject }) => subject),
        step.subjects,
        'the conversations',
      );
    },
    async record_many({ card, count, pause_ms }) {
      await eventually(fetchCards);
      for (let n = 0; n < count; n++) {
        const values = { main: 1 + (n % 5) };
        await record(nextRevision({ do: 'record', as: newId(), card, state: 'completed', values }), user);
        await new Promise(resolve => setTimeout(resolve, pause_ms));
      }
    },
    drain: () =>
      eventually(async () => {
        const { outcome, error } = await outbox.flush();
        if (outcome !== 'done') throw error ?? new ParleyError('unreadable', 'an answer has no receipt');
      }),
  };
}
