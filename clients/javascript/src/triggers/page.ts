import { listen } from '../listen.ts';

interface PageDocument extends Document {
  prerendering?: boolean;
}

/** Interval of reading the URL in browsers without the Navigation API, which do not report changes by routers. */
const POLL_MS = 500;

interface Watcher {
  /** Called with the clicked element and all around it, also in shadow roots. */
  onClick(path: EventTarget[]): void;
  /** Called with each URL of the page. */
  onPage(url: string): void;
}

/** Watches clicks and the URL of the page, if there is a page. */
export function watchPage({ onClick, onPage }: Watcher): void {
  const { document, navigation } = globalThis as { document?: PageDocument; navigation?: EventTarget };
  if (!document) return;
  /** A page that is rendered in advance may never be viewed. */
  const look = () => document.prerendering || onPage(location.href);
  listen(
    document,
    'click',
    (event: Event) => {
      onClick(event.composedPath());
      setTimeout(look); // a router changes the URL after the click
    },
    true,
  );
  if (navigation) listen(navigation, 'currententrychange', look);
  else setInterval(look, POLL_MS);
  listen(document, 'prerenderingchange', look);
  listen(window, 'pageshow', ({ persisted }: PageTransitionEvent) => {
    if (!persisted) return;
    onPage(''); // the page was left, and Back shows it again
    look();
  });
  listen(window, 'popstate', look);
  listen(window, 'hashchange', look);
  look();
}
