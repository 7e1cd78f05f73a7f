import { listen } from '../listen.ts';

/** Keys that the controls of a card use when no text is being entered. */
const USED = /^( |Enter|Arrow\w+|\d)$/;

/** Whether a key is for the page too: closing, moving the focus, and shortcuts. AltGr, which enters characters, may report Ctrl. */
const isForPage = (event: KeyboardEvent): boolean =>
  !event.isComposing &&
  (/^(Escape|Tab)$/.test(event.key) || ((event.ctrlKey || event.metaKey) && !event.getModifierState('AltGraph')));

/**
 * Keeps the keys of a card from the shortcuts of the page, which cannot see that they belong to a field: outside of the shadow root the
 * target of an event is the host element. Returns functions that end it.
 */
export const keepKeys = (root: ShadowRoot): (() => void)[] =>
  ['keydown', 'keypress', 'keyup'].map(type =>
    listen(root, type, (event: KeyboardEvent) => {
      const isText = (event.target as Element).matches('.input');
      if ((isText || USED.test(event.key)) && !isForPage(event)) event.stopPropagation();
    }),
  );
