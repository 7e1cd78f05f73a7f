import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { createGroupCommit } from '../../src/platform/group-commit.ts';

/** A sent answer. Ids are UUIDs. */
export interface SentAnswer {
  id: string;
  identity: string;
}

/** The sender's view of an answer: acknowledged must be kept, refused must not be stored, ambiguous may be. */
export type Fate = 'acknowledged' | 'ambiguous' | 'refused';

/** An answer with its latest state. */
export interface LedgerEntry extends SentAnswer {
  tenant: string;
  fate: Fate;
}

/** The reply to a request: a status, or `broken` without a reply (timeout, broken connection). */
export type ReplyStatus = number | 'broken';

export interface Ledger {
  path: string;
  /** Records on disk that these answers are about to be sent. Returns the request's number. */
  before(tenant: string, answers: SentAnswer[]): Promise<number>;
  /** Records the reply on disk; `rejected` are the indexes of rejected items. */
  after(request: number, status: ReplyStatus, rejected?: number[]): Promise<void>;
  close(): Promise<void>;
}

interface BeforeLine {
  before: number;
  tenant: string;
  answers: [id: string, identity: string][];
}

interface AfterLine {
  after: number;
  status: ReplyStatus;
  rejected: number[];
}

const MAX_GROUP_CHARS = 8_000_000;

/**
 * A log of sent requests and their replies, on disk before the run continues: a line before and a line after each
 * request.
 *
 * Concurrent requests share one fsync, so that the ledger does not slow down the load.
 */
export async function openLedger(path: string): Promise<Ledger> {
  const file = await open(path, 'ax');
  let requests = 0;
  const group = createGroupCommit<string, undefined>({
    flush: async lines => {
      await file.appendFile(lines.join(''));
      await file.datasync();
      return lines.map(() => undefined);
    },
    maxInFlight: 1,
    weigh: line => [line.length],
    maxWeights: [MAX_GROUP_CHARS],
  });
  const write = (line: BeforeLine | AfterLine) => group.add(`${JSON.stringify(line)}\n`);
  return {
    path,
    async before(tenant, answers) {
      const request = requests++;
      await write({ before: request, tenant, answers: answers.map(({ id, identity }) => [id, identity]) });
      return request;
    },
    async after(request, status, rejected = []) {
      await write({ after: request, status, rejected });
    },
    async close() {
      await group.drained();
      await file.close();
    },
  };
}

/**
 * After a 503 or without a reply the queue may have the answer; any other reply but 202 means that it was not accepted.
 */
const fateOf = (status: ReplyStatus, isRejected: boolean): Fate => {
  if (status === 202) return isRejected ? 'refused' : 'acknowledged';
  return status === 'broken' || status >= 500 ? 'ambiguous' : 'refused';
};

const WEIGHT: Record<Fate, number> = { refused: 0, ambiguous: 1, acknowledged: 2 };

/** Every answer of a ledger once, with the strongest state from all of its requests. */
export async function readLedger(path: string): Promise<LedgerEntry[]> {
  const entries = new Map<string, LedgerEntry>();
  const open = new Map<number, BeforeLine>();
  const settle = ({ tenant, answers }: BeforeLine, fate: (place: number) => Fate) => {
    for (const [place, [id, identity]] of answers.entries()) {
      const key = `${tenant} ${id} ${identity}`;
      const known = entries.get(key);
      if (!known) entries.set(key, { tenant, id, identity, fate: fate(place) });
      else if (WEIGHT[fate(place)] > WEIGHT[known.fate]) known.fate = fate(place);
    }
  };
  for await (const text of createInterface({ input: createReadStream(path) })) {
    const line = JSON.parse(text) as BeforeLine | AfterLine;
    if ('before' in line) open.set(line.before, line);
    else {
      const before = open.get(line.after);
      if (!before) throw new Error(`the ledger has a reply to request ${line.after}, which it does not know`);
      open.delete(line.after);
      const rejected = new Set(line.rejected);
      settle(before, place => fateOf(line.status, rejected.has(place)));
    }
  }
  for (const before of open.values()) settle(before, () => 'ambiguous'); // the driver ended in between
  return [...entries.values()];
}
