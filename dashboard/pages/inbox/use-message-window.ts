import { type RefObject, useLayoutEffect, useReducer, useRef, useState } from 'react';
import { type Anchor, isSameWindow, topOf, type Window, windowAt, windowAtEnd } from './message-window.ts';

/** Distance from the end in pixels within which the list follows new messages. */
const AT_END = 48;
const NO_WINDOW: Window = { start: 0, end: 0, before: 0, after: 0 };

const rowsOf = (list: HTMLElement): HTMLElement[] =>
  [...list.children].filter((row): row is HTMLElement => row instanceof HTMLElement && row.dataset.id !== undefined);

/** Measures the rendered rows, including the gap to the next one. Returns whether a height has changed. */
function measure(list: HTMLElement, heights: Map<string, number>): boolean {
  const gap = Number.parseFloat(getComputedStyle(list).rowGap) || 0;
  let hasChanged = false;
  for (const row of rowsOf(list)) {
    const height = row.offsetHeight + gap;
    const id = row.dataset.id ?? '';
    if (heights.get(id) === height) continue;
    heights.set(id, height);
    hasChanged = true;
  }
  return hasChanged;
}

function anchorOf(list: HTMLElement): Anchor | undefined {
  const row = rowsOf(list).find(({ offsetTop, offsetHeight }) => offsetTop + offsetHeight > list.scrollTop);
  return row && { id: row.dataset.id ?? '', offset: row.offsetTop - list.scrollTop };
}

function restore(list: HTMLElement, { id, offset }: Anchor): void {
  const row = rowsOf(list).find(({ dataset }) => dataset.id === id);
  const moved = row ? row.offsetTop - list.scrollTop - offset : 0;
  if (Math.abs(moved) >= 1) list.scrollTop += moved;
}

/**
 * Renders only the messages around the visible part of a long thread.
 *
 * The list opens at its end and follows new messages there. Elsewhere the view does not move: neither when messages
 * arrive at the end, nor when older ones are added at the beginning, nor when rows turn out higher than estimated.
 */
export function useMessageWindow(ref: RefObject<HTMLElement | null>, ids: readonly string[]) {
  const heights = useRef(new Map<string, number>());
  const anchor = useRef<Anchor | undefined>(undefined);
  const [isAtEnd, setAtEnd] = useState(true);
  const follows = useRef(true);
  const [, rerender] = useReducer((count: number) => count + 1, 0);
  const list = ref.current;
  // By the anchor, not by the position of the scroll bar: older messages may have been added before it.
  const anchored = anchor.current && topOf(ids, heights.current, anchor.current);
  const position = { top: anchored ?? list?.scrollTop ?? 0, height: list?.clientHeight ?? innerHeight };
  const shown = follows.current
    ? windowAtEnd(ids, heights.current, position.height)
    : windowAt(ids, heights.current, position);
  const rendered = useRef(NO_WINDOW);
  rendered.current = shown;

  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const hasChanged = measure(element, heights.current);
    if (follows.current) element.scrollTop = element.scrollHeight;
    else if (anchor.current) restore(element, anchor.current);
    if (hasChanged) rerender();
  });

  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    let width = element.clientWidth;
    const observer = new ResizeObserver(() => {
      if (element.clientWidth !== width) heights.current.clear(); // lines break elsewhere
      width = element.clientWidth;
      rerender();
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);

  const onScroll = () => {
    const element = ref.current;
    if (!element) return;
    follows.current = element.scrollHeight - element.scrollTop - element.clientHeight < AT_END;
    setAtEnd(follows.current);
    anchor.current = anchorOf(element);
    const next = windowAt(ids, heights.current, { top: element.scrollTop, height: element.clientHeight });
    if (!isSameWindow(next, rendered.current)) rerender();
  };
  const scrollToEnd = () => {
    follows.current = true;
    setAtEnd(true);
    rerender();
  };
  return { shown, isAtEnd, onScroll, scrollToEnd };
}
