import { useEffect, useRef } from 'react';

const STORAGE_KEY = 'parley.shortcuts';

/** Single-key shortcuts can be turned off, for users of speech input (WCAG 2.1.4). */
export const shortcutsAreOn = (): boolean => localStorage.getItem(STORAGE_KEY) !== 'off';
export const switchShortcuts = (on: boolean): void => localStorage.setItem(STORAGE_KEY, on ? 'on' : 'off');

/** Where keys are text, or belong to a list of choices or a dialog. */
const TAKES_KEYS =
  'input:not([type="checkbox"]), textarea, select, [contenteditable], [role="menu"], [role="dialog"], [role="alertdialog"]';

const isWriting = ({ target }: KeyboardEvent): boolean =>
  target instanceof Element && target.closest(TAKES_KEYS) !== null;

/** Registers single-key shortcuts; ignored while typing and in dialogs. */
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
