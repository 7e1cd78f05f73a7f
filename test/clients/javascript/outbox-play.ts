import { expect } from 'vitest';
import {
  type Client,
  createClient,
  createOutbox,
  type NewAnswer,
  type Outbox,
  type OutboxStorage,
  ParleyError,
} from '../../../clients/javascript/src/index.ts';
import { type Answered, createNetwork, type Sent, tokenFor } from './network.ts';

interface FlushReply {
  status: number;
  retry_after?: number;
  code?: string;
  results?: (string | { rejected: string })[];
  body?: string;
  meanwhile?: Step[];
}

export interface Step {
  do: string;
  at?: number;
  identity?: string;
  verified?: false;
  cards?: number[];
  answer?: number;
  revision?: number;
  first?: number;
  count?: number;
  comment_bytes?: number;
  answered_at?: number;
  provider_failure?: string;
  provider_hangs?: true;
  timeout_ms?: number;
  storage?: 'full' | 'down';
  unread?: number;
  failure?: string;
  replies?: ('no-reply' | FlushReply)[];
  sent?: [number, number][][];
  sent_ranges?: [number, number][];
  outcome?: string;
  left?: [number, number, string][];
  left_range?: [number, number];
  lost?: [number, string][];
  refused?: number[];
}

export const ID = '00000000-0000-7000-8000-';
const numberOf = (id: string): number => Number(id.slice(ID.length));
const range = ([first, last]: [number, number]): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

export const answerOf = (n: number, revision: number, commentBytes = 0): NewAnswer => ({
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
function responseFor(items: NewAnswer[], { status, retry_after, code, results, body }: FlushReply): Answered {
  const headers: Record<string, string> = retry_after ? { 'Retry-After': String(retry_after) } : {};
  if (code) return { status, headers, body: { title: 'Refused', status, code } };
  const content = body ?? { results: receiptsFor(items, results) };
  return { status, headers, body: status === 202 || body ? content : {} };
}

type Wire = ReturnType<typeof createNetwork>;
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

/** A storage with faults: `full` refuses new entries, `down` everything; the answer `unread` cannot be read. */
export function withFaults(
  storage: OutboxStorage,
  faultOf: () => Step['storage'],
  unread: () => number | undefined = () => undefined,
): OutboxStorage {
  const failure = new Error('the disk refuses');
  const refuse = () => Promise.reject(failure);
  const read = async () => {
    const stored = await storage.list();
    return stored.map(entry => (numberOf(entry.id) === unread() ? { id: entry.id, failure } : entry));
  };
  return {
    ...storage,
    list: () => (faultOf() === 'down' ? refuse() : read()),
    put: entry => (faultOf() ? refuse() : storage.put(entry)),
    remove: id => (faultOf() === 'down' ? refuse() : storage.remove(id)),
  };
}

/** A persistent storage. */
export interface Shelf {
  open(): OutboxStorage;
  /** Makes an entry unreadable. */
  damage(id: string): Promise<void>;
}

/** Plays the steps of one case with a client, which a restart creates again. */
export class OutboxPlay {
  private identity = 'user|1';
  private verified = true;
  private cards: number[] = [];
  private step: Step = { do: 'nothing' };
  private replies: NonNullable<Step['replies']> = [];
  private lost: [number, string][] = [];
  private refused: number[] = [];
  private readonly wire: Wire = createNetwork(sent => this.answer(sent));
  private process: { client: Client; outbox: Outbox };

  constructor(
    private readonly shelf: Shelf,
    private readonly timeoutMs = 5000,
  ) {
    this.process = this.start();
  }

  /** A client with an outbox, as after a start of the app. */
  private start() {
    const client = createClient({
      baseUrl: 'https://feedback.example.com',
      wire: { ...this.wire, timeoutMs: this.timeoutMs },
      provider: () => {
        const { provider_failure, provider_hangs } = this.step;
        if (provider_hangs) return new Promise(() => undefined);
        if (provider_failure !== undefined) throw new Error(provider_failure);
        return { access_token: tokenFor(this.identity, 1e9), ...(this.verified ? {} : { verified: false }) };
      },
    });
    const storage = withFaults(
      this.shelf.open(),
      () => this.step.storage,
      () => this.step.unread,
    );
    const onLost = ({ id }: { id: string }, code: string) => void this.lost.push([numberOf(id), code]);
    const onRefused = ({ id }: { id: string }, code: string, error: ParleyError) => {
      expect([code, error.code]).toEqual(['refused', 'refused']);
      this.refused.push(numberOf(id));
    };
    return { client, outbox: createOutbox(client, { storage, onLost, onRefused, automatic: false }) };
  }

  private async answer({ body, url }: Sent): Promise<Answered> {
    if (url.pathname === '/v1/cards')
      return { status: 200, body: { data: this.cards.map(n => ({ id: `card_${n}` })) } };
    const reply = this.replies.shift();
    if (reply === undefined) throw new Error('unexpected request');
    if (reply === 'no-reply') return reply;
    for (const step of reply.meanwhile ?? []) await this.run(step);
    return responseFor((body as { answers: NewAnswer[] }).answers, reply);
  }

  /** Makes the current token belong to the user of a step. */
  private async become({ identity = this.identity, verified = true }: Step): Promise<void> {
    if (identity !== this.identity || verified !== this.verified) {
      this.identity = identity;
      this.verified = verified;
      this.process.client.logout();
    }
    await this.process.client.owner();
  }

  private async record(answer: NewAnswer, { failure }: Step): Promise<void> {
    const recorded = this.process.outbox.record(answer);
    if (failure === undefined) return recorded;
    const error = await recorded.catch(thrown => thrown);
    expect(error).toBeInstanceOf(ParleyError);
    expect(error).toMatchObject({ kind: failure, retryable: true });
  }

  private readonly actions: Record<string, (step: Step) => Promise<unknown>> = {
    fetch_cards: async step => {
      await this.become(step);
      this.cards = step.cards ?? [];
      await this.process.client.listCards();
      this.wire.sent.length = 0;
    },
    record: async step => {
      await this.become(step);
      const answer = answerOf(step.answer as number, step.revision as number, step.comment_bytes);
      if (step.answered_at !== undefined) answer.answered_at = new Date(step.answered_at * 1000).toISOString();
      await this.record(answer, step);
    },
    record_many: async step => {
      await this.become(step);
      const { first = 0, count = 0 } = step;
      for (const n of range([first, first + count - 1])) await this.record(answerOf(n, 1), step);
    },
    logout: async step => {
      this.identity = step.identity ?? this.identity;
      this.process.client.logout();
    },
    restart: async () => (this.process = this.start()),
    damage: step => this.shelf.damage(answerOf(step.answer as number, 1).id),
    flush: async step => {
      if (step.provider_failure !== undefined || step.provider_hangs) this.process.client.logout();
      else await this.become(step);
      const flushed = await this.process.outbox.flush();
      expect(flushed.outcome).toBe(step.outcome);
      if (step.failure) expect(flushed.error).toMatchObject({ kind: step.failure });
    },
    left: async () => undefined, // only compares
    flush_twice: async step => {
      const both = await Promise.all([this.process.outbox.flush(), this.process.outbox.flush()]);
      expect(both.map(({ outcome }) => outcome)).toEqual([step.outcome, step.outcome]);
    },
  };

  private async run(step: Step): Promise<void> {
    const action = this.actions[step.do];
    if (!action) throw new Error(`no such step: ${step.do}`);
    await action(step);
  }

  async play(step: Step): Promise<void> {
    this.step = step;
    this.wire.setTime(step.at ?? 0);
    this.wire.sent.length = 0;
    this.replies = [...(step.replies ?? [])];
    this.lost = [];
    this.refused = [];
    await this.run(step);
    this.step = { do: 'nothing' };
    expectSent(step, this.wire);
    await expectLeft(step, this.process.outbox);
    expect(this.lost).toEqual(step.lost ?? []);
    expect(this.refused).toEqual(step.refused ?? []);
    expect(this.replies).toEqual([]);
  }
}
