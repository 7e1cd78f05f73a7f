import { listen } from '../listen.ts';

/** Effect and condition of closing. */
interface Closing {
  /** Ends the displayed card as *Not now* does. */
  close(): void;
  /** Whether the user has begun to answer it. */
  isBegun(): boolean;
}

/** What begins sooner after a dialog has opened was meant for the page behind it. */
const TOO_SOON_MS = 500;

/** Calls `onClose` for Back. Browsers without the Navigation API report a new fragment in the URL in the same way. */
function watchBack(onClose: () => void): () => void {
  const { navigation } = globalThis as { navigation?: EventTarget };
  if (!navigation) return listen(window, 'popstate', onClose);
  return listen<Event & { navigationType: string }>(
    navigation,
    'navigate',
    ({ navigationType }) => navigationType === 'traverse' && onClose(),
  );
}

/** Calls `onClose` for a press outside. A scroll does not count, nor does a selection that ends outside. */
function watchPresses(panel: HTMLElement, onClose: () => void): (() => void)[] {
  const isOutside = ({ clientX, clientY }: MouseEvent) => {
    const { left, right, top, bottom } = panel.getBoundingClientRect();
    return clientX < left || clientX > right || clientY < top || clientY > bottom;
  };
  let hasBegunOutside = false;
  const notePress = (event: PointerEvent) => {
    hasBegunOutside = isOutside(event);
  };
  const endPress = (event: MouseEvent) => {
    if (hasBegunOutside && event.detail > 0 && isOutside(event)) onClose(); // `detail` is 0 for keys
    hasBegunOutside = false;
  };
  return [listen(document, 'pointerdown', notePress, true), listen(document, 'click', endPress, true)];
}

/**
 * Watches the ways to close a panel that has just opened, besides its buttons: for a dialog Esc and Back, and a press outside while the card is
 * untouched; for a popover, next to which the page is used, Esc inside. A panel without a box stays. Returns a function that ends the watch.
 */
export function watchClosing(panel: HTMLElement, { close, isBegun }: Closing): () => void {
  const onClose = () => panel.getClientRects().length > 0 && close();
  if (!(panel instanceof HTMLDialogElement))
    return listen(panel, 'keydown', (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented) return;
      event.preventDefault(); // a dialog of the app around it stays
      onClose();
    });
  const openedAt = performance.now();
  const onPageUse = () => performance.now() - openedAt > TOO_SOON_MS && onClose();
  const stops = [
    watchBack(onPageUse),
    listen(panel, 'cancel', event => {
      event.preventDefault(); // the view closes it, once the answer is recorded
      onClose();
    }),
    ...watchPresses(panel, () => isBegun() || onPageUse()),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
