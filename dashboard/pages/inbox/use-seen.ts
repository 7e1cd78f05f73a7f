import { useCallback, useRef } from 'react';
import { BEGINNING, laterOf, type Position } from './message-pages.ts';

/** How far a member has seen a thread: the messages that were on the screen, and those that they sent. */
export interface Seen {
  position(): Position;
  /** Notes that messages up to a position are on the screen. */
  note(position: Position): void;
}

/** Keeps how far the open thread was seen. It causes no rendering. */
export function useSeen(): Seen {
  const seen = useRef(BEGINNING);
  const position = useCallback(() => seen.current, []);
  const note = useCallback((shown: Position) => {
    seen.current = laterOf(seen.current, shown);
  }, []);
  return { position, note };
}
