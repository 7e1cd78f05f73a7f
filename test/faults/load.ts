import { setTimeout as sleep } from 'node:timers/promises';
import { anAnswer } from '../support/make.ts';
import { type Client, createClient } from './client.ts';
import type { Ledger, ReplyStatus } from './ledger.ts';

/** Who answers are sent for: a tenant by its key, on one of its questions. */
export interface Sender {
  uuid: string;
  apiKey: string;
  questionId: string;
}

export interface LoadOptions {
  /** Where requests go, one after the other; asked before each, so that an address can leave. */
  addresses(): string[];
  senders: Sender[];
  /** Answers a request, 1 to 100. */
  batch: number;
  /** Clients that send at once, each waiting for its reply. */
  lanes: number;
  /** Requests started a second by all clients together; absent: as fast as they go. */
  perSecond?: number;
  /** It ends after so many requests were acknowledged; absent: when it is stopped. */
  requests?: number;
  timeoutMs?: number;
  /** Whether each client has its connection before the first request is sent; they are made as needed otherwise. */
  connectFirst?: boolean;
  /** Whether a request that was not acknowledged is sent again with the same ids; true unless said otherwise. */
  retries?: boolean;
  /** How long it waits before the retry of that number, the first is 1; 100 ms unless said otherwise. */
  pauseMs?(retry: number): number;
  /** Further fields of the answer at that place of that request. */
  fields?(request: number, place: number): Record<string, unknown>;
}

/** One reply, or its absence. Times are milliseconds of `Date.now()`. */
export interface Reply {
  at: number;
  ms: number;
  status: ReplyStatus;
  /** Which attempt of its request it answers, from 1. */
  attempt: number;
  /** Whether it said when to come again. */
  retryAfter: boolean;
  address: string;
  /** What broke it, where no reply came. */
  failure?: string;
}

/** An answer on the wire, of a user whom the sender names. */
export type NewAnswer = ReturnType<typeof anAnswer> & { identity: string };

/** A completed answer of a user. */
export const answerOf = (sender: Sender, identity: string, fields: Record<string, unknown> = {}): NewAnswer => ({
  ...anAnswer({ question_id: sender.questionId, ...fields }),
  identity,
});

/** What was said of one item. */
export interface Receipt {
  id: string;
  status: 'accepted' | 'duplicate' | 'superseded' | 'rejected';
  code?: string;
}

interface Sending {
  ledger: Ledger;
  client: Client;
  sender: Sender;
  /** Asked in the moment of sending, as a balancer decides. */
  address(): string;
  answers: NewAnswer[];
  /** Which attempt of the request this is; the first unless said otherwise. */
  attempt?: number;
  timeoutMs: number;
}

/** Sends answers once: into the ledger, over HTTP, into the ledger. No reply is `broken`, whatever broke it. */
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
  /** What came back so far, in the order of arrival. */
  replies: readonly Reply[];
  /** Answers acknowledged so far. */
  acknowledged(): number;
  /** Items that a 202 refused one by one. */
  rejected(): number;
  /** Resolves when the first request may be sent: with `connectFirst`, when every client has its connection. */
  begun: Promise<void>;
  /** Resolves when all its requests were acknowledged; never, without a number of requests. */
  finished: Promise<void>;
  /** Ends it: requests under way are still waited for, but not sent again. */
  stop(): Promise<void>;
}

const PAUSE_MS = 100;

/** Sends answers through the ledger, as an outbox would: again, with the same ids, until they are acknowledged. */
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

/** The value below which that part of the numbers lies; 0 of none. */
export function percentile(numbers: number[], part: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

/** How many replies of each status there were, such as `202: 310, 503: 12, broken (ECONNRESET): 2`. */
export function tally(replies: readonly Reply[]): string {
  const counts = new Map<string, number>();
  for (const { status, failure } of replies) {
    const kind = failure ? `${status} (${failure})` : String(status);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].map(([status, count]) => `${status}: ${count}`).join(', ');
}
