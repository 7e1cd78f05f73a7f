import { listen } from '../listen.ts';

/** Time after a key on the page in which no dialog opens: it would take the next keys, and a digit is a score. */
const TYPING_MS = 2000;

/** A user's typing on the page, outside a view. */
export interface Typing {
  /** Runs a function once the user types no more. */
  whenOver(run: () => void): void;
  /** Gives up waiting. */
  cancel(): void;
  /** Gives up waiting and listening. */
  stop(): void;
}

const hasTextFocus = () => document.activeElement?.matches('input, textarea, [contenteditable]');

/** Watches the keys that a user presses on the page, outside a view. */
export function watchTyping(host: HTMLElement): Typing {
  let typedAt = hasTextFocus() ? performance.now() : Number.NEGATIVE_INFINITY;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  const stopListening = listen(window, 'keydown', ({ target }) => {
    if (target !== host) typedAt = performance.now();
  });
  const cancel = () => clearTimeout(waiting);
  function whenOver(run: () => void): void {
    const rest = typedAt + TYPING_MS - performance.now();
    if (rest <= 0) run();
    else waiting = setTimeout(whenOver, rest, run);
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
