import { type Durability, MAX_MEMORY_RATIO } from './durability.ts';

const MEGABYTE = 1024 * 1024;

/** The measured size of the queue, and its limits. */
export interface MeasuredSize {
  durability: Pick<Durability, 'maxBytes'>;
  queueBytes: number;
  /** The memory that the queue may use. Answers are refused above `MAX_MEMORY_RATIO` of it. */
  limitBytes: number;
  waitingJobs: number;
  maxJobs: number;
}

/** Decides whether the queue has capacity for more answers: its size at the last check plus the bytes added since. */
export interface Admission {
  /** Counts bytes that are about to be added to the queue. */
  expect(bytes: number): void;
  /** Returns the bytes added since the last check. */
  unseenBytes(): number;
  /** Subtracts bytes that a check has measured in the store. */
  release(bytes: number): void;
  /** Sets the remaining capacity. Returns the reasons why the queue is full; empty while it is not. */
  checkSize(size: MeasuredSize): string[];
  /** Returns whether more bytes were added since the last check than there was capacity for. */
  isFull(): boolean;
}

const inMegabytes = (bytes: number): string => `${Math.round(bytes / MEGABYTE)} MB`;

const describeSize = ({ durability, queueBytes, limitBytes }: MeasuredSize): string =>
  durability.maxBytes > 0
    ? `its memory is ${Math.round((queueBytes / limitBytes) * 100)} % full`
    : `its size is ${inMegabytes(queueBytes)} of at most ${inMegabytes(limitBytes * MAX_MEMORY_RATIO)} (QUEUE_MAX_MB)`;

/** Creates an admission without a limit until the first check. Performs no I/O. */
export function createAdmission(): Admission {
  /** The remaining capacity by the last check, and the bytes added since. */
  let capacityBytes = Number.POSITIVE_INFINITY;
  let unseenBytes = 0;
  return {
    expect(bytes) {
      unseenBytes += bytes;
    },
    unseenBytes: () => unseenBytes,
    release(bytes) {
      unseenBytes -= bytes;
    },
    checkSize(size) {
      capacityBytes = MAX_MEMORY_RATIO * size.limitBytes - size.queueBytes;
      return [
        ...(capacityBytes > 0 ? [] : [describeSize(size)]),
        ...(size.waitingJobs < size.maxJobs ? [] : [`${size.waitingJobs} jobs are waiting`]),
      ];
    },
    isFull: () => unseenBytes > capacityBytes,
  };
}
