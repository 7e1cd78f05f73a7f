import { useSyncExternalStore } from 'react';
import { isConnectionLoss, isOtherReply } from './problem.ts';

/** What the latest request got instead of a response from Parley. */
export type Loss = 'no-reply' | 'other-reply';

let loss: Loss | undefined;
const listeners = new Set<() => void>();

function set(next: Loss | undefined): void {
  if (loss === next) return;
  loss = next;
  for (const listener of listeners) listener();
}

/** Records the outcome of a request: of a failed one with its error. */
export function noteOutcome(error?: unknown): void {
  if (error === undefined) set(undefined);
  else if (isConnectionLoss(error)) set(isOtherReply(error) ? 'other-reply' : 'no-reply');
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Returns what the latest request got instead of a response from Parley; `undefined` if it got one. */
export const useConnectionLoss = (): Loss | undefined => useSyncExternalStore(subscribe, () => loss);
