import { afterEach, describe, expect, test } from 'vitest';
import {
  createClient,
  createOutbox,
  memoryStorage,
  type NewAnswer,
  publicTokens,
} from '../../../clients/javascript/src/index.ts';
import { toJson } from '../../../clients/javascript/src/json.ts';
import { createServerClient } from '../../../clients/javascript/src/server/index.ts';
import { createNetwork, tokenFor } from './network.ts';
import { answerOf } from './outbox-play.ts';

const prototypes = { array: Array.prototype, object: Object.prototype, bigint: BigInt.prototype } as Record<
  string,
  object
>;

/** Adds `toJSON` to prototypes, as old libraries do. */
function pollute(...names: string[]): void {
  for (const name of names)
    Object.defineProperty(prototypes[name], 'toJSON', { configurable: true, writable: true, value: () => `"${name}"` });
}
afterEach(() => {
  for (const prototype of Object.values(prototypes)) delete (prototype as { toJSON?: unknown }).toJSON;
});

const BASE = 'https://feedback.example.com';
const TOKEN = tokenFor('user|1', 1e9);
const ANSWER: NewAnswer = { ...answerOf(1, 1), values: { main: { option_ids: ['a', 'b'] } } };

describe.each([[['array']], [['array', 'object']]])('a page whose library adds toJSON to %s', names => {
  test('records and sends answers as they are', async () => {
    const wire = createNetwork(() => ({ status: 202, body: '{"results":[{"status":"accepted"}]}' }));
    const client = createClient({ baseUrl: BASE, wire, provider: () => ({ access_token: TOKEN }) });
    const outbox = createOutbox(client, { storage: memoryStorage(), automatic: false });
    pollute(...names);
    await outbox.record(ANSWER);
    const flushed = await outbox.flush();
    await createServerClient({ baseUrl: BASE, apiKey: 'sk_1', wire }).answers.record({
      answers: [{ ...ANSWER, identity: 'user|1' }],
    });
    await publicTokens({ baseUrl: BASE, tenantId: 'tenant_1', keyId: 'key_1', userId: () => '1', wire })();
    for (const name of names) delete (prototypes[name] as { toJSON?: unknown }).toJSON;
    expect(flushed).toEqual({ outcome: 'done' });
    const [first, second, third] = wire.sent.map(({ body }) => body);
    expect(first).toMatchObject({ answers: [ANSWER] });
    expect(second).toEqual({ answers: [{ ...ANSWER, identity: 'user|1' }] });
    expect(third).toEqual({ user_id: '1' });
  });
});

test('toJSON of a class is used, and what JSON cannot represent is refused', () => {
  const url = new URL('https://example.com/');
  const time = new Date(0);
  const own = { toJSON: () => 'own' };
  expect(toJson({ url, time, own, left: undefined, list: [undefined, null, 1] })).toBe(
    JSON.stringify({ url, time, own, list: [null, null, 1] }),
  );
  expect(() => toJson({ big: 1n })).toThrow('BigInt');
  pollute('bigint'); // as many apps do
  expect(toJson({ big: 1n })).toBe(String.raw`{"big":"\"bigint\""}`);
});
