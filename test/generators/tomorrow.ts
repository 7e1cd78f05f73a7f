import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readDocument } from '../support/openapi.ts';

type Json = Record<string, unknown>;

/** Starts a server whose replies have additions that a later version may make: members, types, states and codes. */
export async function serveTomorrow(): Promise<{ url: string } & AsyncDisposable> {
  const { components } = (await readDocument()) as { components: { examples: Record<string, { value: Json }> } };
  const exampleOf = (name: string): Json => structuredClone(components.examples[name]?.value as Json);
  const added = { added_by_a_later_version: { deep: [1] } };

  const cards = exampleOf('CardList') as { data: { steps: Json[] }[] };
  for (const card of cards.data) {
    Object.assign(card, added, { kind: 'announcement', in_cooldown: false });
    for (const step of card.steps) Object.assign(step, added, { type: 'ranking', config: { ranks: 3 } });
  }
  const conversations = exampleOf('ConversationPage') as { data: Json[] };
  for (const conversation of conversations.data) Object.assign(conversation, added, { status: 'snoozed' });
  const problem = { ...exampleOf('problem.resource-not-found'), ...added, code: 'quota-exhausted' };

  const server = createServer(({ url = '' }, response) => {
    const [status, body] = url.startsWith('/v1/cards')
      ? [200, { ...cards, ...added }]
      : url.startsWith('/v1/conversations')
        ? [200, { ...conversations, ...added }]
        : [404, problem];
    const type = status === 200 ? 'application/json' : 'application/problem+json';
    response.writeHead(status, { 'Content-Type': type }).end(JSON.stringify(body));
  });
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => new Promise(done => server.close(() => done())),
  };
}
