import { toTypeId } from '../domain/ids.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { describeFailure, isOutage } from '../storage/database/errors.ts';
import { pause, runRounds } from './rounds.ts';

/** Limits of a round: batches per tenant, and the time after which it starts no more batches. */
const BATCHES = 4;
const ROUND_MS = 1000;
/** A batch that takes longer goes on while the next tenants have their turns. Only one at a time, as it holds a connection. */
const SLOW_MS = 500;
const SLOW_AT_ONCE = 1;
/** A tenant whose work has failed is skipped for this long, doubled with each failure in a row. */
const FIRST_BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 60_000;
/** How long each tenant gets batches of its own after one for all tenants has failed. */
const APART_MS = 10_000;

/**
 * The outcome of a batch. `more`: it was full, so there may be more. `done`: there is no more. `blocked`: there is, but others
 * have locked it.
 */
export type Outcome = 'more' | 'done' | 'blocked';

/** Work that a loop does for tenants. */
export interface TenantWork {
  /** The loop's name in logs and metrics. */
  loop: string;
  /** Returns the ids of the tenants with work. */
  list(): Promise<readonly string[]>;
  /** Does a batch of a tenant's work. */
  batch(tenantId: string): Promise<Outcome>;
  /**
   * Does a batch of the work of all tenants but these, where that costs much less than a batch of each. Then `batch` is used
   * only for tenants that have failed, and for all of them for a while after `together` has failed.
   */
  together?(except: readonly string[]): Promise<Outcome>;
}

/** The metrics and the log of rounds, and the signal that ends them. */
export interface RoundDeps {
  metrics: Pick<Metrics, 'oldestWork' | 'workFailures' | 'onScrape'>;
  log: Log;
  signal: AbortSignal;
}

/** The rounds of a loop. */
export interface TenantRounds {
  /**
   * Runs a batch of each tenant with work, and further ones of those with more work, within limits. Returns whether there may be
   * more. Throws if the database is unavailable; a failure of one tenant is logged and counted.
   */
  run(): Promise<boolean>;
  /** Returns when the next round is due, at most `everyMs` from now: sooner for a slow batch, or a tenant that has failed. */
  pauseMs(everyMs: number): number;
  /** Resolves when no batch is in progress, with the outcomes of those that were. */
  ended(): Promise<Outcome[]>;
}

/**
 * Creates the rounds of a loop that works for many tenants. A tenant whose work fails is skipped for up to a minute, and one
 * with a backlog alternates with the others.
 */
export function createTenantRounds(deps: RoundDeps, work: TenantWork): TenantRounds {
  const { log, signal } = deps;
  const states = createStates(deps, work.loop);
  const running = new Map<string, Promise<Outcome>>();
  let outage: unknown;
  let apartUntil = 0;

  async function attempt(tenantId: string): Promise<Outcome> {
    try {
      const outcome = await work.batch(tenantId);
      states.succeed(tenantId, outcome);
      return outcome;
    } catch (error) {
      if (isOutage(error)) outage = error;
      else states.fail(tenantId, error);
      return 'blocked';
    } finally {
      running.delete(tenantId);
    }
  }

  /** Waits for a batch, or until it is slow. A slow one has no result for this round. */
  async function take(tenantId: string): Promise<Outcome> {
    const batch = attempt(tenantId);
    running.set(tenantId, batch);
    if (running.size > SLOW_AT_ONCE) return batch;
    const over = new AbortController();
    const slow = pause(SLOW_MS, AbortSignal.any([over.signal, signal])).then(() => 'blocked' as const);
    const outcome = await Promise.race([batch, slow]);
    over.abort();
    return outcome;
  }

  /** Returns the tenants to work for separately, and whether there is more work of all others. */
  async function findSeparate(): Promise<{ tenants: readonly string[]; more: boolean }> {
    if (!work.together || performance.now() < apartUntil) return { tenants: await work.list(), more: false };
    const apart = states.failing();
    try {
      return { tenants: apart, more: (await work.together(apart)) === 'more' };
    } catch (error) {
      if (isOutage(error)) throw error;
      apartUntil = performance.now() + APART_MS;
      log.warn({ loop: work.loop, ...describeFailure(error) }, 'background work of all tenants failed; trying each');
      return { tenants: await work.list(), more: false };
    }
  }

  async function runTurns(): Promise<boolean> {
    const startedAt = performance.now();
    const { tenants, more } = await findSeparate();
    states.note(tenants, running);
    let due = tenants.filter(id => !running.has(id) && states.isDue(id));
    for (let turn = 0; due.length > 0 && turn < BATCHES; turn++) {
      if (turn > 0 && performance.now() - startedAt > ROUND_MS) break;
      const full: string[] = [];
      for (const id of due) {
        if (signal.aborted) return false;
        if ((await take(id)) === 'more') full.push(id);
        if (outage) throw outage;
      }
      due = full;
    }
    return more || due.length > 0;
  }

  return {
    run: () => {
      outage = undefined;
      return states.watch(runTurns);
    },
    pauseMs: everyMs => Math.min(everyMs, running.size > 0 ? SLOW_MS : everyMs, states.untilRetry()),
    ended: () => Promise.all(running.values()),
  };
}

/**
 * Creates the states of a loop's tenants: since when their work waits, and when those that have failed are due again.
 *
 * The metric is the longest time since a tenant's work was found or last went on, or since rounds fail.
 */
function createStates({ metrics, log }: RoundDeps, loop: string) {
  const waiting = new Map<string, number>();
  const failed = new Map<string, { times: number; retryAt: number }>();
  let failingSince: number | undefined;

  metrics.onScrape(async () => {
    const now = performance.now();
    const oldest = Math.min(now, failingSince ?? now, ...waiting.values());
    metrics.oldestWork.set({ loop }, (now - oldest) / 1000);
  });

  return {
    /** Remembers since when these tenants wait, and forgets the others, which have no work, except `running` ones. */
    note(listed: readonly string[], running: ReadonlyMap<string, unknown>): void {
      const known = new Set([...listed, ...running.keys()]);
      for (const map of [waiting, failed]) for (const id of map.keys()) if (!known.has(id)) map.delete(id);
      for (const id of listed) if (!waiting.has(id)) waiting.set(id, performance.now());
    },
    succeed(tenantId: string, outcome: Outcome): void {
      failed.delete(tenantId);
      if (outcome === 'more') waiting.set(tenantId, performance.now());
      if (outcome === 'done') waiting.delete(tenantId);
    },
    fail(tenantId: string, error: unknown): void {
      const times = (failed.get(tenantId)?.times ?? 0) + 1;
      const backoffMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (times - 1));
      failed.set(tenantId, { times, retryAt: performance.now() + backoffMs });
      metrics.workFailures.inc({ loop });
      const tenant = toTypeId('tenant', tenantId);
      const about = { loop, tenant, ...describeFailure(error), times, retry_s: backoffMs / 1000 };
      log.warn(about, 'background work of a tenant failed; will retry');
    },
    failing: (): string[] => [...failed.keys()],
    isDue: (tenantId: string): boolean => (failed.get(tenantId)?.retryAt ?? 0) <= performance.now(),
    untilRetry: (): number =>
      Math.max(0, Math.min(...[...failed.values()].map(({ retryAt }) => retryAt)) - performance.now()),
    /** Runs a round, and remembers since when rounds fail. */
    async watch<T>(round: () => Promise<T>): Promise<T> {
      try {
        const result = await round();
        failingSince = undefined;
        return result;
      } catch (error) {
        failingSince ??= performance.now();
        throw error;
      }
    },
  };
}

/**
 * Runs the rounds of a loop until the signal is aborted: at once after one that left work, otherwise after at most `everyMs`.
 * `failure` is the log message of a round that fails as a whole.
 */
export async function runTenantRounds(
  deps: RoundDeps,
  work: TenantWork,
  { everyMs, failure }: { everyMs: number; failure: string },
): Promise<void> {
  const rounds = createTenantRounds(deps, work);
  await runRounds({ ...deps, failure, retryMs: Math.min(everyMs, MAX_BACKOFF_MS) }, async () =>
    (await rounds.run()) ? 0 : rounds.pauseMs(everyMs),
  );
  await rounds.ended();
}
