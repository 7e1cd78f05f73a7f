import { useSyncExternalStore } from 'react';
import { isConnectionLoss } from './problem.ts';

let lost = false;
const listeners = new Set<() => void>();

function set(next: boolean): void {
  if (lost === next) return;
  lost = next;
  for (const listener of listeners) listener();
}

/** Records the outcome of a request: of a failed one with its error. */
export function noteOutcome(error?: unknown): void {
  if (error === undefined) set(false);
  else if (isConnectionLoss(error)) set(true);
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Returns whether the latest request got no response from Parley. */
export const useConnectionLost = (): boolean => useSyncExternalStore(subscribe, () => lost);
