import { describe, expect, test } from 'vitest';
import { ApiProblem } from '../../dashboard/api/problem.ts';
import {
  type BulkRequests,
  type BulkResult,
  batchesOf,
  createBulkRun,
  dealtWith,
  MAX_BULK,
  MAX_LISTED,
  NO_PROGRESS,
} from '../../dashboard/pages/inbox/bulk/bulk-run.ts';

const idsOf = (count: number) => Array.from({ length: count }, (_, at) => `conversation_${at}`);

/** A run over batches, with the requests that it made and its last report. */
function record(batches: string[][], send: (ids: readonly string[], attempt: number) => BulkResult[]) {
  const sent: { ids: readonly string[]; key: string }[] = [];
  const waits: number[] = [];
  let progress = NO_PROGRESS;
  let keys = 0;
  const requests: BulkRequests = {
    next: async () => batches.shift(),
    send: async (ids, key) => {
      sent.push({ ids, key });
      return send(ids, sent.length);
    },
    report: next => {
      progress = next;
    },
    wait: async ms => void waits.push(ms),
    newKey: () => `key ${++keys}`,
  };
  return { run: createBulkRun(requests), sent, waits, progress: () => progress };
}

const allChanged = (ids: readonly string[]) => ids.map((id): BulkResult => ({ id, status: 'changed' }));

describe('a bulk change', () => {
  test('sends all ids once, at most a hundred in a request', async () => {
    const { run, sent, progress } = record(batchesOf(idsOf(250)), allChanged);
    await run.run();
    expect(sent.map(({ ids }) => ids.length)).toEqual([MAX_BULK, MAX_BULK, 50]);
    expect(sent.flatMap(({ ids }) => ids)).toEqual(idsOf(250));
    expect(progress()).toEqual({ ...NO_PROGRESS, changed: 250 });
  });

  test('counts each kind of result, and lists the first failures', async () => {
    const statuses: BulkResult['status'][] = ['changed', 'unchanged', 'conflict', 'not-found'];
    const { run, progress } = record(batchesOf(idsOf(400)), ids =>
      ids.map((id, at) => ({ id, status: statuses[at % 4] as BulkResult['status'] })),
    );
    await run.run();
    expect(progress()).toMatchObject({ changed: 100, unchanged: 100, conflict: 100, missing: 100 });
    expect(dealtWith(progress())).toBe(400);
    expect(progress().listed).toHaveLength(MAX_LISTED);
  });

  test('skips empty pages of a list', async () => {
    const { run, sent, progress } = record([[], ['conversation_1'], []], allChanged);
    await run.run();
    expect(sent).toHaveLength(1);
    expect(progress().changed).toBe(1);
  });

  test('repeats a request without a reply under its key, and waits as the server asks', async () => {
    const { run, sent, waits, progress } = record(batchesOf(idsOf(2)), (ids, attempt) => {
      if (attempt === 1) throw new ApiProblem(0, { code: 'no-reply' });
      if (attempt === 2) throw new ApiProblem(429, { code: 'rate-limit-exceeded' }, '7');
      return allChanged(ids);
    });
    await run.run();
    expect(sent.map(({ key }) => key)).toEqual(['key 1', 'key 1', 'key 1']);
    expect(waits).toEqual([1000, 7000]);
    expect(progress().changed).toBe(2);
  });

  test('ends with a problem that waiting does not solve, and continues with the same request', async () => {
    let isRefused = true;
    const { run, sent, progress } = record(batchesOf(idsOf(150)), (ids, attempt) => {
      if (isRefused && attempt === 2) throw new ApiProblem(403, { code: 'insufficient-scope' });
      return allChanged(ids);
    });
    await expect(run.run()).rejects.toMatchObject({ status: 403 });
    expect(progress().changed).toBe(100);
    isRefused = false;
    await run.run();
    expect(sent.map(({ key }) => key)).toEqual(['key 1', 'key 2', 'key 2']);
    expect(progress().changed).toBe(150);
  });

  test('stops after the request that is under way, and continues without a gap', async () => {
    const recorded = record(batchesOf(idsOf(300)), (ids, attempt) => {
      if (attempt === 2) recorded.run.stop();
      return allChanged(ids);
    });
    await recorded.run.run();
    expect(recorded.progress().changed).toBe(200);
    await recorded.run.run();
    expect(recorded.sent.flatMap(({ ids }) => ids)).toEqual(idsOf(300));
    expect(recorded.progress().changed).toBe(300);
  });

  test('stops between the attempts of a request', async () => {
    const recorded = record(batchesOf(idsOf(1)), () => {
      recorded.run.stop();
      throw new ApiProblem(503, { code: 'database-unavailable' });
    });
    await recorded.run.run();
    expect(recorded.sent).toHaveLength(1);
    expect(recorded.progress()).toEqual(NO_PROGRESS);
  });
});
