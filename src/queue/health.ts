import { setTimeout as sleep } from 'node:timers/promises';
import { createThrottle, type Log } from '../platform/log.ts';
import { connected } from '../platform/redis.ts';
import { withTimeout } from '../platform/timeouts.ts';
import { createAdmission } from './admission.ts';
import { PRODUCER_TIMEOUT_MS } from './connection.ts';
import {
  type Basis,
  type CheckDeps,
  createStoreCheck,
  type Finding,
  isCurrentSocket,
  type QueueHealth,
} from './store-check.ts';

const CHECK_EVERY_MS = 1000;
const CHECK_AGAIN_MS = 250;

export interface HealthWatch {
  current(): QueueHealth;
  /** Why answers are refused; empty when they are accepted. Includes memory used since the last check. */
  refusals(): string[];
  /** The check on which a flush that starts now relies. */
  basis(): Basis;
  /** Whether a flush that started on that basis may still be confirmed: same connection, still durable. */
  isStillValid(basis: Basis): boolean;
  /** Counts bytes that are about to be added to the queue. */
  expect(bytes: number): void;
  /** Refuses answers until the next check succeeds. */
  markUnreachable(error: unknown): void;
  /** Resolves when the first check is over. */
  checked(): Promise<void>;
  stop(): void;
}

interface WatchDeps extends CheckDeps {
  log: Log;
  /** Called with the error of each check that failed. */
  onFailure(error: unknown): void;
}

const NOT_REACHED: Finding = {
  health: { reachable: false, reasons: ['the queue has not been reached yet'], relaxed: [], waitingJobs: 0 },
  basis: { isDurable: false },
};

/**
 * Checks every second, and on every new connection, that the queue's store persists what it confirms. A connection
 * accepts no answers before its check, since another store may have taken over the address.
 */
export function watchHealth({ log, onFailure, ...deps }: WatchDeps): HealthWatch {
  const { connection, metrics } = deps;
  const { redis } = connection;
  const throttle = createThrottle(5000);
  const admission = createAdmission();
  const check = createStoreCheck(deps, admission);
  let finding = NOT_REACHED;

  const isCurrent = (socket: unknown) => isCurrentSocket(connection, socket);

  const markUnreachable = (error: unknown) => {
    const reason = `the queue cannot be reached: ${(error as Error).message}`;
    const { waitingJobs } = finding.health;
    finding = {
      health: { reachable: false, reasons: [reason], relaxed: [], waitingJobs },
      basis: { isDurable: false },
    };
  };

  const refresh = async () => {
    try {
      finding = await withTimeout(check(), PRODUCER_TIMEOUT_MS * 2, 'reading the state of the queue');
    } catch (error) {
      markUnreachable(error);
      onFailure(error);
    }
    const { reachable, reasons } = finding.health;
    metrics.queueAcceptsAnswers.set(reasons.length === 0 ? 1 : 0);
    if (redis) metrics.redisUp.set(reachable ? 1 : 0);
    if (reasons.length > 0) throttle('health', () => log.warn({ reasons }, 'queue does not accept answers'));
  };

  let isStopped = false;
  let isChecking = true; // until the first connection is made, or has failed
  let timer: NodeJS.Timeout | undefined;
  const watch = async () => {
    if (isStopped) return;
    clearTimeout(timer);
    isChecking = true;
    await refresh();
    isChecking = false;
    if (isStopped) return;
    timer = setTimeout(watch, finding.health.reachable ? CHECK_EVERY_MS : CHECK_AGAIN_MS);
  };
  const first = Promise.race([connected(redis), sleep(PRODUCER_TIMEOUT_MS, undefined, { ref: false })]).then(watch);
  redis?.on('ready', () => {
    if (!isChecking && !isStopped) void watch();
  });

  const current = (): QueueHealth => {
    const { health, basis } = finding;
    if (health.reasons.length > 0 || isCurrent(basis.socket)) return health;
    return { ...health, reasons: ['its connection was lost or is new and has not been checked yet'] };
  };

  return {
    current,
    refusals() {
      const { reasons } = current();
      return admission.isFull() ? [...reasons, 'it has reached its size limit'] : reasons;
    },
    basis: () => finding.basis,
    isStillValid: basis => isCurrent(basis.socket) && finding.basis.socket === basis.socket && finding.basis.isDurable,
    expect: admission.expect,
    markUnreachable,
    checked: () => first,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
