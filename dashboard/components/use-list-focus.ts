import { type RefObject, useRef } from 'react';

interface ListFocus {
  /** The element around the list. */
  list: RefObject<HTMLDivElement | null>;
  /** Focuses the element that a selector finds in the list, once it has been rendered again. */
  focus(selector: string): void;
}

/** Keeps the focus within a list whose entries are added, moved and removed. */
export function useListFocus(): ListFocus {
  const list = useRef<HTMLDivElement>(null);
  const focus = (selector: string) =>
    void requestAnimationFrame(() => list.current?.querySelector<HTMLElement>(selector)?.focus());
  return { list, focus };
}
