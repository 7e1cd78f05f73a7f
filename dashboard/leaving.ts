import { useEffect, useRef } from 'react';
import { navigate } from 'wouter/use-browser-location';

/** Continues a navigation that was held back. */
export type Proceed = () => void;
type Guard = (proceed: Proceed) => void;

/** The page with unsaved edits, if any. */
let guard: Guard | undefined;
let guardedAddress = '';

/** Runs the navigation, or lets the page with unsaved edits ask first. For `aroundNav` of the router. */
export function leave(proceed: Proceed): void {
  if (guard) guard(proceed);
  else proceed();
}

/** Holds back Back and Forward by restoring the address. */
function holdBack(event: PopStateEvent): void {
  if (!guard) return;
  event.stopImmediatePropagation();
  const wanted = location.href;
  history.pushState(null, '', guardedAddress);
  leave(() => navigate(wanted));
}

/**
 * Registers the listener for Back and Forward. Call it before the router is rendered: listeners run in
 * the order of their registration.
 */
export const watchHistory = (): void => addEventListener('popstate', holdBack);

/** While `isActive`, calls `ask` instead of leaving the page. `ask` gets the function that leaves. */
export function useLeaveGuard(isActive: boolean, ask: (proceed: Proceed) => void): void {
  const current = useRef(ask);
  current.current = ask;
  useEffect(() => {
    if (!isActive) return;
    const own: Guard = proceed => current.current(proceed);
    guard = own;
    guardedAddress = location.href;
    return () => {
      if (guard === own) guard = undefined;
    };
  }, [isActive]);
}

/** Removes the guard, for a navigation after the edits were saved or discarded. */
export const stopGuarding = (): void => {
  guard = undefined;
};
