import { element } from '../feedback/dom.ts';
import { type Presenter, type Scene, setPresenter } from '../feedback/presenter.ts';
import { addSheet } from '../feedback/styles.ts';
import { listen } from '../listen.ts';
import type { Card, Placement } from '../types.ts';
import { isBlocked, watchBusy } from './busy.ts';
import { watchClosing } from './closing.ts';
import { openPanel } from './panel.ts';
import { STYLES } from './styles.ts';

/**
 * Shows cards where `placement` says: as a popover, a dialog, or behind a button. The attribute of the element comes first,
 * then the question, then the tenant; unknown values count as not set. Without this call, all cards are inline. Call it before the
 * elements start.
 *
 * A view with `placement="button"` has a tab (`label`), or opens from the elements that its attribute `opens` selects. Its
 * attribute `question` limits it to one question.
 */
export function addPlacements(): void {
  setPresenter(createPresenter);
}

const ownPlacement = (host: Element): string | null => host.getAttribute('placement');

const KNOWN = /^(inline|modal|button|popover-(top|bottom)-(left|center|right))$/;

/** The first placement that this version knows. */
const firstKnown = (...placements: (string | null | undefined)[]) =>
  placements.find(placement => KNOWN.test(`${placement}`)) as Placement | undefined;

/** Whether a view shows a card; those placed behind a button are shown by a view with a button, if the page has one. */
function accepts(host: Element, { question_id, placement }: Card): boolean {
  const question = host.getAttribute('question');
  if (question) return question_id === question;
  const hasButton = () => document.querySelector(`${host.localName}[placement=button]`);
  return placement !== 'button' || ownPlacement(host) === 'button' || !hasButton();
}

const renderTab = (): HTMLButtonElement =>
  element('button.button tab', { type: 'button', 'aria-haspopup': 'dialog', popover: 'manual', hidden: '' });

/** Whether a click opens the card of a view, also in the shadow root of another element. */
function opensFrom(host: Element, event: Event): boolean {
  const opens = host.getAttribute('opens');
  return Boolean(opens && event.composedPath().some(node => node instanceof Element && node.matches(opens)));
}

function setTab(tab: HTMLButtonElement, label: string, isShown: boolean): void {
  tab.textContent = label;
  if (tab.hidden !== isShown) return;
  tab.hidden = !isShown;
  if (isShown) tab.showPopover?.();
  else tab.hidePopover?.();
}

function createPresenter({ host, frame, texts, appearance, focus, isBegun, dismiss, reload }: Scene): Presenter {
  const root = frame.getRootNode() as ShadowRoot;
  const parent = frame.parentElement as HTMLElement;
  const tab = renderTab();
  let shown: Card | undefined;
  /** Of the shown card. */
  let placement: Placement | undefined;
  /** Removes the open panel. */
  let shut: (() => void) | undefined;

  const placementOf = (card: Card) =>
    firstKnown(ownPlacement(host), card.placement, appearance()?.placement) ?? 'inline';
  const waits = (card: Card) => placementOf(card) === 'button';

  const showTab = (isShown: boolean) => setTab(tab, host.getAttribute('label') ?? texts().view, isShown);

  function open(): void {
    busy.cancel();
    frame.hidden = false;
    const at = isBlocked(host) ? 'modal' : placement; // the user has clicked in a dialog of the page
    const panel = openPanel(parent, at, texts(), { frame, onClose: dismiss });
    showTab(false);
    if (at === 'modal') focus();
    const unwatch = watchClosing(panel.node, { close: dismiss, isBegun });
    shut = () => {
      shut = undefined;
      unwatch();
      panel.remove();
    };
  }
  /** Opens the panel for a click, or closes it unless the card is begun. Without a card, it asks for new ones first. */
  async function toggle(): Promise<void> {
    if (shut) return isBegun() ? focus() : dismiss();
    if (!placement) await reload();
    if (!placement) return;
    open();
    focus();
  }

  addSheet(root, STYLES);
  parent.append(element('div.frame', {}, tab));
  tab.addEventListener('click', toggle);
  // On the way down, because the app may keep the event from going up; the panel opens after the work of the app.
  const stopListening = listen(document, 'click', event => opensFrom(host, event) && setTimeout(toggle), true);
  const busy = watchBusy(host);
  function show(next: Card | undefined, opens = false): void {
    busy.cancel();
    shown = next;
    placement = next && placementOf(next);
    const isInline = !placement || placement === 'inline';
    const isClosed = placement === 'button' && !shut && !opens;
    host.style.display = isInline ? '' : 'contents';
    showTab(isClosed && !host.hasAttribute('opens'));
    const opensNow = !isInline && !isClosed && !shut;
    frame.hidden = isClosed || opensNow;
    if (isInline) shut?.();
    else if (opensNow) busy.whenOver(placement === 'modal', open);
  }

  return {
    // One that waits for a click does not keep others away.
    select: cards => cards.filter(card => accepts(host, card)).sort((a, b) => Number(waits(a)) - Number(waits(b))),
    covers: card => placementOf(card) !== 'inline',
    waits,
    show,
    moved() {
      const card = shown;
      const wasOpen = Boolean(shut);
      show(undefined);
      show(card, wasOpen);
    },
    close() {
      busy.stop();
      shut?.();
      stopListening();
      host.style.display = '';
    },
  };
}
