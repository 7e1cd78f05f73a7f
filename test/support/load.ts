import { expect } from 'vitest';
import { anAnswer } from './make.ts';

/** The sender's view of its answers: ids acknowledged with a 202, and ids with an unknown result. */
export interface Ledger {
  acknowledged: Set<string>;
  ambiguous: Set<string>;
  /** The number of rejections by problem code and detail. */
  refusals: Record<string, number>;
}

export interface Sender {
  ledger: Ledger;
  /** Stops sending and waits for requests in progress. */
  stop(): Promise<Ledger>;
}

/**
 * Sends answers in several lanes, rotating over the addresses, until it is stopped.
 *
 * Like a client's outbox, it sends an answer that was rejected or got no reply again with the same id.
 */
export function sendAnswers(addresses: string[], apiKey: string, questionId: string, lanes = 8): Sender {
  const ledger: Ledger = { acknowledged: new Set(), ambiguous: new Set(), refusals: {} };
  let sending = true;
  let turn = 0;

  const send = async (answer: { id: string }): Promise<boolean> => {
    const address = addresses[turn++ % addresses.length];
    try {
      const response = await fetch(`${address}/v1/answers`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ answers: [answer] }),
        signal: AbortSignal.timeout(5000),
      });
      const text = await response.text();
      if (response.status === 202) {
        ledger.acknowledged.add(answer.id);
        ledger.ambiguous.delete(answer.id);
        return true;
      }
      if (response.status !== 503 && response.status !== 429) throw new Error(`${response.status} ${text}`);
      const { code, detail } = JSON.parse(text);
      ledger.refusals[`${code}: ${detail}`] = (ledger.refusals[`${code}: ${detail}`] ?? 0) + 1;
      ledger.ambiguous.add(answer.id); // may be queued despite the 503: only a 202 is a promise
    } catch (error) {
      if (error instanceof Error && /^\d{3} /.test(error.message)) throw error;
      ledger.ambiguous.add(answer.id);
    }
    await new Promise(resolve => setTimeout(resolve, 20)); // a client's pause before a retry
    return false;
  };

  const lane = async (number: number) => {
    let index = 0;
    while (sending) {
      const answer = anAnswer({ question_id: questionId, identity: `user|${number}-${index++}` });
      while (!(await send(answer)) && sending);
    }
  };
  const running = Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)));
  return {
    ledger,
    async stop() {
      sending = false;
      await running;
      return ledger;
    },
  };
}

/** Expects every acknowledged answer to be stored once, and every stored answer to have been sent. */
export function expectKept(ledger: Ledger, stored: string[]): void {
  const rows = new Set(stored);
  expect(rows.size).toBe(stored.length);
  expect([...ledger.acknowledged].filter(id => !rows.has(id))).toEqual([]);
  expect(stored.filter(id => !ledger.acknowledged.has(id) && !ledger.ambiguous.has(id))).toEqual([]);
}

/** After a restore: expects all of `before` to be stored once, and every stored answer to have been sent. */
export function expectRestored(before: ReadonlySet<string>, ledger: Ledger, stored: string[]): void {
  const once = new Set(stored);
  expect(once.size).toBe(stored.length);
  expect(before.difference(once)).toEqual(new Set());
  expect(once.difference(ledger.acknowledged.union(ledger.ambiguous))).toEqual(new Set());
}
