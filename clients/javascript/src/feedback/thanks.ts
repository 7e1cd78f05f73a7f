import type { Thanks } from '../types.ts';
import { button, element, icon, linkTo } from './dom.ts';
import type { Texts } from './texts.ts';

/** Duration after which the panel disappears, unless the pointer is on it or the focus on one of its controls. */
const DURATION_MS = 5000;

/** A panel that thanks the user. */
export interface ThanksView {
  node: HTMLElement;
  focus(): void;
  close(): void;
}

/** Renders the thanks of a question or the default. It can be closed, and disappears on its own; `onClose` removes it. */
export function renderThanks(thanks: Thanks | null | undefined, texts: Texts, onClose: () => void): ThanksView {
  const { title, body, link } = thanks ?? { title: texts.thanks };
  const close = () => {
    clearTimeout(timer);
    if (node.isConnected) onClose();
  };
  const note = element('p.title', { tabindex: -1 }, title);
  const node = element(
    'div.thanks',
    {},
    element('span.check', {}, icon('m4 12 6 6L20 6')),
    element('div', {}, note, body && element('p.description', {}, body), linkTo(link?.url, link?.label)),
    button('close', texts.close, close),
  );
  const isInUse = () => node.matches(':hover') || node.querySelector(':focus:not(p)');
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(() => (isInUse() ? wait() : close()), DURATION_MS);
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  wait();
  return { node, focus: () => note.focus({ preventScroll: true }), close };
}
