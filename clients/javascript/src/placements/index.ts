import { element } from '../feedback/dom.ts';
import { type Presenter, type Scene, setPresenter } from '../feedback/presenter.ts';
import { addSheet } from '../feedback/styles.ts';
import { listen } from '../listen.ts';
import type { Placement } from '../types.ts';
import { watchClosing } from './closing.ts';
import { openPanel } from './panel.ts';
import { STYLES } from './styles.ts';

/**
 * Shows cards where `placement` says: as a popover, a dialog, or behind a button. The attribute of the element comes first,
 * then the question, then the tenant; without this call, all cards are inline. Call it before the elements start.
 *
 * A view with `placement="button"` has a tab (`label`), or opens from the elements that its attribute `opens` selects. Its
 * attribute `question` limits it to one question.
 */
export function addPlacements(): void {
  setPresenter(createPresenter);
}

function createPresenter({ host, frame, texts, focus, dismiss, reload }: Scene): Presenter {
  const root = frame.getRootNode() as ShadowRoot;
  const tab = element('button.button tab', {
    type: 'button',
    'aria-haspopup': 'dialog',
    popover: 'manual',
    hidden: '',
  });
  let placement: Placement | undefined;
  /** Removes the open panel. */
  let shut: (() => void) | undefined;

  const opensFrom = (target: EventTarget | null): boolean => {
    const opens = host.getAttribute('opens');
    return Boolean(opens && target instanceof Element && target.closest(opens));
  };
  const showTab = (isShown: boolean) => {
    tab.textContent = host.getAttribute('label') ?? texts().view;
    if (tab.hidden !== isShown) return;
    tab.hidden = !isShown;
    if (isShown) tab.showPopover?.();
    else tab.hidePopover?.();
  };

  function open(): void {
    frame.hidden = false;
    const panel = openPanel(root, placement, texts().view, frame);
    showTab(false);
    if (placement === 'modal') focus();
    const isOwn = (event: Event) => event.composedPath().includes(tab) || opensFrom(event.target);
    const unwatch = watchClosing(panel.node, dismiss, isOwn);
    shut = () => {
      shut = undefined;
      unwatch();
      panel.remove();
    };
  }
  /** Opens the panel for a click, or closes it. Without a card, it asks for new ones first. */
  async function toggle(): Promise<void> {
    if (shut) return dismiss();
    if (!placement) await reload();
    if (!placement) return;
    open();
    focus();
  }

  addSheet(root, STYLES);
  root.append(element('div.frame', {}, tab));
  tab.addEventListener('click', toggle);
  const stopListening = listen(document, 'click', ({ target }) => opensFrom(target) && void toggle());
  return {
    accepts({ question_id, placement }) {
      const question = host.getAttribute('question');
      const isButton = host.getAttribute('placement') === 'button';
      const hasButton = () => document.querySelector(`${host.localName}[placement=button]`);
      return question ? question_id === question : placement !== 'button' || isButton || !hasButton();
    },
    covers: placement => placement !== 'inline',
    show(next) {
      placement = next;
      const isInline = !next || next === 'inline';
      const isClosed = next === 'button' && !shut;
      host.style.display = isInline ? '' : 'contents';
      showTab(isClosed && !host.hasAttribute('opens'));
      if (isInline) shut?.();
      else if (!isClosed && !shut) open();
      frame.hidden = isClosed;
    },
    close() {
      shut?.();
      stopListening();
      host.style.display = '';
    },
  };
}
