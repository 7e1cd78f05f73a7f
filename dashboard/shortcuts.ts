import { useEffect, useRef } from 'react';

const KEPT_UNDER = 'parley.shortcuts';

/** Keys of one letter can be switched off, for those who speak to their computer (WCAG 2.1.4). */
export const shortcutsAreOn = (): boolean => localStorage.getItem(KEPT_UNDER) !== 'off';
export const switchShortcuts = (on: boolean): void => localStorage.setItem(KEPT_UNDER, on ? 'on' : 'off');

/** Whether a key is being written somewhere, or a dialog has the keyboard. */
const isWriting = ({ target }: KeyboardEvent): boolean =>
  target instanceof Element &&
  target.closest('input, textarea, select, [contenteditable], [role="dialog"], [role="alertdialog"]') !== null;

/** Calls the function of a key that is pressed alone, while nothing is being written. */
export function useShortcuts(actions: Record<string, () => void>): void {
  const current = useRef(actions);
  current.current = actions;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event) || !shortcutsAreOn()) return;
      const act = current.current[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}
