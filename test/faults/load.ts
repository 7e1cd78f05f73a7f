import { setTimeout as sleep } from 'node:timers/promises';
import { anAnswer } from '../support/make.ts';
import { type Client, createClient } from './client.ts';
import type { Ledger, ReplyStatus } from './ledger.ts';

/** A tenant for which answers are sent, with its key and one of its questions. */
export interface Sender {
  uuid: string;
  apiKey: string;
  questionId: string;
}

export interface LoadOptions {
  /** Target addresses, used in rotation. Called before each request, so that an address can be removed. */
  addresses(): string[];
  senders: Sender[];
  /** Answers per request, 1 to 100. */
  batch: number;
  /** Concurrent clients, each of which waits for its reply. */
  lanes: number;
  /** Requests started per second by all clients together; if absent, as many as possible. */
  perSecond?: number;
  /** The number of acknowledged requests after which it ends; if absent, it runs until stopped. */
  requests?: number;
  timeoutMs?: number;
  /** Whether all clients connect before the first request is sent; by default they connect as needed. */
  connectFirst?: boolean;
  /** Whether unacknowledged requests are sent again with the same ids; true by default. */
  retries?: boolean;
  /** The pause before a retry, numbered from 1; 100 ms by default. */
  pauseMs?(retry: number): number;
  /** Additional fields of the answer at this index of this request. */
  fields?(request: number, place: number): Record<string, unknown>;
}

/** A reply, or its absence. Times in milliseconds of `Date.now()`. */
export interface Reply {
  at: number;
  ms: number;
  status: ReplyStatus;
  /** The attempt of its request, from 1. */
  attempt: number;
  /** Whether it had a `Retry-After`. */
  retryAfter: boolean;
  address: string;
  /** The cause if no reply arrived, or the code of the problem if it was not 202. */
  failure?: string;
}

/** An answer on the wire; the sender names the user. */
export type NewAnswer = ReturnType<typeof anAnswer> & { identity: string };

/** A completed answer of a user. */
export const answerOf = (sender: Sender, identity: string, fields: Record<string, unknown> = {}): NewAnswer => ({
  ...anAnswer({ question_id: sender.questionId, ...fields }),
  identity,
});

/** The receipt of one item. */
export interface Receipt {
  id: string;
  status: 'accepted' | 'duplicate' | 'superseded' | 'rejected';
  code?: string;
}

interface Sending {
  ledger: Ledger;
  client: Client;
  sender: Sender;
  /** Called at the time of sending, as a load balancer decides. */
  address(): string;
  answers: NewAnswer[];
  /** The attempt of the request; 1 by default. */
  attempt?: number;
  timeoutMs: number;
}

/** The code of a problem, if the body has one. */
const codeOf = (body: string): string | undefined => /"code":\s*"([^"]+)"/.exec(body)?.[1];

/** Sends answers once: writes the ledger, sends the request, writes the ledger. A missing reply is `broken`. */
export async function sendAnswers(sending: Sending): Promise<{ reply: Reply; receipts: Receipt[] }> {
  const { ledger, client, sender, answers, attempt = 1, timeoutMs } = sending;
  const number = await ledger.before(sender.uuid, answers);
  const sentAt = Date.now();
  const address = sending.address();
  let failure: string | undefined;
  const outcome = await client
    .send(`${address}/v1/answers`, { method: 'POST', as: sender.apiKey, body: { answers }, timeoutMs })
    .catch((error: NodeJS.ErrnoException) => {
      failure = error.code ?? error.message;
      return undefined;
    });
  const at = Date.now();
  const status = outcome?.status ?? 'broken';
  if (outcome && outcome.status !== 202) failure = codeOf(outcome.body);
  const receipts: Receipt[] = outcome?.status === 202 ? JSON.parse(outcome.body).results : [];
  const rejected = receipts.flatMap((receipt, place) => (receipt.status === 'rejected' ? [place] : []));
  await ledger.after(number, status, rejected);
  const { headers = {} } = outcome ?? {};
  const reply: Reply = {
    at,
    ms: at - sentAt,
    status,
    attempt,
    retryAfter: headers['retry-after'] !== undefined,
    address,
    ...(failure ? { failure } : {}),
  };
  return { reply, receipts };
}

export interface Load {
  /** Replies so far, in the order of arrival. */
  replies: readonly Reply[];
  /** Acknowledged answers so far. */
  acknowledged(): number;
  /** Items rejected in a 202. */
  rejected(): number;
  /** Resolves when the first request may be sent: with `connectFirst`, when all clients are connected. */
  begun: Promise<void>;
  /** Resolves when all requests are acknowledged; never without a number of requests. */
  finished: Promise<void>;
  /** Stops it. Waits for requests in progress without retrying them. */
  stop(): Promise<void>;
}

const PAUSE_MS = 100;

/** Sends answers through the ledger, like an outbox: repeatedly with the same ids until they are acknowledged. */
export function startLoad(ledger: Ledger, options: LoadOptions): Load {
  const { senders, batch, lanes, perSecond, requests = Number.POSITIVE_INFINITY, retries = true, fields } = options;
  const { timeoutMs = 5000, pauseMs = () => PAUSE_MS } = options;
  const client = createClient();
  const replies: Reply[] = [];
  let startedAt = Date.now();
  let stopped = false;
  let taken = 0;
  let turn = 0;
  let acknowledged = 0;
  let rejected = 0;

  const send = async (sender: Sender, answers: NewAnswer[], attempt: number): Promise<boolean> => {
    const address = () => {
      const addresses = options.addresses();
      return addresses[turn++ % addresses.length] ?? '';
    };
    const { reply, receipts } = await sendAnswers({ ledger, client, sender, address, answers, attempt, timeoutMs });
    replies.push(reply);
    if (reply.status !== 202) return false;
    const refused = receipts.filter(({ status }) => status === 'rejected').length;
    acknowledged += answers.length - refused;
    rejected += refused;
    return true;
  };

  const sendOne = async (number: number) => {
    const sender = senders[number % senders.length] as Sender;
    const answers = Array.from({ length: batch }, (_, place) =>
      answerOf(sender, `user|${number}-${place}`, fields?.(number, place)),
    );
    for (let attempt = 1; !(await send(sender, answers, attempt)) && retries && !stopped; attempt++)
      await sleep(pauseMs(attempt));
  };

  const lane = async () => {
    while (!stopped && taken < requests) {
      const number = taken++;
      const wait = perSecond ? startedAt + (number * 1000) / perSecond - Date.now() : 0;
      if (wait > 0) await sleep(wait);
      if (!stopped) await sendOne(number);
    }
  };

  const connect = async () => {
    const [address] = options.addresses();
    await Promise.all(Array.from({ length: lanes }, () => client.send(`${address}/livez`, { timeoutMs: 60_000 })));
    startedAt = Date.now();
  };
  const begun = options.connectFirst ? connect() : Promise.resolve();
  const run = async () => {
    await begun;
    await Promise.all(Array.from({ length: lanes }, lane));
    client.close();
  };

  const finished = run();
  return {
    replies,
    acknowledged: () => acknowledged,
    rejected: () => rejected,
    begun,
    finished,
    async stop() {
      stopped = true;
      await finished;
    },
  };
}

/** The percentile of the numbers, such as 0.99; 0 if there are none. */
export function percentile(numbers: number[], part: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

/** Counts replies by status, such as `202: 310, 503: 12, broken (ECONNRESET): 2`. */
export function tally(replies: readonly Reply[]): string {
  const counts = new Map<string, number>();
  for (const { status, failure } of replies) {
    const kind = failure ? `${status} (${failure})` : String(status);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].map(([status, count]) => `${status}: ${count}`).join(', ');
}
