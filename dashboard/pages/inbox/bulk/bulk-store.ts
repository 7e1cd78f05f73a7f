import type { QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { resourceOf } from '../../../api/cache.ts';
import { api, type QueryOf } from '../../../api/client.ts';
import { ApiProblem } from '../../../api/problem.ts';
import { newId } from '../../../new-id.ts';
import {
  type BulkChange,
  type BulkRun,
  batchesOf,
  createBulkRun,
  MAX_BULK,
  NO_PROGRESS,
  type Progress,
} from './bulk-run.ts';

/** The conversations of a run: chosen ones, or all that match the query of a list. */
export type Chosen = { ids: readonly string[] } | { query: QueryOf<'GET /v1/conversations'> };

/** A run with its state. It continues while other pages are open. */
export interface BulkState {
  tenantId: string | undefined;
  /** The change in a few words. */
  what: string;
  /** Number of conversations; undefined if it is not known in advance. */
  total: number | undefined;
  progress: Progress;
  phase: 'running' | 'stopping' | 'stopped' | 'failed' | 'done';
  problem?: ApiProblem;
}

let shown: BulkState | undefined;
let running: BulkRun | undefined;
const listeners = new Set<() => void>();

function show(next: BulkState | undefined): void {
  shown = next;
  for (const listener of listeners) listener();
}

const change = (changes: Partial<BulkState>): void => show(shown && { ...shown, ...changes });

function sourceOf(chosen: Chosen, tenantId: string | undefined): () => Promise<readonly string[] | undefined> {
  if ('ids' in chosen) {
    const batches = batchesOf(chosen.ids);
    return async () => batches.shift();
  }
  let cursor: string | null | undefined;
  return async () => {
    if (cursor === null) return undefined;
    const query = { ...chosen.query, limit: MAX_BULK, ...(cursor === undefined ? {} : { cursor }) };
    const { body } = await api('GET /v1/conversations', { query }, tenantId);
    cursor = body.next_cursor;
    return body.data.map(({ id }) => id);
  };
}

/** Runs until the end, a stop or a failure, and then fetches the conversations on the screen again. */
async function proceed(run: BulkRun, queries: QueryClient): Promise<void> {
  change({ phase: 'running' });
  try {
    await run.run();
    change({ phase: shown?.phase === 'stopping' ? 'stopped' : 'done' });
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    change({ phase: 'failed', problem: error });
  } finally {
    const isAffected = ({ queryKey: [key] }: { queryKey: readonly unknown[] }) =>
      resourceOf(String(key)) === 'conversations';
    void queries.invalidateQueries({ predicate: isAffected });
  }
}

interface Order {
  chosen: Chosen;
  change: BulkChange;
  what: string;
  tenantId: string | undefined;
}

/** Starts to change conversations. A run that is under way has to end first. */
export function startBulk(queries: QueryClient, { chosen, change: made, what, tenantId }: Order): void {
  const total = 'ids' in chosen ? chosen.ids.length : undefined;
  show({ tenantId, what, total, progress: NO_PROGRESS, phase: 'running' });
  running = createBulkRun({
    next: sourceOf(chosen, tenantId),
    send: async (ids, idempotencyKey) => {
      const body = { ids: [...ids], change: made };
      return (await api('POST /v1/conversations/bulk', { body, idempotencyKey }, tenantId)).body.results;
    },
    report: progress => change({ progress }),
    wait: ms => new Promise(done => setTimeout(done, ms)),
    newKey: newId,
  });
  void proceed(running, queries);
}

/** Ends the run after the request that is under way. */
export function stopBulk(): void {
  running?.stop();
  change({ phase: 'stopping' });
}

/** Continues a run that has failed or was stopped. */
export function resumeBulk(queries: QueryClient): void {
  if (running) void proceed(running, queries);
}

/** Forgets the results of a run. */
export const dismissBulk = (): void => show(undefined);

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Returns the run of this tenant, if any. */
export function useBulk(tenantId: string | undefined): BulkState | undefined {
  const state = useSyncExternalStore(subscribe, () => shown);
  return state?.tenantId === tenantId ? state : undefined;
}
