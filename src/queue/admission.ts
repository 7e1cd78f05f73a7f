import { type Durability, MAX_MEMORY_RATIO } from './durability.ts';

const MEGABYTE = 1024 * 1024;

/** The size of the queue as a check measured it, and its limits. */
export interface MeasuredSize {
  durability: Pick<Durability, 'maxBytes'>;
  queueBytes: number;
  /** The memory that the queue may use; answers are refused at the part `MAX_MEMORY_RATIO` of it. */
  limitBytes: number;
  waitingJobs: number;
  maxJobs: number;
}

/** Decides whether the queue has room for more answers: by its size at the last check, and by what was added since. */
export interface Admission {
  /** Counts bytes that are about to be added to the queue. */
  expect(bytes: number): void;
  /** Returns the bytes that no check has seen yet. */
  unseenBytes(): number;
  /** Subtracts bytes that a check has seen in the store. */
  release(bytes: number): void;
  /** Sets the room that is left. Returns why the queue is as large as it may be; empty while it is not. */
  judgeSize(size: MeasuredSize): string[];
  /** Returns whether more was added since the last check than there was room for. */
  isFull(): boolean;
}

const inMegabytes = (bytes: number): string => `${Math.round(bytes / MEGABYTE)} MB`;

const describeSize = ({ durability, queueBytes, limitBytes }: MeasuredSize): string =>
  durability.maxBytes > 0
    ? `its memory is ${Math.round((queueBytes / limitBytes) * 100)} % full`
    : `its size is ${inMegabytes(queueBytes)} of at most ${inMegabytes(limitBytes * MAX_MEMORY_RATIO)} (QUEUE_MAX_MB)`;

/** Creates an admission that has room without limit until the first check. It does no input or output. */
export function createAdmission(): Admission {
  /** What may be added before the queue is as large as it may be, by the last check, and what was added since. */
  let roomBytes = Number.POSITIVE_INFINITY;
  let unseenBytes = 0;
  return {
    expect(bytes) {
      unseenBytes += bytes;
    },
    unseenBytes: () => unseenBytes,
    release(bytes) {
      unseenBytes -= bytes;
    },
    judgeSize(size) {
      roomBytes = MAX_MEMORY_RATIO * size.limitBytes - size.queueBytes;
      return [
        ...(roomBytes > 0 ? [] : [describeSize(size)]),
        ...(size.waitingJobs < size.maxJobs ? [] : [`${size.waitingJobs} jobs are waiting`]),
      ];
    },
    isFull: () => unseenBytes > roomBytes,
  };
}
