import { expect } from 'vitest';
import { anAnswer } from './make.ts';

/** What a sender of answers was told: ids acknowledged with 202, and ids of which nothing is known. */
export interface Ledger {
  acknowledged: Set<string>;
  ambiguous: Set<string>;
  refused: number;
}

export interface Sender {
  ledger: Ledger;
  /** Stops sending and waits for the requests under way. */
  stop(): Promise<Ledger>;
}

/**
 * Sends answers one after the other on several lanes, each request to the next of the addresses, until it is stopped.
 *
 * An answer that was refused or got no reply is sent again with its own id, as a client's outbox would.
 */
export function sendAnswers(addresses: string[], apiKey: string, questionId: string, lanes = 8): Sender {
  const ledger: Ledger = { acknowledged: new Set(), ambiguous: new Set(), refused: 0 };
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
      ledger.refused++;
      if (response.status !== 503 && response.status !== 429) throw new Error(`${response.status} ${text}`);
      ledger.ambiguous.add(answer.id); // a 503 may be in the queue all the same: the promise is about 202
    } catch (error) {
      if (error instanceof Error && /^\d{3} /.test(error.message)) throw error;
      ledger.ambiguous.add(answer.id);
    }
    await new Promise(resolve => setTimeout(resolve, 20)); // a client's pause before it tries again
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

/** Every acknowledged answer is stored once, and nothing is stored that nobody sent. */
export function expectKept(ledger: Ledger, stored: string[]): void {
  const rows = new Set(stored);
  expect(rows.size).toBe(stored.length);
  expect([...ledger.acknowledged].filter(id => !rows.has(id))).toEqual([]);
  expect(stored.filter(id => !ledger.acknowledged.has(id) && !ledger.ambiguous.has(id))).toEqual([]);
}

/** After a restore all of `before` is stored, each once, and nothing that nobody sent. */
export function expectRestored(before: ReadonlySet<string>, ledger: Ledger, stored: string[]): void {
  const once = new Set(stored);
  expect(once.size).toBe(stored.length);
  expect(before.difference(once)).toEqual(new Set());
  expect(once.difference(ledger.acknowledged.union(ledger.ambiguous))).toEqual(new Set());
}
