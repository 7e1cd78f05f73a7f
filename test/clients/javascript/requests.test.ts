import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inOrder, methodOf } from '../../../clients/javascript/runner/server-steps.ts';
import { checkBaseUrl } from '../../../clients/javascript/src/base-url.ts';
import {
  type AttributesPatch,
  createClient,
  createConversations,
  ParleyError,
  publicTokens,
} from '../../../clients/javascript/src/index.ts';
import { createList, type Page } from '../../../clients/javascript/src/pages.ts';
import { delayBefore, OUTBOX_POLICY, REQUEST_POLICY } from '../../../clients/javascript/src/retry.ts';
import { createServerClient, type EventQuery } from '../../../clients/javascript/src/server/index.ts';
import { OPERATIONS, type OperationName } from '../../../clients/javascript/src/server/operations.ts';
import { STATUS_OF } from '../../../src/api/http/problem.ts';
import { ROOT } from '../../support/documents.ts';
import { contract } from '../contract.ts';
import { type Answered, createNetwork, type Sent, tokenFor } from './network.ts';

const BASE = 'https://feedback.example.com/parley';
const KEY = 'sk_01jcyqxzr0e0080000000000k1_abc';

const serverOn = (answer: (sent: Sent, index: number) => Answered) => {
  const wire = createNetwork(answer);
  return { wire, client: createServerClient({ baseUrl: BASE, apiKey: KEY, wire }) };
};

/** The outcome of a call: "success", or the kind of the error. */
async function outcomeOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return 'success';
  } catch (error) {
    if (error instanceof ParleyError) return error.kind;
    throw error;
  }
}

describe('urls.json', () => {
  const urls = contract('urls');
  test.each<{ url: string; base: string }>(urls.accepted)('$url is accepted', ({ url, base }) => {
    expect(checkBaseUrl(url)).toBe(base);
  });
  test.each<{ url: string }>(urls.refused)('$url is rejected by every client', async ({ url }) => {
    const provider = () => ({ access_token: '' });
    for (const make of [
      () => createClient({ baseUrl: url, provider }),
      () => createServerClient({ baseUrl: url, apiKey: KEY }),
      () => publicTokens({ baseUrl: url, tenantId: 'tenant_1', keyId: 'key_1', userId: () => '1' }),
    ])
      expect(await outcomeOf(async () => make())).toBe('insecure-url');
  });
  test.each<{ url: string; base: string }>(urls.accepted_with_allow_http)('$url with allowHttp', ({ url, base }) => {
    expect(checkBaseUrl(url, true)).toBe(base);
    expect(() => checkBaseUrl(url)).toThrow('allowHttp');
  });
  test.each<{ url: string }>(urls.refused_with_allow_http)('$url is rejected with allowHttp', async ({ url }) => {
    const provider = () => ({ access_token: '' });
    for (const make of [
      () => createClient({ baseUrl: url, provider, allowHttp: true }),
      () => createServerClient({ baseUrl: url, apiKey: KEY, allowHttp: true }),
      () => publicTokens({ baseUrl: url, tenantId: 'tenant_1', keyId: 'key_1', userId: () => '1', allowHttp: true }),
    ])
      expect(await outcomeOf(async () => make())).toBe('insecure-url');
  });
});

interface RequestCase {
  operation: string;
  as: string[];
  arguments: Parameters<typeof inOrder>[1];
  sent: {
    method: string;
    path: string;
    query?: Record<string, string>;
    body?: unknown;
    if_match?: string;
    idempotency_key: boolean;
  };
}

const requestCases: RequestCase[] = contract('requests');

function expectSent(request: Sent | undefined, { sent }: RequestCase): void {
  expect(request?.method).toBe(sent.method);
  expect(request?.url.pathname).toBe(`/parley${sent.path}`);
  expect(Object.fromEntries(request?.url.searchParams ?? [])).toEqual(sent.query ?? {});
  expect(request?.body).toEqual(sent.body);
  expect(request?.headers.get('If-Match')).toBe(sent.if_match ?? null);
  expect(request?.headers.get('Content-Type')).toBe(sent.body === undefined ? null : 'application/json');
}

type Paths = Record<string, Record<string, { operationId: string; security?: object[] }>>;

/** A page that is a valid response to lists, cards and all other operations. */
const ANY_REPLY = { status: 200, body: { data: [], has_more: false, next_cursor: null, count: 0 } };

describe('requests.json', () => {
  test('has every operation for apps, servers and public keys', () => {
    const { paths } = JSON.parse(readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8')) as { paths: Paths };
    const operations = Object.values(paths).flatMap(path => Object.values(path));
    const ours = operations.filter(({ security = [] }) =>
      security.some(kind => 'apiKey' in kind || 'accessToken' in kind || 'publicKey' in kind),
    );
    expect([...new Set(requestCases.map(({ operation }) => operation))].toSorted()).toEqual(
      ours.map(({ operationId }) => operationId).toSorted(),
    );
  });

  test.each(requestCases.filter(({ as }) => as.includes('server')))('$operation of a server', async request => {
    const { client, wire } = serverOn(() => ANY_REPLY);
    const operation = request.operation as OperationName;
    const made = methodOf(client, operation)(...inOrder(operation, request.arguments)) as Promise<unknown> & {
      page?(): Promise<unknown>;
    };
    await (made.page ? made.page() : made);
    expect(wire.sent).toHaveLength(1);
    expectSent(wire.sent[0], request);
    expect(wire.sent[0]?.headers.get('Authorization')).toBe(`Bearer ${KEY}`);
    expect(wire.sent[0]?.headers.has('Idempotency-Key')).toBe(request.sent.idempotency_key);
  });

  test('the client has no other operations', () => {
    const ofServers = new Set(requestCases.filter(({ as }) => as.includes('server')).map(({ operation }) => operation));
    expect(Object.keys(OPERATIONS).toSorted()).toEqual([...ofServers].toSorted());
  });

  const appCalls: Record<string, (client: ReturnType<typeof createClient>, given: never) => Promise<unknown>> = {
    listCards: (client, { query }) => client.listCards(query),
    recordAnswers: (client, { body }) => client.request({ method: 'POST', path: '/v1/answers', body }),
    readAnswer: (client, { params }: { params: { id: string } }) => client.readAnswer(params.id),
    whoAmI: client => client.whoAmI(),
    patchMyAttributes: (client, { body }: { body: { attributes: object } }) =>
      client.patchMyAttributes(body.attributes as AttributesPatch),
    countUnreadConversations: client => createConversations(client).countUnread(),
    listConversations: (client, { query }) => createConversations(client).list(query).page(),
    createConversation: (client, { body }) => createConversations(client).create(body),
    readConversation: (client, { params }: { params: { id: string } }) => createConversations(client).read(params.id),
    patchConversation: (client, { params }: { params: { id: string } }) =>
      createConversations(client).resolve(params.id),
    listMessages: (client, { params, query }: { params: { id: string }; query: object }) =>
      createConversations(client).listMessages(params.id, query).page(),
    createMessage: (client, { params, body }: { params: { id: string }; body: never }) =>
      createConversations(client).createMessage(params.id, body),
    readMessage: (client, { params }: { params: { id: string; message_id: string } }) =>
      createConversations(client).readMessage(params.id, params.message_id),
    patchMessage: (client, { params, body }: { params: { id: string; message_id: string }; body: never }) =>
      createConversations(client).updateMessage(params.id, params.message_id, body),
    redactMessage: (client, { params }: { params: { id: string; message_id: string } }) =>
      createConversations(client).redactMessage(params.id, params.message_id),
    markConversationRead: (client, { params, body }: { params: { id: string }; body: { seq: number } }) =>
      createConversations(client).markRead(params.id, body.seq),
  };

  test.each(requestCases.filter(({ as }) => as.includes('app')))('$operation of an app', async request => {
    const wire = createNetwork(() => ANY_REPLY);
    const client = createClient({ baseUrl: BASE, provider: () => ({ access_token: tokenFor('user|1', 3600) }), wire });
    await appCalls[request.operation]?.(client, request.arguments as never);
    expect(wire.sent).toHaveLength(1);
    expectSent(wire.sent[0], request);
    const allowed = ['authorization', 'content-type', 'if-none-match', 'user-agent'];
    expect([...(wire.sent[0]?.headers.keys() ?? [])].filter(name => !allowed.includes(name))).toEqual([]);
  });

  test.each(['', '.', '..', 'a\ud800'])(
    'an id "%s", which would change the path or has no encoding, is rejected',
    async id => {
      const wire = createNetwork(() => ANY_REPLY);
      const client = createClient({
        baseUrl: BASE,
        provider: () => ({ access_token: tokenFor('user|1', 3600) }),
        wire,
      });
      const conversations = createConversations(client);
      const server = createServerClient({ baseUrl: BASE, apiKey: KEY, wire });
      const calls = [
        () => client.readAnswer(id),
        () => conversations.read(id),
        () => conversations.updateMessage('conversation_1', id, { body: 'x' }),
        () => server.questions.delete(id),
      ];
      for (const call of calls) expect(await outcomeOf(call)).toBe('invalid-argument');
      expect(() => conversations.listMessages(id)).toThrow('id must not be');
      expect(wire.sent).toEqual([]);
    },
  );

  test.each([undefined, '', 'sk_1'])('"%s" is not the id of a public key', keyId => {
    const grant = { baseUrl: BASE, tenantId: 'tenant_1', keyId: keyId as string, userId: () => '1' };
    expect(() => publicTokens(grant)).toThrow('keyId must be the id of a public API key');
  });

  test('issuePublicToken of a public key', async () => {
    const request = requestCases.find(({ operation }) => operation === 'issuePublicToken') as RequestCase;
    const wire = createNetwork(() => ({ status: 200, body: { access_token: 'a.b.c' } }));
    const { tenant_id } = request.arguments.params as { tenant_id: string };
    const { user_id } = request.arguments.body as { user_id: string };
    await publicTokens({ baseUrl: BASE, tenantId: tenant_id, keyId: 'key_1', userId: () => user_id, wire })();
    expectSent(wire.sent[0], request);
    expect(wire.sent[0]?.headers.get('Authorization')).toBe(`Basic ${btoa('api_key:key_1')}`);
  });
});

interface ProblemCase {
  name: string;
  status: number;
  headers: Record<string, string>;
  body: string;
  expect: Record<string, unknown>;
}

const {
  cases: problemCases,
  kinds,
  now,
} = contract('problems') as {
  cases: ProblemCase[];
  kinds: Record<string, string>;
  now: string;
};

/** The error for a response, with the names of the contract. */
async function errorOf(reply: Answered): Promise<Record<string, unknown>> {
  const wire = createNetwork(() => reply);
  wire.setTime(Date.parse(now) / 1000);
  const client = createServerClient({ baseUrl: BASE, apiKey: KEY, wire, retry: { retries: 0 } });
  const error = await client.ingestion.read().catch(thrown => thrown);
  expect(error).toBeInstanceOf(ParleyError);
  return { ...error, request_id: error.requestId, retry_after_ms: error.retryAfterMs };
}

describe('problems.json', () => {
  test.each(problemCases)('$name', async ({ status, headers, body, expect: expected }) => {
    expect(await errorOf({ status, headers, body })).toMatchObject(expected);
  });

  test.each(Object.entries(kinds).filter(([status]) => /^\d+$/.test(status)))('%s is %s', async (status, kind) => {
    expect(await errorOf(Number(status))).toMatchObject({ kind, status: Number(status) });
  });

  test('each kind of the server has its status', () => {
    const ofServer = Object.entries(STATUS_OF).map(([kind, status]) => [String(status), kind]);
    expect(kinds).toMatchObject(Object.fromEntries(ofServer));
  });

  test('no reply', async () => {
    expect(await errorOf('no-reply')).toMatchObject({ kind: 'no-reply', status: 0, code: null, retryable: true });
  });

  test('a late reply counts as none', async () => {
    const wire = createNetwork(() => 200);
    const fetch: typeof globalThis.fetch = (_, init) =>
      new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(new Error('aborted'))));
    const client = createServerClient({ baseUrl: BASE, apiKey: KEY, wire: { ...wire, fetch, timeoutMs: 20 } });
    expect(await outcomeOf(() => client.ingestion.read())).toBe('no-reply');
  });
});

const retries = contract('retries');

describe('retries.json', () => {
  const policies = { request: REQUEST_POLICY, outbox: OUTBOX_POLICY };

  test.each(Object.entries(policies))('the policy of %s', (name, policy) => {
    const { retries: times, base_ms, cap_ms, longest_retry_after_ms } = retries.policies[name];
    expect(policy).toEqual({
      retries: times,
      baseMs: base_ms,
      capMs: cap_ms,
      longestRetryAfterMs: longest_retry_after_ms,
    });
  });

  interface Delay {
    policy: keyof typeof policies;
    retry: number;
    random: number;
    retry_after_ms: number | null;
    delay_ms: number | null;
  }
  test.each<Delay>(retries.delays)('$policy, retry $retry, $random, $retry_after_ms', delay => {
    const { policy, retry, random, retry_after_ms, delay_ms } = delay;
    expect(delayBefore(policies[policy], retry, random, retry_after_ms)).toBe(delay_ms);
  });

  interface CallCase {
    name: string;
    method: string;
    replies: Answered[];
    attempts: number;
    outcome: string;
  }
  const OPERATION: Record<string, (client: ReturnType<typeof createServerClient>) => Promise<unknown>> = {
    GET: client => client.ingestion.read(),
    POST: client => client.questions.create({ type: 'nps', title: 'How likely?' }),
    PUT: client => client.identities.put('user|1', {}),
    DELETE: client => client.conversations.delete('conversation_1'),
  };
  test.each<CallCase>(retries.calls)('$name', async ({ method, replies, attempts, outcome }) => {
    const { client, wire } = serverOn((_, index) => replies[index] as Answered);
    expect(await outcomeOf(async () => OPERATION[method]?.(client))).toBe(outcome);
    expect(wire.sent).toHaveLength(attempts);
    expect(wire.slept).toHaveLength(attempts - 1);
    const keys = new Set(wire.sent.map(({ headers }) => headers.get('Idempotency-Key')));
    expect(keys.size).toBe(1);
    expect(new Set(wire.sent.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });
});

describe('pages.json', () => {
  interface PageCase {
    name: string;
    pages: (number[] | { status: number; code: string })[];
    query: object;
    take: number | null;
    items: number[];
    requests: object[];
    failure?: string;
  }
  test.each<PageCase>(contract('pages'))('$name', async ({ pages, query, take, items, requests, failure }) => {
    const { client, wire } = serverOn((_, index) => {
      const page = pages[index];
      if (!Array.isArray(page)) return { status: page?.status ?? 500, body: page };
      const hasMore = index < pages.length - 1;
      return { status: 200, body: { data: page, has_more: hasMore, next_cursor: hasMore ? `c${index + 1}` : null } };
    });
    const got: unknown[] = [];
    const read = async () => {
      for await (const item of client.questions.list(query)) {
        got.push(item);
        if (got.length === take) return;
      }
    };
    expect(await outcomeOf(read)).toBe(failure ?? 'success');
    expect(got).toEqual(items);
    expect(wire.sent.map(({ url }) => Object.fromEntries(url.searchParams))).toEqual(requests);
  });

  test('a list is read again by each iteration', async () => {
    let reads = 0;
    const list = createList(
      {},
      async (): Promise<Page<number>> => ({ data: [++reads], has_more: false, next_cursor: null }),
    );
    const first: number[] = [];
    for await (const item of list) first.push(item);
    for await (const item of list) first.push(item);
    expect(first).toEqual([1, 2]);
  });
});

describe('feed.json', () => {
  interface FeedCase {
    name: string;
    pages: ({ data: unknown[]; last: number } | { status: number; code: string })[];
    query: EventQuery;
    take: number | null;
    items: unknown[];
    failure?: string;
    requests: Record<string, string>[];
  }

  test.each<FeedCase>(contract('feed'))('$name', async ({ pages, query, take, items, requests, failure }) => {
    const { client, wire } = serverOn((_, index) => {
      const page = pages[index] as FeedCase['pages'][number];
      if ('status' in page) return { status: page.status, body: { code: page.code } };
      return { status: 200, body: { ...page, has_more: index < pages.length - 1 } };
    });
    const seen: unknown[] = [];
    const outcome = await outcomeOf(async () => {
      for await (const event of client.events.read(query)) {
        seen.push(event);
        if (seen.length === take) break;
      }
    });
    expect(seen).toEqual(items);
    expect(outcome).toBe(failure ?? 'success');
    expect(wire.sent.map(({ url }) => Object.fromEntries(url.searchParams))).toEqual(requests);
  });
});
