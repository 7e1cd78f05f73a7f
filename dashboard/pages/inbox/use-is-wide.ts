import { useSyncExternalStore } from 'react';

const wide = matchMedia('(min-width: 80rem)');

const subscribe = (listener: () => void) => {
  wide.addEventListener('change', listener);
  return () => wide.removeEventListener('change', listener);
};

/** Whether the window has space for a third column (as in person-panel.module.css). */
export const useIsWide = (): boolean => useSyncExternalStore(subscribe, () => wide.matches);
