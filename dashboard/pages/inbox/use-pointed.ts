import { type RefObject, useEffect, useRef } from 'react';

/** Returns the id of the conversation that keys refer to: the last one that was opened, or whose row got the focus. */
export function usePointed(open: string | undefined): RefObject<string | undefined> {
  const pointed = useRef(open);
  useEffect(() => {
    pointed.current = open;
  }, [open]);
  useEffect(() => {
    const note = ({ target }: FocusEvent) => {
      const row = target instanceof Element ? target.closest('[role="row"]') : null;
      pointed.current = row?.getAttribute('data-key') ?? pointed.current;
    };
    addEventListener('focusin', note);
    return () => removeEventListener('focusin', note);
  }, []);
  return pointed;
}
