import { listen } from '../listen.ts';

/** Visible share of a card, and duration, after which it counts as seen. */
const SHARE = 0.5;
const DURATION_MS = 1000;

/** Of the visible share. The low ones are for cards that are higher than the window. */
const THRESHOLDS = [0.05, 0.1, 0.2, 0.3, 0.4, SHARE];

/**
 * Whether half of the card is visible, or, of a card higher than the window, half of the window is filled by it. All heights
 * are 0 below `display: none`; a frame of another origin does not know those of the window.
 */
const isVisible = (entry: IntersectionObserverEntry): boolean =>
  entry.isIntersecting &&
  (entry.intersectionRatio >= SHARE ||
    entry.intersectionRect.height >= (entry.rootBounds?.height ?? innerHeight) * SHARE);

/**
 * Calls `onSeen` once the node was visible for a second without interruption, in a visible tab. Returns a function that
 * ends the watch.
 */
export function watchVisibility(node: Element, onSeen: () => void): () => void {
  let inView = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const update = () => {
    clearTimeout(timer);
    if (!inView || document.visibilityState !== 'visible') return;
    timer = setTimeout(() => {
      stop();
      onSeen();
    }, DURATION_MS);
  };
  const observer = new IntersectionObserver(
    entries => {
      const isNow = isVisible(entries.pop() as IntersectionObserverEntry);
      if (isNow === inView) return; // a scroll within the card does not start the second again
      inView = isNow;
      update();
    },
    { threshold: THRESHOLDS },
  );
  observer.observe(node);
  const unlisten = listen(document, 'visibilitychange', update);
  const stop = () => {
    clearTimeout(timer);
    observer.disconnect();
    unlisten();
  };
  return stop;
}
