import { afterEach, describe, expect, test, vi } from 'vitest';
import { version } from '../../../clients/javascript/package.json' with { type: 'json' };
import {
  type Attempt,
  createClient,
  createConversations,
  type ParleyError,
  tokenEndpoint,
} from '../../../clients/javascript/src/index.ts';
import { createServerClient } from '../../../clients/javascript/src/server/index.ts';
import { SDK } from '../../../clients/javascript/src/version.ts';
import { type Answered, createNetwork, type Sent, tokenFor } from './network.ts';

afterEach(() => void vi.unstubAllGlobals());

const BASE = 'https://feedback.example.com';
const provider = () => ({ access_token: tokenFor('user|1', 3600) });
const LIST = { status: 200, body: { data: [], has_more: false, next_cursor: null } };

function clientsOn(answer: (sent: Sent, index: number) => Promise<Answered> | Answered) {
  const wire = createNetwork(answer);
  const attempts: Attempt[] = [];
  const onAttempt = (attempt: Attempt) => void attempts.push(attempt);
  const app = createClient({ baseUrl: BASE, provider, wire, onAttempt });
  return { wire, attempts, app, server: createServerClient({ baseUrl: BASE, apiKey: 'sk_secret', wire, onAttempt }) };
}

const failureOf = (work: Promise<unknown>): Promise<ParleyError> =>
  work.then(
    () => expect.unreachable(),
    thrown => thrown,
  );

describe('onAttempt', () => {
  test('reports each attempt of a call', async () => {
    const replies: Answered[] = [
      'no-reply',
      { status: 503, headers: { 'X-Request-Id': 'req_1' } },
      { status: 200, headers: { 'X-Request-Id': 'req_2' }, body: {} },
    ];
    const { app, attempts } = clientsOn(() => replies.shift() as Answered);
    await app.whoAmI();
    const call = { operation: 'whoAmI', method: 'GET', durationMs: 0 };
    expect(attempts).toEqual([
      { ...call, number: 1, status: 0, requestId: null, error: attempts[0]?.error, retryInMs: 250 },
      { ...call, number: 2, status: 503, requestId: 'req_1', error: attempts[1]?.error, retryInMs: 500 },
      { ...call, number: 3, status: 200, requestId: 'req_2', error: undefined, retryInMs: null },
    ]);
    expect(attempts[1]?.error).toMatchObject({ kind: 'unavailable' });
  });

  test('of a server client contains no credential', async () => {
    const { server, attempts } = clientsOn(() => 404);
    await failureOf(server.questions.read('question_1'));
    expect(attempts).toMatchObject([{ operation: 'readQuestion', status: 404, retryInMs: null }]);
    expect(JSON.stringify(attempts)).not.toContain('sk_secret');
  });
});

describe('a call', () => {
  test('that is cancelled while the server works ends at once', async () => {
    const cancel = new AbortController();
    const { app, server } = clientsOn(() => {
      cancel.abort(new Error('the view is closed'));
      return new Promise(() => {});
    });
    for (const work of [
      app.listCards({}, { signal: cancel.signal }),
      server.questions.list({}, { signal: cancel.signal }).page(),
    ]) {
      const error = await failureOf(work);
      expect(error).toMatchObject({ kind: 'aborted', retryable: false, cause: { message: 'the view is closed' } });
    }
  });

  test('that is cancelled cancels its request', async () => {
    const cancel = new AbortController();
    const wire = createNetwork(() => 200);
    let signal: AbortSignal | null | undefined;
    const fetch: typeof globalThis.fetch = (_, init) => {
      signal = init?.signal;
      queueMicrotask(() => cancel.abort());
      return new Promise(() => {});
    };
    const server = createServerClient({ baseUrl: BASE, apiKey: 'sk_1', wire: { ...wire, fetch } });
    await failureOf(server.ingestion.read({ signal: cancel.signal }));
    expect(signal?.aborted).toBe(true);
  });

  test('that is cancelled between attempts, or before, sends nothing more', async () => {
    const cancel = new AbortController();
    const { wire, app } = clientsOn(() => 503);
    wire.sleep = () => {
      cancel.abort();
      return new Promise(() => {});
    };
    const impatient = createClient({ baseUrl: BASE, provider, wire });
    expect((await failureOf(impatient.whoAmI({ signal: cancel.signal }))).kind).toBe('aborted');
    expect(wire.sent).toHaveLength(1);
    expect((await failureOf(app.whoAmI({ signal: cancel.signal }))).kind).toBe('aborted');
    expect(wire.sent).toHaveLength(1);
  });

  test('has its own retries and timeout', async () => {
    const { app, server, wire } = clientsOn(() => 503);
    await failureOf(createConversations(app).read('conversation_1', { retry: { retries: 0 } }));
    await failureOf(server.answers.read('a', { retry: { retries: 1 } }));
    expect(wire.sent).toHaveLength(3);
    const fetch: typeof globalThis.fetch = (_, init) =>
      new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(new Error('aborted'))));
    const slow = createServerClient({ baseUrl: BASE, apiKey: 'sk_1', wire: { ...wire, fetch } });
    const error = await failureOf(slow.ingestion.read({ timeoutMs: 10, retry: { retries: 0 } }));
    expect(error.kind).toBe('no-reply');
  });

  test.each([Number.POSITIVE_INFINITY, 2 ** 31])('has a timeout of any length: %d ms', async timeoutMs => {
    const { wire } = clientsOn(() => LIST);
    const fetch: typeof globalThis.fetch = async (url, init) => {
      await new Promise((resolve, reject) => {
        setTimeout(resolve, 50); // timers end the longest timeouts after 1 ms
        init?.signal?.addEventListener('abort', () => reject(new Error('aborted')));
      });
      return wire.fetch(url, init);
    };
    const server = createServerClient({ baseUrl: BASE, apiKey: 'sk_1', wire: { ...wire, fetch, timeoutMs } });
    expect((await server.questions.list().page()).data).toEqual([]);
    expect((await server.questions.list({}, { timeoutMs }).page()).data).toEqual([]);
    expect(wire.sent).toHaveLength(2);
  });

  test('has the default of each setting that is undefined', async () => {
    const { wire } = clientsOn(() => 503);
    const { sleep } = wire;
    wire.sleep = async ms => {
      await sleep(ms);
      if (wire.slept.length > 3) throw new Error('retries without limit');
    };
    const retry = { retries: undefined, baseMs: undefined };
    const lacking = { ...wire, timeoutMs: undefined };
    const server = createServerClient({ baseUrl: BASE, apiKey: 'sk_1', retry, wire: lacking });
    const app = createClient({ baseUrl: BASE, provider, retry, wire: lacking });
    for (const call of [
      () => server.ingestion.read(),
      () => server.ingestion.read({ retry }),
      () => app.whoAmI(),
      () => app.whoAmI({ retry }),
    ]) {
      wire.slept.length = 0;
      expect((await failureOf(call())).status).toBe(503);
      expect(wire.slept).toEqual([250, 500, 1000]);
    }
  });

  test('with content that JSON does not have is refused', async () => {
    const { app, server, wire } = clientsOn(() => LIST);
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const big = 10n as unknown as number;
    for (const work of [
      server.identities.put('user|1', { attributes: { big } }),
      server.identities.put('user|1', { attributes: cyclic as never }),
      app.patchMyAttributes({ big }),
      createConversations(app).create({ message: big as unknown as string }),
    ])
      expect(await failureOf(work)).toMatchObject({ kind: 'invalid-argument', retryable: false });
    expect(wire.sent).toEqual([]);
  });

  test.each(['', 'a\nb', 'é', '👩'])('with "%s" as a header is refused, and not retried', async text => {
    const { server, wire, attempts } = clientsOn(() => LIST);
    const work = server.questions.update('question_1', { title: 'x' }, { ifMatch: text });
    expect(await failureOf(work)).toMatchObject({ kind: 'invalid-argument', code: 'ifMatch' });
    const created = server.conversations.create({ identity: 'user|1', message: 'x' }, { idempotencyKey: text });
    expect(await failureOf(created)).toMatchObject({ kind: 'invalid-argument', code: 'idempotencyKey' });
    expect([wire.sent, attempts]).toEqual([[], []]);
  });

  test('fails if a proxy replies with other content', async () => {
    for (const reply of [204, { status: 200, body: { status: 'ok' } }]) {
      const { app, server } = clientsOn(() => reply);
      for (const work of [
        server.questions.list().page(),
        server.events.read().page(),
        createConversations(app).list().page(),
        createConversations(app).countUnread(),
        app.listCards(),
        ...(reply === 204 ? [server.questions.read('question_1')] : []),
      ])
        expect(await failureOf(work)).toMatchObject({ kind: 'unreadable', retryable: false });
    }
  });

  test('with options does not send them as a query', async () => {
    const { server, wire } = clientsOn(() => LIST);
    await server.questions.list({ q: 'x' }, { timeoutMs: 1000 }).page();
    await server.identities.read('user|1', { verified: false }, { timeoutMs: 1000 });
    await server.questions.delete('question_1', { ifMatch: '"1"' });
    expect(wire.sent.map(({ url }) => url.search)).toEqual(['?q=x', '?verified=false', '']);
    expect(wire.sent[2]?.headers.get('If-Match')).toBe('"1"');
  });
});

test('the message of an error names fields, code and request id', async () => {
  const body = {
    code: 'validation-failed',
    detail: 'The body does not match the schema.',
    request_id: 'req_7',
    errors: [
      { pointer: '/title', code: 'missing', detail: 'Must be present.' },
      { parameter: 'limit', code: 'range', detail: 'Must be from 1 to 100.' },
    ],
  };
  const { server } = clientsOn(() => ({ status: 422, body }));
  const { message } = await failureOf(server.questions.create({ type: 'nps', title: '' }));
  expect(message).toBe(
    'The body does not match the schema. /title: Must be present. limit: Must be from 1 to 100. (validation-failed, request req_7)',
  );
});

describe('User-Agent', () => {
  test('names the library and its version on Node', async () => {
    const { app, server, wire } = clientsOn(() => LIST);
    await app.listCards();
    await server.ingestion.read();
    expect(wire.sent.map(({ headers }) => headers.get('User-Agent'))).toEqual([SDK, SDK]);
    expect(SDK).toBe(`parley-javascript/${version}`);
  });

  test('is not sent by a page, where it would need a preflight', async () => {
    vi.stubGlobal('document', {});
    const { app, wire } = clientsOn(() => LIST);
    await app.listCards();
    expect(wire.sent[0]?.headers.has('User-Agent')).toBe(false);
  });
});

describe('tokenEndpoint', () => {
  const credential = { access_token: tokenFor('user|1', 3600) };

  test('with a relative address is harmless without a page, and is resolved when used', async () => {
    const wire = createNetwork(() => ({ status: 200, body: credential }));
    const ask = tokenEndpoint('/v1/svc/auth/token', {}, { wire });
    expect(await Promise.resolve(ask()).catch(error => error.kind)).toBe('insecure-url');
    vi.stubGlobal('Request', function Request(this: { url: string }, url: string) {
      this.url = new URL(url, 'https://app.example.com/page').href;
    });
    expect(await ask()).toEqual(credential);
    expect(wire.sent[0]?.url.href).toBe('https://app.example.com/v1/svc/auth/token');
    expect(() => tokenEndpoint('http://app.example.com/token')).toThrow('https');
    expect(() => tokenEndpoint('http://app.example.com/token', {}, { allowHttp: true })).not.toThrow();
  });

  test('takes headers from an async function, for each call', async () => {
    const wire = createNetwork(() => ({ status: 200, body: credential }));
    let n = 0;
    const init = async () => ({ headers: { Authorization: `Bearer ${++n}` } });
    const ask = tokenEndpoint('https://app.example.com/token', init, { wire });
    await ask();
    await ask();
    expect(wire.sent.map(({ method, headers }) => [method, headers.get('Authorization')])).toEqual([
      ['POST', 'Bearer 1'],
      ['POST', 'Bearer 2'],
    ]);
  });

  test.each<[Answered, boolean]>([
    ['no-reply', true],
    [500, true],
    [503, true],
    [429, true],
    [401, false],
    [{ status: 200, body: '<html>' }, false],
  ])('fails with %o, retryable: %s', async (reply, retryable) => {
    const wire = createNetwork(() => reply);
    const ask = tokenEndpoint('https://app.example.com/token', {}, { wire });
    const client = createClient({ baseUrl: BASE, provider: ask, wire, retry: { retries: 0 } });
    expect(await failureOf(client.whoAmI())).toMatchObject({ kind: 'provider-failed', retryable });
  });

  test('a failed fetch of the app is retryable, another error is not', async () => {
    const wire = createNetwork(() => LIST);
    const failing = (error: Error) =>
      createClient({ baseUrl: BASE, provider: () => Promise.reject(error), wire, retry: { retries: 0 } }).whoAmI();
    const network = await fetch('http://127.0.0.1:1').then(
      () => expect.unreachable(),
      error => error,
    );
    expect((await failureOf(failing(network))).retryable).toBe(true);
    expect((await failureOf(failing(new TypeError('x is not a function')))).retryable).toBe(false);
  });
});
