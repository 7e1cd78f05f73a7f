/** The target duration of a batch. Until its end the process reads no socket and answers no probe. */
export const BATCH_MS = 25;
/** The most requests in a batch. Larger batches gain no cache locality and delay the first request. */
export const MAX_BATCH = 64;
/**
 * The weight of a request with a body. 64 of them would use three times the memory that a core's second-level cache holds,
 * and while 32 wait for the disk, the next 32 can run (docs/performance.md: about 8 % more syncs).
 */
export const WEIGHT_WITH_BODY = 2;
/** With this many requests waiting, a batch starts without waiting for further arrivals. */
const ENOUGH = MAX_BATCH / WEIGHT_WITH_BODY;
/**
 * The weight of a new measurement in the moving average of a request's duration, so that one slow batch is soon
 * forgotten.
 */
const SMOOTHING = 0.2;
/** A request that has waited this long is refused: an early 503 is better than a late reply. */
export const MAX_WAIT_MS = 500;
/** The first requests in the queue are never refused, however long they have waited: they run next. */
export const NEVER_REFUSED = 64;

/** The next actions for the waiting requests. */
export interface Batch<Request> {
  start: Request[];
  refuse: Request[];
  /** Whether to call `next` again in the next iteration of the event loop. */
  goesOn: boolean;
}

/** Decides which requests start next and which are refused. Has no clock and performs no I/O. Times are in ms. */
export interface RequestBatches<Request> {
  /** Adds a request to the end of the queue. */
  add(request: Request, hasBody: boolean, now: number): void;
  /**
   * Returns the requests of the next batch, and those to refuse. Both are empty while further requests are arriving
   * that are worth waiting for. Call it once in each iteration of the event loop until `goesOn` is false.
   */
  next(now: number): Batch<Request>;
}

interface Waiting<Request> {
  request: Request;
  since: number;
  weight: number;
}

/**
 * Groups requests into batches: at most 64 run together, or 32 with a body. The others wait in order of arrival.
 *
 * Batches are smaller while requests take long, so that a batch lasts about 25 ms. Beyond the first 64 in the queue,
 * requests that have waited for 0.5 s are refused. Refusing them on arrival would be worse: refused clients return at
 * once, and refusing costs CPU as well.
 */
export function createRequestBatches<Request>(): RequestBatches<Request> {
  const waiting: Waiting<Request>[] = [];
  let previous = { startedAt: 0, weight: 0 };
  /** The number of waiting requests at the previous call. */
  let seen = 0;
  /** The average duration of a request without a body. */
  let requestMs = BATCH_MS / MAX_BATCH;

  const measurePrevious = (now: number) => {
    const { startedAt, weight } = previous;
    if (weight > 0) requestMs += SMOOTHING * ((now - startedAt) / weight - requestMs);
    previous = { startedAt: now, weight: 0 };
  };

  const areArriving = (): boolean => {
    const isMore = waiting.length > seen;
    seen = waiting.length;
    return isMore && seen < ENOUGH;
  };

  const removeLate = (now: number): Request[] => {
    const inTime = waiting.findIndex(({ since }) => now - since < MAX_WAIT_MS);
    const end = inTime < 0 ? waiting.length : inTime;
    return waiting.splice(NEVER_REFUSED, Math.max(0, end - NEVER_REFUSED)).map(({ request }) => request);
  };

  const removeFirst = (now: number): Request[] => {
    const most = Math.min(MAX_BATCH, Math.ceil(BATCH_MS / requestMs));
    let [count, weight] = [0, 0];
    for (; weight < most && count < waiting.length; count++) weight += waiting[count]?.weight ?? 0;
    previous = { startedAt: now, weight };
    return waiting.splice(0, count).map(({ request }) => request);
  };

  return {
    add: (request, hasBody, now) => {
      waiting.push({ request, since: now, weight: hasBody ? WEIGHT_WITH_BODY : 1 });
    },
    next(now) {
      measurePrevious(now);
      if (areArriving()) return { start: [], refuse: [], goesOn: true };
      const refuse = removeLate(now);
      const start = removeFirst(now);
      seen = waiting.length;
      return { start, refuse, goesOn: start.length > 0 };
    },
  };
}
