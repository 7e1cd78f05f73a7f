import { describe, expect, test } from 'vitest';
import { type Card, type Credential, createClient, ParleyError } from '../../../clients/javascript/src/index.ts';
import { contract } from '../contract.ts';
import { type Answered, createNetwork, tokenFor } from './network.ts';

interface Provided {
  token?: string;
  identity?: string;
  expires_at?: number;
  expires_in?: number;
  raw?: string;
  failure?: string;
  retryable?: boolean;
  retry_after_ms?: number;
  hangs?: true;
}

interface TokenStep {
  do: 'nothing' | 'request' | 'requests' | 'logout' | 'logout_while_fetching' | 'logout_while_sending';
  at: number;
  count?: number;
  replies?: Answered[];
  sent?: string[];
  outcome?: string;
  cause?: string;
  retryable?: boolean;
  retry_after_ms?: number | null;
  waits_ms?: number[];
  timeout_ms?: number;
  provider_calls: number;
}

/** The failure of an entry: the library's own error, or any other. */
const failureOf = ({ failure = '', retryable, retry_after_ms }: Provided): Error =>
  retryable === undefined
    ? new Error(failure)
    : new ParleyError('unavailable', failure, { retryable, retryAfterMs: retry_after_ms ?? null });

/** The credential of an entry, or its failure: thrown or returned, as both are allowed. */
function provide(entry: Provided, call: number): Promise<never> | Credential | Error {
  const { token, identity = '', expires_at = 0, expires_in, raw, failure, hangs } = entry;
  if (hangs) return new Promise(() => undefined);
  if (failure !== undefined && call % 2 === 0) return failureOf(entry);
  if (failure !== undefined) throw failureOf(entry);
  return {
    access_token: raw ?? tokenFor(identity, expires_at, token),
    ...(expires_in === undefined ? {} : { expires_in }),
  };
}

const nameOf = (authorization: string | null): string =>
  JSON.parse(Buffer.from(authorization?.split('.')[1] ?? '', 'base64url').toString()).name;

/** Lets all settled promises run their reactions. */
const settle = () => new Promise(resolve => setImmediate(resolve));

interface Outcome {
  kind: string;
  cause?: unknown;
  retryable?: boolean;
  retryAfterMs?: number | null;
}

async function outcomeOf(work: Promise<unknown>): Promise<Outcome> {
  try {
    await work;
    return { kind: 'success' };
  } catch (error) {
    if (error instanceof ParleyError) return error;
    throw error;
  }
}

describe('token-cache.json', () => {
  interface TokenCase {
    name: string;
    provider: Provided[];
    steps: TokenStep[];
  }
  test.each<TokenCase>(contract('token-cache'))('$name', async ({ provider, steps }) => {
    let calls = 0;
    let replies: Answered[] = [];
    let beforeReply = async () => {};
    let beforeToken = async () => {};
    const wire = createNetwork(async () => {
      const reply = replies.shift();
      if (reply === undefined) throw new Error('a request that the contract does not have');
      await beforeReply();
      return reply;
    });
    const timeoutMs = steps.find(({ timeout_ms }) => timeout_ms)?.timeout_ms ?? wire.timeoutMs;
    const client = createClient({
      baseUrl: 'https://feedback.example.com',
      wire: { ...wire, timeoutMs },
      async provider() {
        const call = calls++;
        await beforeToken();
        return provide(provider[call] ?? { failure: 'called more often than the contract has it' }, call);
      },
    });

    for (const step of steps) {
      wire.setTime(step.at);
      wire.sent.length = 0;
      wire.slept.length = 0;
      replies = [...(step.replies ?? [])];
      if (step.do === 'logout') client.logout();
      if (step.do === 'logout_while_sending') {
        beforeReply = async () => {
          beforeReply = async () => {};
          client.logout();
        };
      }
      let release = () => {};
      if (step.do === 'logout_while_fetching') {
        const gate = new Promise<void>(resolve => (release = resolve));
        beforeToken = () => gate;
      }
      const isCall = step.outcome !== undefined;
      const pending = Array.from({ length: isCall ? (step.count ?? 1) : 0 }, () => outcomeOf(client.whoAmI()));
      if (step.do === 'logout_while_fetching') {
        await settle();
        client.logout();
        release();
        beforeToken = async () => {};
      }
      for (const outcome of await Promise.all(pending)) {
        expect(outcome.kind).toBe(step.outcome);
        if (step.cause) expect((outcome.cause as Error).message).toBe(step.cause);
        if (step.retryable !== undefined) expect(outcome.retryable).toBe(step.retryable);
        if (step.retry_after_ms !== undefined) expect(outcome.retryAfterMs).toBe(step.retry_after_ms);
      }
      await settle();
      expect(wire.sent.map(({ headers }) => nameOf(headers.get('Authorization')))).toEqual(step.sent ?? []);
      if (step.waits_ms) expect(wire.slept).toEqual(step.waits_ms);
      expect(calls).toBe(step.provider_calls);
    }
  });
});

describe('cards.json', () => {
  interface CardStep {
    do: 'cards' | 'logout';
    identity?: string;
    query?: object;
    sent?: { query: Record<string, string>; if_none_match: string | null };
    reply?: { status: number; etag?: string; cards?: number[]; locales?: string[]; poll_after_s?: number };
    expect?: number[];
    expect_locales?: string[];
    poll_after_ms?: number;
    failure?: string;
  }
  const cardOf = (n: number, locale = 'en') =>
    ({
      id: `card_${n}`,
      question_id: `question_${n}`,
      question_version: 1,
      kind: 'question',
      steps: [],
      locale,
    }) as never as Card;

  test.each<{ name: string; steps: CardStep[] }>(contract('cards'))('$name', async ({ steps }) => {
    let step: CardStep = { do: 'logout' };
    const wire = createNetwork(() => {
      const { status, etag, cards = [], locales, poll_after_s = 60 } = step.reply ?? { status: 500 };
      const data = cards.map((n, at) => cardOf(n, locales?.[at]));
      return { status, headers: etag ? { ETag: etag } : {}, body: { data, poll_after_s } };
    });
    let identity = '';
    const provider = () => ({ access_token: tokenFor(identity, 3600) });
    const client = createClient({ baseUrl: 'https://feedback.example.com', provider, wire });

    for (const [index, each] of steps.entries()) {
      step = each;
      identity = each.identity ?? (steps[index + 1]?.identity as string);
      if (each.do === 'logout') {
        client.logout();
        continue;
      }
      const listed = client.listCards(each.query);
      if (each.failure) await expect(listed).rejects.toMatchObject({ kind: each.failure });
      else expect(await listed).toEqual(each.expect?.map((n, at) => cardOf(n, each.expect_locales?.[at])));
      if (each.poll_after_ms) expect(client.pollAfterMs()).toBe(each.poll_after_ms);
      const sent = wire.sent.at(-1);
      expect(Object.fromEntries(sent?.url.searchParams ?? [])).toEqual(each.sent?.query);
      expect(sent?.headers.get('If-None-Match')).toBe(each.sent?.if_none_match);
    }
  });
});
