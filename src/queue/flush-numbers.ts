import { newNumberedUuid } from '../domain/ids.ts';

/** The flushes that a producer claims to have made durable. */
export interface FlushClaim {
  /** The id under which the producer's flushes are numbered, from 1. */
  producer: string;
  /** Up to this number, every flush is on disk in the queue, or void. */
  written: number;
  /** Numbers that the queue did not confirm. Their answers were never acknowledged. */
  voided: number[];
}

/** Numbers the flushes of a process. Each number ends as written or void, so a gap means a loss. */
export function createFlushNumbers() {
  const producer = newNumberedUuid();
  const underWay = new Set<number>();
  let voided: number[] = [];
  let last = 0;
  return {
    producer,
    next(): number {
      underWay.add(++last);
      return last;
    },
    end(number: number, isWritten: boolean): void {
      underWay.delete(number);
      if (!isWritten) voided.push(number);
    },
    claim(since: number): FlushClaim {
      const written = Math.min(last, ...[...underWay].map(number => number - 1));
      voided = voided.filter(number => number > since);
      return { producer, written, voided: voided.filter(number => number <= written) };
    },
  };
}

export type FlushNumbers = ReturnType<typeof createFlushNumbers>;
