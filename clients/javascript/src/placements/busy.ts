import { parentOf } from '../feedback/dom.ts';
import { listen } from '../listen.ts';

/** Time after a key on the page in which no dialog opens: it would take the next keys, and a digit is a score. */
const TYPING_MS = 2000;
/** Interval at which a page with an open dialog is looked at again. */
const BLOCKED_MS = 500;

/** A user's work on the page, outside a view, which a card must not disturb. */
export interface Busy {
  /** Runs a function once the page has no modal dialog and, for a function that opens a dialog, once typing has paused. */
  whenOver(isDialog: boolean, run: () => void): void;
  /** Gives up waiting. */
  cancel(): void;
  /** Gives up waiting and listening. */
  stop(): void;
}

const hasTextFocus = () => document.activeElement?.matches('input, textarea, [contenteditable]');

/** Whether an element is inside a modal dialog, also across shadow roots. */
const isInModal = (node: Element | undefined): boolean =>
  Boolean(node && (node.matches('dialog:modal') || isInModal(parentOf(node))));

/**
 * Whether a dialog of the page keeps the user from everything outside of it: a modal one of the browser, or one of a library
 * that takes the pointer from the page. A popover would lie above it and could not be used.
 */
export function isBlocked(host: HTMLElement): boolean {
  if (getComputedStyle(document.body).pointerEvents === 'none') return true;
  if (!globalThis.CSS?.supports('selector(:modal)')) return false;
  return Boolean(document.querySelector('dialog:modal')) && !isInModal(host);
}

/** Watches what a user does on the page, outside a view. */
export function watchBusy(host: HTMLElement): Busy {
  let typedAt = hasTextFocus() ? performance.now() : Number.NEGATIVE_INFINITY;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  const stopListening = listen(window, 'keydown', ({ target }) => {
    if (target !== host) typedAt = performance.now();
  });
  const cancel = () => clearTimeout(waiting);
  function whenOver(isDialog: boolean, run: () => void): void {
    const typing = isDialog ? typedAt + TYPING_MS - performance.now() : 0;
    const rest = isBlocked(host) ? BLOCKED_MS : typing;
    if (rest <= 0) run();
    else waiting = setTimeout(whenOver, rest, isDialog, run);
  }
  return {
    whenOver,
    cancel,
    stop() {
      cancel();
      stopListening();
    },
  };
}
