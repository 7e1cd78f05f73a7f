import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  createClient,
  createOutbox,
  memoryStorage,
  type NewAnswer,
  type OutboxStorage,
} from '../../../clients/javascript/src/index.ts';
import { MAX_BATCH, MAX_BATCH_BYTES } from '../../../clients/javascript/src/outbox/batches.ts';
import { MAX_AGE_MS, MAX_ANSWERS } from '../../../clients/javascript/src/outbox/changes.ts';
import { fileStorage } from '../../../clients/javascript/src/outbox/file-storage.ts';
import { contract } from '../contract.ts';
import { type Answered, createNetwork, tokenFor } from './network.ts';

interface FlushReply {
  status: number;
  retry_after?: number;
  results?: (string | { rejected: string })[];
  body?: string;
  meanwhile?: Step[];
}

interface Step {
  do: string;
  at?: number;
  identity?: string;
  answer?: number;
  revision?: number;
  first?: number;
  count?: number;
  comment_bytes?: number;
  provider_failure?: string;
  replies?: ('no-reply' | FlushReply)[];
  sent?: [number, number][][];
  sent_ranges?: [number, number][];
  outcome?: string;
  left?: [number, number, string][];
  left_range?: [number, number];
  lost?: [number, string][];
}

const { limits, cases } = contract('outbox') as {
  limits: Record<string, number>;
  cases: { name: string; steps: Step[] }[];
};

const ID = '00000000-0000-7000-8000-';
const numberOf = (id: string): number => Number(id.slice(ID.length));
const range = ([first, last]: [number, number]): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

const answerOf = (n: number, revision: number, commentBytes = 0): NewAnswer => ({
  id: ID + String(n).padStart(12, '0'),
  revision,
  card_id: `card_${n}`,
  question_id: `question_${n}`,
  question_version: 1,
  state: 'completed',
  values: { main: 5 },
  ...(commentBytes > 0 ? { comment: 'x'.repeat(commentBytes) } : {}),
});

/** Receipts for the items of a request, from the test case. */
function receiptsFor(items: NewAnswer[], results: FlushReply['results']): unknown[] {
  return (results ?? items.map(() => 'accepted')).map((result, index) => ({
    id: items[index]?.id,
    revision: items[index]?.revision,
    ...(typeof result === 'string' ? { status: result } : { status: 'rejected', code: result.rejected }),
  }));
}

/** The response to a request with these items, from the test case. */
function responseFor(items: NewAnswer[], { status, retry_after, results, body }: FlushReply): Answered {
  const headers: Record<string, string> = retry_after ? { 'Retry-After': String(retry_after) } : {};
  const content = body ?? { results: receiptsFor(items, results) };
  return { status, headers, body: status === 202 || body ? content : {} };
}

type Wire = ReturnType<typeof createNetwork>;
type OnLost = (answer: NewAnswer, code: string) => void;

/** A client with an outbox, as after a start of the app. */
function startClient(options: {
  wire: Wire;
  storage: OutboxStorage;
  provider: () => { access_token: string };
  onLost: OnLost;
}) {
  const { wire, storage, provider, onLost } = options;
  const client = createClient({ baseUrl: 'https://feedback.example.com', wire, provider });
  return { client, outbox: createOutbox(client, { storage, onLost, automatic: false }) };
}

function expectSent({ sent, sent_ranges }: Step, wire: Wire): void {
  const actual = wire.sent.map(({ body }) =>
    (body as { answers: NewAnswer[] }).answers.map(({ id, revision }) => [numberOf(id), revision]),
  );
  if (sent) expect(actual).toEqual(sent);
  if (sent_ranges) expect(actual).toEqual(sent_ranges.map(ends => range(ends).map(n => [n, 1])));
}

async function expectLeft({ left, left_range }: Step, outbox: ReturnType<typeof createOutbox>): Promise<void> {
  if (!left && !left_range) return;
  const actual = (await outbox.waiting()).map(entry => [numberOf(entry.id), entry.answer.revision, entry.identity]);
  if (left) expect(actual).toEqual(left);
  if (left_range) expect(actual.map(([n]) => n)).toEqual(range(left_range));
}

/** Plays the steps of one case: a persistent storage, and a client that a restart creates again. */
function createCase(makeStorage: () => OutboxStorage) {
  let identity = 'user|1';
  let failure: string | undefined;
  let replies: NonNullable<Step['replies']> = [];
  let lost: [number, string][] = [];
  const wire = createNetwork(async ({ body }): Promise<Answered> => {
    const reply = replies.shift();
    if (reply === undefined) throw new Error('unexpected request');
    if (reply === 'no-reply') return reply;
    for (const step of reply.meanwhile ?? []) await run(step);
    return responseFor((body as { answers: NewAnswer[] }).answers, reply);
  });
  const start = () =>
    startClient({
      wire,
      storage: makeStorage(),
      provider() {
        if (failure !== undefined) throw new Error(failure);
        return { access_token: tokenFor(identity, 1e9) };
      },
      onLost: ({ id }, code) => void lost.push([numberOf(id), code]),
    });
  let process = start();

  /** Makes the current token belong to a user. */
  async function become(user: string): Promise<void> {
    if (user !== identity) {
      identity = user;
      process.client.logout();
    }
    if (failure === undefined) await process.client.owner();
  }

  const actions: Record<string, (step: Step) => Promise<unknown>> = {
    async record({ identity: user = '', answer = 0, revision = 0, comment_bytes }) {
      await become(user);
      await process.outbox.record(answerOf(answer, revision, comment_bytes));
    },
    async record_many({ identity: user = '', first = 0, count = 0 }) {
      await become(user);
      for (const n of range([first, first + count - 1])) await process.outbox.record(answerOf(n, 1));
    },
    async logout(step) {
      identity = step.identity ?? identity;
      process.client.logout();
    },
    restart: async () => (process = start()),
    async flush(step) {
      failure = step.provider_failure;
      if (failure !== undefined) process.client.logout();
      else await become(step.identity ?? identity);
      expect((await process.outbox.flush()).outcome).toBe(step.outcome);
    },
    left: async () => undefined, // only compares
    async flush_twice(step) {
      const both = await Promise.all([process.outbox.flush(), process.outbox.flush()]);
      expect(both.map(({ outcome }) => outcome)).toEqual([step.outcome, step.outcome]);
    },
  };

  async function run(step: Step): Promise<void> {
    const action = actions[step.do];
    if (!action) throw new Error(`no such step: ${step.do}`);
    await action(step);
  }

  return async (step: Step): Promise<void> => {
    wire.setTime(step.at ?? 0);
    wire.sent.length = 0;
    replies = [...(step.replies ?? [])];
    lost = [];
    failure = undefined;
    await run(step);
    expectSent(step, wire);
    await expectLeft(step, process.outbox);
    expect(lost).toEqual(step.lost ?? []);
    expect(replies).toEqual([]);
  };
}

test('the limits are those of the contract', () => {
  expect({
    answers: MAX_ANSWERS,
    days: MAX_AGE_MS / 86_400_000,
    batch_answers: MAX_BATCH,
    batch_bytes: MAX_BATCH_BYTES,
  }).toEqual(limits);
});

describe('outbox.json, in memory', () => {
  test.each(cases)('$name', async ({ steps }) => {
    const storage = memoryStorage();
    const play = createCase(() => storage);
    for (const step of steps) await play(step);
  });
});

describe('outbox.json, in files', () => {
  // The two cases with hundreds of answers would sync as many files and do not test the storage.
  test.each(cases.filter(({ steps }) => !steps.some(({ count = 0 }) => count > 200)))('$name', async ({ steps }) => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-outbox-'));
    try {
      const play = createCase(() => fileStorage(folder));
      for (const step of steps) await play(step);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('a file half written at a kill is ignored', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-outbox-'));
    await writeFile(join(folder, `${ID}000000000001.json.part`), '{"id":');
    expect(await fileStorage(folder).list()).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
    await rm(folder, { recursive: true });
  });
});
