import { element } from '../feedback/dom.ts';
import type { Placement } from '../types.ts';

/** A panel over the page. */
export interface Panel {
  node: HTMLElement;
  remove(): void;
}

/** Shows content in a modal dialog or in a popover, both above everything of the page. `remove` puts the content back. */
export function openPanel(
  parent: HTMLElement,
  placement: Placement | undefined,
  label: string,
  frame: HTMLElement,
): Panel {
  const at = placement === 'button' ? 'popover-bottom-right' : placement;
  const attributes = { 'data-at': at, 'aria-label': label };
  // A dialog takes the focus even as a popover.
  const node =
    at === 'modal'
      ? element('dialog.panel', attributes, frame)
      : element('div.panel', { ...attributes, role: 'dialog', popover: 'manual' }, frame);
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
