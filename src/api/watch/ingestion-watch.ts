import { setTimeout as sleep } from 'node:timers/promises';
import { CANARY_TENANT_ID } from '../../domain/answers/ingestion.ts';
import { newUuid } from '../../domain/ids.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { Producer } from '../../queue/producer.ts';
import { hasAnswer, removeCanaries } from '../../storage/answers/answers.ts';
import type { Storage } from '../../storage/database/orm.ts';
import { readLastBackup } from '../../storage/upkeep/backups.ts';
import { auditFlushes, claimFlushes, countLosses } from '../../storage/upkeep/conservation.ts';

/** Continuously checks that accepted answers are stored. */
export interface IngestionWatch {
  /** Returns the current faults, one line each. */
  degraded(): string[];
  /** Ends the checks, and records the flushes that this process made durable. Call it after closing the queue. */
  close(): Promise<void>;
}

interface WatchDeps {
  storage: Storage;
  queue: Producer;
  metrics: Metrics;
  log: Log;
  intervalMs: number;
  isStopping(): boolean;
}

const POLL_MS = 50;
/** A canary that is not stored in this time has failed. A shorter interval reduces the time. */
const CANARY_TIMEOUT_MS = 20_000;

/**
 * Runs two checks every `intervalMs` (0 disables them): a canary through the whole pipeline, and an audit of the
 * flushes.
 *
 * Each API process runs them, because each has a separate producer that can fail.
 */
export function watchIngestion(deps: WatchDeps): IngestionWatch {
  const closing = new AbortController();
  const { signal } = closing;
  const canary = createCanary(deps, signal);
  const balance = createBalance(deps);
  const every = async (check: () => Promise<void>, failure: string) => {
    while (await pause(deps.intervalMs, signal))
      await check().catch(error => {
        if (!deps.isStopping()) deps.log.warn({ reason: error.message }, failure);
      });
  };
  if (deps.intervalMs > 0) deps.metrics.canaryInterval.set(deps.intervalMs / 1000);
  const running =
    deps.intervalMs === 0
      ? []
      : [
          every(canary.fly, 'canary failed'),
          every(balance.check, 'delivery audit failed'),
          every(() => reportBackup(deps), 'reading the last backup failed'),
        ];
  return {
    degraded: () => [...canary.degraded(), ...balance.degraded()],
    async close() {
      closing.abort();
      await Promise.all(running);
      if (running.length > 0) await balance.claim();
    },
  };
}

/** Reports the time of the newest backup; nothing before the first one. */
async function reportBackup({ storage, metrics }: WatchDeps): Promise<void> {
  const at = await readLastBackup(storage);
  if (at) metrics.lastBackup.set(at.getTime() / 1000);
}

/** Resolves to true after the time, or to false at the signal. */
const pause = (ms: number, signal: AbortSignal): Promise<boolean> =>
  sleep(ms, true, { signal, ref: false }).catch(() => false);

/** Sends an answer of the canary tenant through the pipeline, and removes it when it has been stored. */
function createCanary({ storage, queue, metrics, intervalMs, isStopping }: WatchDeps, signal: AbortSignal) {
  let fault: string | undefined;
  const limitMs = Math.min(CANARY_TIMEOUT_MS, intervalMs);

  const awaitStored = async (id: string): Promise<void> => {
    for (const deadline = Date.now() + limitMs; !(await hasAnswer(storage.forTenant(CANARY_TENANT_ID), id)); ) {
      if (Date.now() > deadline) throw new Error(`not stored within ${limitMs / 1000} s`);
      if (!(await pause(POLL_MS, signal))) return;
    }
  };

  return {
    degraded: () => (fault ? [`canary: ${fault}`] : []),
    async fly(): Promise<void> {
      const answer = aCanary(new Date());
      const sentAt = performance.now();
      try {
        await queue.enqueue([answer], JSON.stringify(answer).length);
        await awaitStored(answer.id);
        if (signal.aborted) return;
        metrics.canaryDelay.set((performance.now() - sentAt) / 1000);
        metrics.canarySuccess.setToCurrentTime();
        fault = undefined;
      } catch (error) {
        if (isStopping()) return;
        metrics.canaryFailures.inc();
        fault = (error as Error).message;
        throw error;
      } finally {
        await removeCanaries(storage.forTenant(CANARY_TENANT_ID), answer.id);
      }
    },
  };
}

const aCanary = (now: Date) => ({
  tenant_id: CANARY_TENANT_ID,
  id: newUuid(),
  identity: 'canary',
  identity_verified: true,
  card_id: CANARY_TENANT_ID,
  question_id: CANARY_TENANT_ID,
  question_version: 1,
  revision: 1,
  state: 'completed' as const,
  values: {},
  comment: null,
  displayed_at: null,
  answered_at: null,
  duration_ms: null,
  metadata: {},
  content_hash: 'canary',
  clock_skew_ms: null,
  received_at: now.toISOString(),
});

/** Compares the flushes that all processes have queued with those that were recorded or are still queued. */
function createBalance({ storage, queue, metrics, log }: WatchDeps) {
  let lost = 0;
  let written = 0;
  let since = new Date();

  const claim = async (): Promise<void> => {
    const at = new Date();
    const claimed = queue.claim(written);
    await claimFlushes(storage, { ...claimed, since });
    written = claimed.written;
    since = at;
  };

  return {
    claim,
    degraded: () =>
      lost > 0 ? [`balance: ${lost} flushes or answers are missing; see parley_conservation_difference`] : [],
    async check(): Promise<void> {
      await claim();
      const { lost: found, skipped } = await auditFlushes(storage, queue.findQueued);
      if (found.length > 0) log.error({ flushes: found }, 'acknowledged flushes are lost');
      if (skipped > 0) log.warn({ flushes: skipped }, 'could not audit flushes: their marks may have expired');
      const { flushes, answers } = await countLosses(storage);
      if (flushes + answers > lost) log.error({ flushes, answers }, 'accepted answers are missing');
      lost = flushes + answers;
      metrics.conservation.set({ kind: 'flush' }, flushes);
      metrics.conservation.set({ kind: 'answer' }, answers);
    },
  };
}
