import { ApiProblem, isTransient } from '../../../api/problem.ts';
import type { Operations } from '../../../api/schema.ts';

type Bulk = Operations['POST /v1/conversations/bulk'];

/** One change of many conversations. */
export type BulkChange = Bulk['body']['change'];
export type BulkResult = Bulk['response']['results'][number];

/** Maximum number of conversations of one request (contract section 5). */
export const MAX_BULK = 100;

/** Conversations that were not changed are listed up to this number. */
export const MAX_LISTED = 100;

/** Results so far, by kind. `listed` has the first conversations that could not be changed. */
export interface Progress {
  changed: number;
  unchanged: number;
  conflict: number;
  missing: number;
  listed: readonly BulkResult[];
}

export const NO_PROGRESS: Progress = { changed: 0, unchanged: 0, conflict: 0, missing: 0, listed: [] };

/** Returns the number of conversations that a run has dealt with. */
export const dealtWith = ({ changed, unchanged, conflict, missing }: Progress): number =>
  changed + unchanged + conflict + missing;

/** Adds the results of a request. */
export function addResults(before: Progress, results: readonly BulkResult[]): Progress {
  const count = (wanted: BulkResult['status']) => results.filter(({ status }) => status === wanted).length;
  const failed = results.filter(({ status }) => status === 'conflict' || status === 'not-found');
  return {
    changed: before.changed + count('changed'),
    unchanged: before.unchanged + count('unchanged'),
    conflict: before.conflict + count('conflict'),
    missing: before.missing + count('not-found'),
    listed: [...before.listed, ...failed].slice(0, MAX_LISTED),
  };
}

/** Returns the ids in batches of one request each. */
export const batchesOf = (ids: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(ids.length / MAX_BULK) }, (_, at) => ids.slice(at * MAX_BULK, (at + 1) * MAX_BULK));

/** The requests and reports of a run. */
export interface BulkRequests {
  /** Returns the next ids, at most `MAX_BULK`; undefined at the end. */
  next(): Promise<readonly string[] | undefined>;
  /** Changes these conversations. The key is the same when a request is repeated. */
  send(ids: readonly string[], key: string): Promise<readonly BulkResult[]>;
  report(progress: Progress): void;
  wait(ms: number): Promise<void>;
  newKey(): string;
}

const MAX_ATTEMPTS = 6;

/** Time until the next attempt: as the server requests, else one, two, four seconds. */
const delayMs = (error: unknown, attempt: number): number =>
  1000 * ((error instanceof ApiProblem && error.retryAfterSeconds) || 2 ** (attempt - 1));

/** A change of many conversations, request by request. */
export interface BulkRun {
  /**
   * Runs to the end, or until `stop`. Throws the problem of a request that keeps failing; called again, it continues
   * with that request.
   */
  run(): Promise<void>;
  /** Ends the run after the request that is under way. */
  stop(): void;
}

/** Creates a run. Requests that got no reply, or were too many, are repeated. */
export function createBulkRun({ next, send, report, wait, newKey }: BulkRequests): BulkRun {
  let progress = NO_PROGRESS;
  let batch: { ids: readonly string[]; key: string } | undefined;
  let isStopped = false;

  const patiently = async <Reply>(request: () => Promise<Reply>): Promise<Reply> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await request();
      } catch (error) {
        if (isStopped || attempt >= MAX_ATTEMPTS || !isTransient(error)) throw error;
        await wait(delayMs(error, attempt));
      }
    }
  };

  /** Returns whether there may be more. */
  const step = async (): Promise<boolean> => {
    if (!batch) {
      const ids = await patiently(next);
      if (!ids) return false;
      batch = { ids, key: newKey() };
    }
    const { ids, key } = batch;
    if (isStopped) return false;
    if (ids.length > 0) progress = addResults(progress, await patiently(() => send(ids, key)));
    batch = undefined;
    report(progress);
    return true;
  };

  return {
    async run() {
      isStopped = false;
      try {
        while (!isStopped && (await step()));
      } catch (error) {
        if (!isStopped || !isTransient(error)) throw error;
      }
    },
    stop() {
      isStopped = true;
    },
  };
}
