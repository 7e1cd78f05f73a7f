import { type KeyboardEvent, type RefObject, useId, useLayoutEffect, useRef, useState } from 'react';
import { replaceTrigger, type Sign, triggerBefore } from './trigger.ts';

/** An item of the list that a sign opens. */
export interface Offer {
  id: string;
  name: string;
  /** A second line. */
  about?: string;
}

interface OffersProps {
  field: RefObject<HTMLTextAreaElement | null>;
  body: string;
  sign: Sign;
  /** Returns the offers for the letters after the sign. */
  find(query: string): Offer[];
  choose(id: string): void;
}

/** Offers something after a sign in a text field. The keys are those of the field, which keeps the focus. */
export function useOffers({ field, body, sign, find, choose }: OffersProps) {
  const id = useId();
  const [cursor, setCursor] = useState(0);
  const [at, setAt] = useState(0);
  const [closedAt, setClosedAt] = useState<number>();
  const nextCursor = useRef<number | undefined>(undefined);
  const trigger = triggerBefore(sign, body, Math.min(cursor, body.length));
  const offered = trigger && trigger.start !== closedAt ? find(trigger.query) : [];
  const isOpen = offered.length > 0;
  const current = Math.min(at, offered.length - 1);

  useLayoutEffect(() => {
    const place = nextCursor.current;
    if (place === undefined || !field.current) return;
    nextCursor.current = undefined;
    field.current.focus();
    field.current.setSelectionRange(place, place);
    setCursor(place);
  });

  return {
    list: { id, offered, current, setCurrent: setAt, choose },
    isOpen,
    /** Handles a key of the field. Returns whether it was one of the list. */
    onKey: (event: KeyboardEvent): boolean => {
      if (!isOpen || event.ctrlKey || event.metaKey) return false;
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) setAt((current + step + offered.length) % offered.length);
      else if (event.key === 'Escape') setClosedAt(trigger?.start);
      else if (event.key === 'Enter' || event.key === 'Tab') choose(offered[current]?.id ?? '');
      else return false;
      event.preventDefault();
      return true;
    },
    onSelect: () => {
      const place = field.current?.selectionStart ?? 0;
      setCursor(place);
      if (!triggerBefore(sign, field.current?.value ?? '', place)) setClosedAt(undefined);
    },
    /** Attributes of the field while something is offered. */
    attributes: isOpen ? { 'aria-controls': id, 'aria-activedescendant': `${id}-${current}` } : {},
    /** The text without the sign and its letters. */
    rest: trigger ? replaceTrigger(body, trigger, '').text : body,
    /** Returns the text with another one in place of the sign; the cursor follows it once the text is rendered. */
    replace: (by: string): string => {
      if (!trigger) return body;
      const replaced = replaceTrigger(body, trigger, by);
      nextCursor.current = replaced.cursor;
      setAt(0);
      return replaced.text;
    },
  };
}
