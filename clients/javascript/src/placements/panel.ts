import { button, element, icon } from '../feedback/dom.ts';
import type { Texts } from '../feedback/texts.ts';
import type { Placement } from '../types.ts';

/** A panel over the page. */
export interface Panel {
  node: HTMLElement;
  remove(): void;
}

interface Parts {
  /** The content. */
  frame: HTMLElement;
  /** Called by the close button. */
  onClose(): void;
}

/** A button that only has a cross. */
function renderCross(label: string, onClose: () => void): HTMLButtonElement {
  const cross = button('cross', '', onClose);
  cross.setAttribute('aria-label', label);
  cross.append(icon('M6 6 18 18M18 6 6 18'));
  return cross;
}

/** Shows content in a modal dialog or in a popover, both above everything of the page. `remove` puts the content back. */
export function openPanel(
  parent: HTMLElement,
  placement: Placement | undefined,
  texts: Texts,
  { frame, onClose }: Parts,
): Panel {
  const at = placement === 'button' ? 'popover-bottom-right' : placement;
  const attributes = { 'data-at': at, 'aria-label': texts.view };
  const cross = renderCross(texts.close, onClose);
  // A dialog takes the focus even as a popover.
  const node =
    at === 'modal'
      ? element('dialog.panel', attributes, frame, cross)
      : element('div.panel', { ...attributes, role: 'dialog', popover: 'manual' }, frame, cross);
  // Scripts for smooth scrolling take these events from the whole page, and the panel could not be scrolled.
  for (const type of ['wheel', 'touchmove'])
    node.addEventListener(type, event => event.stopPropagation(), { passive: true });
  parent.append(node);
  if (node instanceof HTMLDialogElement) {
    node.showModal();
    if (node.getClientRects().length === 0) {
      node.close(); // in a layout that is not displayed: a modal dialog would block the page all the same
      node.show();
    }
  } else node.showPopover?.();
  return {
    node,
    remove() {
      if (node instanceof HTMLDialogElement) node.close();
      else node.hidePopover?.();
      parent.append(frame);
      node.remove();
    },
  };
}
