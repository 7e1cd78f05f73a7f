import { listen } from '../listen.ts';

interface Watcher {
  onclose: (() => void) | null;
  destroy(): void;
}
type WatcherClass = new () => Watcher;

/** Distance in pixels after which a swipe closes the sheet. */
const SWIPE = 80;

/** Closes a sheet that is swiped down from its top. */
function watchSwipes(panel: HTMLElement, onClose: () => void): (() => void)[] {
  let start: number | undefined;
  let distance = 0;
  const yOf = ({ touches }: TouchEvent) => touches[0]?.clientY ?? 0;
  const move = (to: number) => {
    distance = Math.max(0, to);
    panel.style.transform = distance ? `translateY(${distance}px)` : '';
  };
  return [
    listen(panel, 'touchstart', (event: TouchEvent) => {
      const isSheet = matchMedia('(max-width: 599px)').matches;
      start = isSheet && panel.scrollTop <= 0 ? yOf(event) : undefined;
    }),
    listen(panel, 'touchmove', (event: TouchEvent) => start !== undefined && move(yOf(event) - start)),
    listen(panel, 'touchend', () => {
      const isClosed = distance > SWIPE;
      move(0);
      if (isClosed) onClose();
    }),
  ];
}

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

/**
 * Calls `close` for Esc, Back, a press outside and a swipe; `isOwn` presses outside are ignored, as is everything while the
 * panel has no box. Returns a function that ends the watch.
 */
export function watchClosing(panel: HTMLElement, close: () => void, isOwn: (event: Event) => boolean): () => void {
  const onClose = () => panel.getClientRects().length > 0 && close();
  const { CloseWatcher } = globalThis as { CloseWatcher?: WatcherClass };
  const isModal = panel instanceof HTMLDialogElement;
  const watcher = CloseWatcher && !isModal ? new CloseWatcher() : undefined;
  if (watcher) watcher.onclose = onClose;
  const isOutside = ({ clientX, clientY }: PointerEvent) => {
    const { left, right, top, bottom } = panel.getBoundingClientRect();
    return clientX < left || clientX > right || clientY < top || clientY > bottom;
  };
  const stops = [
    ...watchSwipes(panel, onClose),
    watchBack(onClose),
    listen(panel, 'cancel', event => {
      event.preventDefault(); // the view closes it, once the answer is recorded
      onClose();
    }),
    listen(document, 'keydown', ({ key, defaultPrevented }: KeyboardEvent) => {
      const inner = document.activeElement?.closest('dialog[open], [popover]'); // of the app: Esc is for it
      if (key === 'Escape' && !watcher && !isModal && !inner && !defaultPrevented) onClose();
    }),
    listen(document, 'pointerdown', (event: PointerEvent) => isOutside(event) && !isOwn(event) && onClose(), true),
  ];
  return () => {
    watcher?.destroy();
    for (const stop of stops) stop();
  };
}
