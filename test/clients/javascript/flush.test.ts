import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  browserStorage,
  createClient,
  createOutbox,
  memoryStorage,
  type NewAnswer,
  type OutboxOptions,
  type Wire,
} from '../../../clients/javascript/src/index.ts';
import { type Answered, createNetwork, type Sent, tokenFor } from './network.ts';

afterEach(() => void vi.useRealTimers());

const ID = '0197a0c2-0000-7000-8000-000000000001';
const answerWith = (more: Partial<NewAnswer> = {}): NewAnswer => ({
  id: ID,
  revision: 1,
  card_id: 'card_1',
  question_id: 'question_1',
  question_version: 1,
  state: 'completed',
  values: { main: 9 },
  ...more,
});
const acceptAll = ({ body }: Sent): Answered => {
  const { answers } = body as { answers: NewAnswer[] };
  return { status: 202, body: { results: answers.map(({ id, revision }) => ({ id, revision, status: 'accepted' })) } };
};

function outboxOn(
  answer: (sent: Sent, index: number) => Promise<Answered> | Answered,
  options: OutboxOptions = {},
  change = (network: Wire): Wire => network,
) {
  const wire = createNetwork(answer);
  const provider = () => ({ access_token: tokenFor('user|1', 3600) });
  const client = createClient({ baseUrl: 'https://feedback.example.com', provider, wire: change(wire) });
  return { wire, client, outbox: createOutbox(client, { storage: memoryStorage(), automatic: false, ...options }) };
}
const NEVER = new Promise<never>(() => {});

test('an answer that cannot be sent is refused, and holds up no other', async () => {
  const { wire, outbox } = outboxOn(acceptAll);
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  for (const metadata of [{ big: 10n }, cyclic])
    await expect(outbox.record(answerWith({ metadata: metadata as never }))).rejects.toMatchObject({
      kind: 'invalid-argument',
    });
  await outbox.record(answerWith());
  expect(await outbox.flush()).toEqual({ outcome: 'done' });
  expect(wire.sent).toHaveLength(1);
});

test('on a slow network, requests that take too long become smaller until they arrive, and then larger', async () => {
  let most = 2;
  const { wire, outbox } = outboxOn(acceptAll, {}, network => ({
    ...network,
    timeoutMs: 20,
    fetch(url, init = {}) {
      if (JSON.parse(String(init.body)).answers.length <= most) return network.fetch(url, init);
      return new Promise((_, reject) => {
        init.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      });
    },
  }));
  const idOf = (n: number) => ID.slice(0, -2) + String(n).padStart(2, '0');
  const record = async (first: number, last: number) => {
    for (let n = first; n <= last; n++) await outbox.record(answerWith({ id: idOf(n) }));
  };
  await record(1, 6);
  const outcomes = [await outbox.flush(), await outbox.flush()].map(({ outcome }) => outcome);
  expect(outcomes).toEqual(['later', 'later']); // six, then three answers
  expect((await outbox.flush()).outcome).toBe('later'); // two arrive, and four do not
  expect((await outbox.flush()).outcome).toBe('done');
  expect(wire.sent.map(({ body }) => (body as { answers: unknown[] }).answers.length)).toEqual([2, 2, 2]);
  most = 100;
  await record(7, 30);
  await outbox.flush();
  const last = wire.sent.at(-1)?.body as { answers: unknown[] } | undefined;
  expect(last?.answers.length).toBeGreaterThan(10);
});

describe('an answer that a firewall refuses', () => {
  test('is tried again an hour later, without further calls', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const replies: Answered[] = [403, 403];
    const { wire, outbox } = outboxOn(sent => replies.shift() ?? acceptAll(sent), { automatic: true });
    await vi.advanceTimersByTimeAsync(0);
    await outbox.record(answerWith());
    expect(await outbox.flush()).toEqual({ outcome: 'later', nextTryMs: 3_600_000 });
    for (const hour of [1, 2]) {
      await vi.advanceTimersByTimeAsync(3_599_999);
      expect(wire.sent).toHaveLength(hour);
      wire.setTime(hour * 3600);
      await vi.advanceTimersByTimeAsync(1);
      expect(wire.sent).toHaveLength(hour + 1);
    }
    expect(await outbox.waiting()).toEqual([]);
    outbox.close();
  });

  test('is reported to the app, and to one of the views', async () => {
    const reported: unknown[] = [];
    const { outbox } = outboxOn(() => 406, { onRefused: ({ id }, code) => reported.push([id, code]) });
    const views: string[] = [];
    const forget = outbox.onRefused?.(({ code }) => views.push(`first ${code}`));
    outbox.onRefused?.(({ code, status }) => views.push(`second ${code} ${status}`));
    await outbox.record(answerWith());
    await outbox.flush();
    forget?.();
    await outbox.record(answerWith({ id: ID.replace(/1$/, '2') }));
    await outbox.flush();
    expect(views).toEqual(['first refused', 'second refused 406']);
    expect(reported).toEqual([
      [ID, 'refused'],
      [ID.replace(/1$/, '2'), 'refused'],
    ]);
  });

  test('does not leave with the page together with the others', async () => {
    const { wire, client, outbox } = outboxOn(sent => (wire.sent.length === 1 ? 403 : acceptAll(sent)));
    await client.owner();
    await outbox.record(answerWith());
    await outbox.flush();
    const second = ID.replace(/1$/, '2');
    await outbox.record(answerWith({ id: second }));
    outbox.flushBeyondPage();
    const sent = wire.sent.map(({ body }) => (body as { answers: NewAnswer[] }).answers.map(({ id }) => id));
    expect(sent).toEqual([[ID], [second]]);
  });
});

test.each([undefined, null, new Error('denied')])(
  'an outbox without a database of the browser (%s) keeps answers in memory',
  async found => {
    const get = () => {
      if (found) throw found;
      return found;
    };
    Object.defineProperty(globalThis, 'indexedDB', { configurable: true, get });
    try {
      const { outbox } = outboxOn(acceptAll, { storage: browserStorage() });
      await outbox.record(answerWith());
      expect((await outbox.waiting()).map(({ id }) => id)).toEqual([ID]);
      expect(await outbox.flush()).toEqual({ outcome: 'done' });
    } finally {
      Reflect.deleteProperty(globalThis, 'indexedDB');
    }
  },
);

test('an answer is stored as it is sent: storages of browsers refuse functions and proxies', async () => {
  const storage = memoryStorage();
  const { outbox } = outboxOn(acceptAll, {
    storage: { ...storage, put: async entry => storage.put(structuredClone(entry)) },
  });
  const metadata = new Proxy({ plan: 'pro', format: () => '' }, {}) as never;
  await outbox.record(answerWith({ metadata }));
  expect((await outbox.waiting()).map(({ answer }) => answer.metadata)).toEqual([{ plan: 'pro' }]);
});

describe('a flush that is cancelled', () => {
  test('while the server works ends at once, and the next one sends the same answer', async () => {
    const cancel = new AbortController();
    const { wire, outbox } = outboxOn((sent, index) => {
      if (index > 0) return acceptAll(sent);
      cancel.abort(new Error('the app is closed'));
      return NEVER;
    });
    await outbox.record(answerWith());
    const cancelled = outbox.flush({ signal: cancel.signal });
    await expect(cancelled).rejects.toMatchObject({ kind: 'aborted', cause: { message: 'the app is closed' } });
    expect((await outbox.waiting()).map(({ id }) => id)).toEqual([ID]);
    expect(await outbox.flush()).toEqual({ outcome: 'done' });
    expect(await outbox.waiting()).toEqual([]);
    expect(wire.sent.map(({ body }) => (body as { answers: NewAnswer[] }).answers[0]?.id)).toEqual([ID, ID]);
  });

  test('sends no further batch', async () => {
    const cancel = new AbortController();
    const { wire, outbox } = outboxOn(sent => {
      cancel.abort();
      return acceptAll(sent);
    });
    for (const last of ['1', '2'])
      await outbox.record(answerWith({ id: `${ID.slice(0, -1)}${last}`, comment: 'x'.repeat(30_000) }));
    await expect(outbox.flush({ signal: cancel.signal })).rejects.toMatchObject({ kind: 'aborted' });
    expect(wire.sent).toHaveLength(1);
    expect(await outbox.flush()).toEqual({ outcome: 'done' });
    expect(wire.sent).toHaveLength(3); // the reply of the first batch was not awaited
  });

  test('before it begins sends nothing', async () => {
    const { wire, outbox } = outboxOn(acceptAll);
    await outbox.record(answerWith());
    await expect(outbox.flush({ signal: AbortSignal.abort() })).rejects.toMatchObject({ kind: 'aborted' });
    expect(wire.sent).toEqual([]);
    expect(await outbox.waiting()).toHaveLength(1);
  });

  test('while it waits for another one does not stop that', async () => {
    const release = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const { outbox } = outboxOn(async sent => {
      reached.resolve();
      await release.promise;
      return acceptAll(sent);
    });
    await outbox.record(answerWith());
    const first = outbox.flush();
    await reached.promise;
    const cancel = new AbortController();
    const second = outbox.flush({ signal: cancel.signal });
    cancel.abort();
    await expect(second).rejects.toMatchObject({ kind: 'aborted' });
    release.resolve();
    expect(await first).toEqual({ outcome: 'done' });
  });

  test('is not retried by a timer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const cancel = new AbortController();
    const { wire, outbox } = outboxOn(
      () => {
        cancel.abort();
        return NEVER;
      },
      { automatic: true },
    );
    await vi.advanceTimersByTimeAsync(0);
    await outbox.record(answerWith());
    await expect(outbox.flush({ signal: cancel.signal })).rejects.toMatchObject({ kind: 'aborted' });
    await vi.advanceTimersByTimeAsync(24 * 3_600_000);
    expect(wire.sent).toHaveLength(1);
    outbox.close();
  });
});

test('a value or a metadata field named __proto__ arrives, so that the server can refuse it', async () => {
  const lost: unknown[] = [];
  const { wire, outbox } = outboxOn(
    () => ({
      status: 202,
      body: { results: [{ id: ID, revision: 1, status: 'rejected', code: 'validation-failed' }] },
    }),
    { onLost: (_, code) => lost.push(code) },
  );
  const odd = JSON.parse('{"values":{"main":9,"__proto__":{"main":1}},"metadata":{"__proto__":"a"}}');
  await outbox.record(answerWith(odd));
  await outbox.flush();
  const [sent] = (wire.sent as { body: { answers: NewAnswer[] } }[]).flatMap(({ body }) => body.answers);
  expect(JSON.parse(JSON.stringify(sent))).toEqual(JSON.parse(JSON.stringify(answerWith(odd))));
  expect(Object.keys(sent?.values ?? {})).toEqual(['main', '__proto__']);
  expect(lost).toEqual(['validation-failed']);
});
