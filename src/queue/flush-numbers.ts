import { newNumberedUuid } from '../domain/ids.ts';

/** What a producer says it has made durable. */
export interface FlushClaim {
  /** The id under which its flushes are numbered, from 1. */
  producer: string;
  /** The number up to which each flush is on disk in the queue, or void. */
  written: number;
  /** Numbers that the queue did not confirm. Nobody was promised anything about them. */
  voided: number[];
}

/** The numbers of a process's flushes: each that was taken ends written or void, so that a gap means a loss. */
export function createFlushNumbers() {
  const producer = newNumberedUuid();
  const underWay = new Set<number>();
  let voided: number[] = [];
  let last = 0;
  return {
    producer,
    take(): number {
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
