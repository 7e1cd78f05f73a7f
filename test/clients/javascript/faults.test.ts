import fs, { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  createClient,
  createOutbox,
  type Entry,
  memoryStorage,
  type OutboxStorage,
  publicTokens,
  tokenEndpoint,
} from '../../../clients/javascript/src/index.ts';
import { fileStorage } from '../../../clients/javascript/src/outbox/file-storage.ts';
import { createServerClient } from '../../../clients/javascript/src/server/index.ts';
import { waitFor } from '../../support/wait.ts';
import { type Answered, createNetwork, tokenFor } from './network.ts';
import { answerOf } from './outbox-play.ts';

const last = (path: unknown) => String(path).split('/').at(-1)?.slice(-9);

/** Records the calls of the real file system that make a file durable, in order, until the end of the scope. */
function recordCalls(): Disposable & { calls: string[] } {
  const calls: string[] = [];
  const { open: openFile, rename } = fs;
  const opened = vi.spyOn(fs, 'open').mockImplementation(async (...args) => {
    const handle = await openFile(...args);
    for (const call of ['writeFile', 'sync', 'close'] as const) {
      const before = handle[call].bind(handle) as (...given: unknown[]) => Promise<void>;
      Object.assign(handle, {
        [call]: (...given: unknown[]) => {
          calls.push(`${call} ${last(args[0])}`);
          return before(...given);
        },
      });
    }
    return handle;
  });
  const renamed = vi.spyOn(fs, 'rename').mockImplementation((from, to) => {
    calls.push(`rename ${last(from)} ${last(to)}`);
    return rename(from, to);
  });
  syncBuiltinESMExports();
  return {
    calls,
    [Symbol.dispose]() {
      opened.mockRestore();
      renamed.mockRestore();
      syncBuiltinESMExports();
    },
  };
}

const stack = new AsyncDisposableStack();

const BASE = 'https://feedback.example.com';
const ACCEPTED: Answered = { status: 202, body: { results: [{ status: 'accepted' }] } };

/** An outbox of a user, with its network. */
function open(answer: () => Answered | Promise<Answered>, options: { storage?: OutboxStorage; user?: string } = {}) {
  const { storage = memoryStorage(), user = 'user|1' } = options;
  const wire = createNetwork(answer);
  const provider = () => ({ access_token: tokenFor(user, 1e9) });
  const client = createClient({ baseUrl: BASE, wire, provider });
  return { wire, client, storage };
}

describe('the outbox', () => {
  test('flushes again after a failure, without further calls', async () => {
    const replies: Answered[] = [503, 'no-reply', ACCEPTED];
    const { wire, client, storage } = open(() => replies.shift() as Answered);
    const outbox = createOutbox(client, { storage, retry: { baseMs: 1 } });
    await outbox.record(answerOf(1, 1));
    expect((await outbox.flush()).outcome).toBe('later');
    await waitFor(() => wire.sent.length === 3);
    await waitFor(async () => (await outbox.waiting()).length === 0);
    outbox.close();
  });

  test('sends and retries although callbacks of the app throw, and reports their errors', async () => {
    using reported = vi.spyOn(console, 'error').mockReturnValue();
    const rejected = { status: 'rejected', code: 'invalid-value' };
    const replies: Answered[] = [503, { status: 202, body: { results: [rejected, rejected] } }];
    const fail = () => {
      throw new Error('the app is broken');
    };
    const { wire, storage } = open(() => replies.shift() as Answered);
    const provider = () => ({ access_token: tokenFor('user|1', 1e9) });
    const client = createClient({ baseUrl: BASE, wire, provider, onAttempt: fail });
    for (const n of [1, 2]) {
      const answer = answerOf(n, 1);
      const owner = { tenant: 'tenant_1', identity: 'user|1' };
      await storage.put({ ...owner, id: answer.id, answer, recordedAt: 0, place: n });
    }
    const outbox = createOutbox(client, { storage, onLost: fail, retry: { baseMs: 1 } });
    await waitFor(() => wire.sent.length === 2); // the second request is sent by the retry timer
    await waitFor(async () => (await outbox.waiting()).length === 0);
    outbox.close();
    expect(reported.mock.calls.map(([error]) => (error as Error).message)).toEqual(
      Array(4).fill('the app is broken'), // two attempts, two lost answers
    );
  });

  test('retries a flush in the background that fails without a `ParleyError`', async () => {
    using reported = vi.spyOn(console, 'error').mockReturnValue();
    const { wire, client, storage } = open(() => ACCEPTED);
    await createOutbox(client, { storage, automatic: false }).record(answerOf(1, 1));
    vi.spyOn(client, 'owner').mockRejectedValueOnce(new Error('a bug'));
    const outbox = createOutbox(client, { storage, retry: { baseMs: 1 } });
    await waitFor(() => wire.sent.length === 1);
    outbox.close();
    expect(reported.mock.calls).toEqual([[new Error('a bug')]]);
  });

  test('sends an answer at once if it is only in memory', async () => {
    const storage: OutboxStorage = { ...memoryStorage(), put: () => Promise.reject(new Error('quota exceeded')) };
    const { wire, client } = open(() => ACCEPTED);
    const outbox = createOutbox(client, { storage });
    await expect(outbox.record(answerOf(1, 1))).rejects.toMatchObject({ kind: 'storage-failed' });
    await waitFor(() => wire.sent.length === 1);
    outbox.close();
  });

  test('of one page sends while the provider of another page hangs', async () => {
    const { storage, client, wire } = open(() => ACCEPTED);
    const hanging = createClient({
      baseUrl: BASE,
      wire: { ...wire, timeoutMs: 500 },
      provider: () => new Promise(() => {}),
    });
    const outbox = createOutbox(client, { storage, automatic: false });
    await outbox.record(answerOf(1, 1));
    const other = createOutbox(hanging, { storage, automatic: false }).flush();
    const first = await Promise.race([outbox.flush(), other.then(() => 'the other')]);
    expect(first).toEqual({ outcome: 'done' });
    expect((await other).error).toMatchObject({ kind: 'provider-failed', retryable: true });
  });

  test('does not wait for ever for a lock', async () => {
    const storage: OutboxStorage = {
      ...memoryStorage(),
      exclusively: (name, work) => (name === 'flush' ? new Promise(() => {}) : work()),
    };
    const { client } = open(() => ACCEPTED);
    const outbox = createOutbox(client, { storage, automatic: false, storageTimeoutMs: 20 });
    await outbox.record(answerOf(1, 1));
    expect(await outbox.flush()).toMatchObject({ outcome: 'later', error: { kind: 'storage-failed' } });
  });

  test('reports a storage that hangs', async () => {
    const storage: OutboxStorage = { ...memoryStorage(), put: () => new Promise(() => {}) };
    const { client, wire } = open(() => ACCEPTED);
    const outbox = createOutbox(client, { storage, automatic: false, storageTimeoutMs: 20 });
    await expect(outbox.record(answerOf(1, 1))).rejects.toMatchObject({ kind: 'storage-failed', retryable: true });
    expect((await outbox.flush()).outcome).toBe('done');
    expect(wire.sent).toHaveLength(1);
  });

  test.each([true, false])(
    'sends entries of older versions with a token of either kind (verified: %s)',
    async verified => {
      const storage = memoryStorage();
      const owner = { tenant: 'tenant_1', identity: 'user|1' };
      await storage.put({ ...owner, id: answerOf(1, 1).id, answer: answerOf(1, 1), recordedAt: 0, place: 1 } as Entry);
      const { wire } = open(() => ACCEPTED);
      const provider = () => ({ access_token: tokenFor('user|1', 1e9), verified });
      const outbox = createOutbox(createClient({ baseUrl: BASE, wire, provider }), { storage, automatic: false });
      expect(await outbox.flush()).toEqual({ outcome: 'done' });
      expect(wire.sent).toHaveLength(1);
    },
  );
});

test('a file is written, synced, renamed, and its folder synced', async () => {
  using recorded = recordCalls();
  const folder = await mkdtemp(join(tmpdir(), 'parley-'));
  try {
    const answer = answerOf(1, 1);
    const owner = { tenant: 'tenant_1', identity: 'user|1' };
    await fileStorage(folder).put({ ...owner, id: answer.id, answer, recordedAt: 0, place: 1 });
    expect(recorded.calls.map(call => call.replace(folder.slice(-9), 'folder'))).toEqual([
      'writeFile json.part',
      'sync json.part',
      'close json.part',
      'rename json.part 0001.json',
      'sync folder',
      'close folder',
    ]);
    expect(await readdir(folder)).toEqual([`${answer.id}.json`]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

/** Makes one file unreadable with an error of the system, until the end of the scope. */
function failToRead(name: string, code: string): Disposable {
  const { readFile } = fs;
  const read = vi
    .spyOn(fs, 'readFile')
    .mockImplementation(((path: string, ...rest: []) =>
      path.endsWith(name)
        ? Promise.reject(Object.assign(new Error(`${code}: the system refuses`), { code }))
        : readFile(path, ...rest)) as typeof readFile);
  syncBuiltinESMExports();
  return {
    [Symbol.dispose]() {
      read.mockRestore();
      syncBuiltinESMExports();
    },
  };
}

describe('a folder', () => {
  const owner = { tenant: 'tenant_1', identity: 'user|1' };
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-'));
    const storage = fileStorage(folder);
    for (const n of [1, 2, 3]) {
      const answer = answerOf(n, 1);
      await storage.put({ ...owner, id: answer.id, answer, recordedAt: 0, place: n });
    }
  });
  afterEach(() => rm(folder, { recursive: true }));

  test.each(['EMFILE', 'EACCES', 'EIO', 'EPERM'])(
    'keeps a file that cannot be read for a moment (%s), and the others are sent',
    async code => {
      const lost: string[] = [];
      const { client, wire } = open(() => ({ status: 202, body: { results: [{ status: 'accepted' }] } }));
      const onLost = ({ id }: { id: string }) => void lost.push(id);
      const outbox = createOutbox(client, { storage: fileStorage(folder), automatic: false, onLost });
      const { id } = answerOf(2, 1);
      {
        using _ = failToRead(`${id}.json`, code);
        for (let round = 0; round < 2; round++) await outbox.flush(); // each reply has one receipt
        expect(await outbox.flush()).toMatchObject({ outcome: 'later', error: { kind: 'storage-failed' } });
        await expect(outbox.waiting()).rejects.toMatchObject({ kind: 'storage-failed' });
      }
      expect(await readdir(folder)).toEqual([`${id}.json`]);
      expect(await outbox.flush()).toEqual({ outcome: 'done' });
      const sent = wire.sent.flatMap(({ body }) =>
        (body as { answers: { id: string }[] }).answers.map(each => each.id),
      );
      expect(sent.at(-1)).toBe(id);
      expect(lost).toEqual([]);
    },
  );

  test('ignores what is not its own', async () => {
    await writeFile(join(folder, '%.json'), '{}');
    await mkdir(join(folder, 'folder.json'));
    expect(await fileStorage(folder).list()).toHaveLength(3);
    expect(await readdir(folder)).toHaveLength(5);
  });
});

test('a flush that has given up the wait for its lock does not send when the lock is free', async () => {
  const storage = memoryStorage();
  const reached = Promise.withResolvers<void>();
  const reply = Promise.withResolvers<Answered>();
  const first = open(
    () => {
      reached.resolve();
      return reply.promise;
    },
    { storage },
  );
  const second = open(() => ACCEPTED, { storage, user: 'user|2' });
  const outbox = createOutbox(first.client, { storage, automatic: false });
  const other = createOutbox(second.client, { storage, automatic: false, storageTimeoutMs: 20 });
  await outbox.record(answerOf(1, 1));
  await other.record(answerOf(2, 1));
  const flushing = outbox.flush();
  await reached.promise;
  expect(await other.flush()).toMatchObject({ outcome: 'later', error: { kind: 'storage-failed' } });
  reply.resolve(ACCEPTED);
  expect(await flushing).toEqual({ outcome: 'done' });
  await storage.exclusively('flush', async () => undefined); // behind all that wait for the lock
  expect(second.wire.sent).toEqual([]);
  expect(await other.flush()).toEqual({ outcome: 'done' });
  expect(second.wire.sent).toHaveLength(1);
});

describe('a redirect', () => {
  /** A server that redirects each request to a page that would accept it. */
  async function serve() {
    const reached: string[] = [];
    const server = createServer((request, response) => {
      if (request.url !== '/elsewhere') return void response.writeHead(307, { Location: '/elsewhere' }).end();
      reached.push(request.headers.authorization ?? '');
      response.end(JSON.stringify({ access_token: tokenFor('user|1', 1e9), data: [] }));
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    stack.defer(() => server.close());
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, reached };
  }
  afterAll(() => stack.disposeAsync());

  test('is not followed: it could carry a credential elsewhere', async () => {
    const { url, reached } = await serve();
    const provider = () => ({ access_token: tokenFor('user|1', 1e9) });
    const calls: (() => unknown)[] = [
      () => createServerClient({ baseUrl: url, apiKey: 'sk_1' }).ingestion.read(),
      () => createClient({ baseUrl: url, provider }).listCards(),
      () => publicTokens({ baseUrl: url, tenantId: 'tenant_1', keyId: 'key_1', userId: () => '1' })(),
      () => tokenEndpoint(`${url}/v1/svc/auth/token`)(),
    ];
    for (const call of calls) {
      const error = await Promise.resolve(call()).catch(thrown => thrown);
      expect(error).toMatchObject({ kind: 'unreadable', status: 307, retryable: false });
      expect(error.message).toContain('redirect');
    }
    expect(reached).toEqual([]);
  });
});
