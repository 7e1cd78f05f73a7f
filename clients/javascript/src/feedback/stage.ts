import type { Client } from '../client.ts';
import { listen } from '../listen.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Content } from '../session/content.ts';
import { createDraft } from '../session/draft.ts';
import type { Metadata } from '../session/metadata.ts';
import { isSupported } from '../session/steps.ts';
import type { Card, CardQuery } from '../types.ts';
import { SDK } from '../version.ts';
import { applyAppearance } from './appearance.ts';
import { type CardView, renderCard } from './card-view.ts';
import { element, parentOf } from './dom.ts';
import { presenterFor } from './presenter.ts';
import { addSheet, STYLES } from './styles.ts';
import { textsFor } from './texts.ts';
import { renderThanks, type ThanksView } from './thanks.ts';

/** Shows the cards of the user, one at a time. */
export interface Stage {
  /** Refetches the cards. The displayed card stays if it is still among them. */
  reload(): Promise<void>;
  /** Opens the popover or dialog again, which the browser has closed because the element was moved. */
  moved(): void;
  /** Saves and sends the input, and shows no more cards. */
  close(): void;
}

interface StageHost extends HTMLElement {
  context: Metadata | undefined;
}

/** The nearest `lang` around an element, or the browser's language. */
const languageOf = (node: Element | undefined): string =>
  node ? (node as HTMLElement).lang || languageOf(parentOf(node)) : navigator.language;

/** Without attributes, values are undefined, which are not sent. */
const environmentOf = (host: Element) => ({
  platform: 'web',
  locale: languageOf(host),
  app_version: (host.getAttribute('app-version') || undefined) as string,
});

const queryOf = (host: Element): CardQuery => ({
  ...environmentOf(host),
  limit: (Number(host.getAttribute('limit')) || undefined) as number,
});

const metadataOf = (host: StageHost): Metadata => ({
  ...host.context,
  ...environmentOf(host),
  sdk: SDK.replace('parley-', ''),
  screen: `${screen.width}x${screen.height}`,
});

/** Dispatches an event of the element. */
const tell = (host: Element, type: string, detail: object): void =>
  void host.dispatchEvent(new CustomEvent(`parley-${type}`, { detail, bubbles: true, composed: true }));

/** Opens the stage of an element, which has the attributes and dispatches the events, and fetches the cards. */
export function openStage(host: StageHost, root: ShadowRoot, client: Client, outbox: Outbox): Stage {
  const region = element('div.view', { role: 'region' });
  const status = element('div.status', { role: 'status' });
  const frame = element('div.frame', {}, region, status);
  /** Has the tenant's appearance. */
  const surface = element('div', {}, frame);
  /** Cards after the displayed one. */
  let coming: Card[] = [];
  let shown: { card: Card; view: CardView } | undefined;
  /** Whether the user has begun to answer it, or is finishing it. */
  let isBegun = false;
  let thanks: ThanksView | undefined;
  /** The element that had the focus before the view. */
  let origin: HTMLElement | null = null;
  /** Sequence number of the current load; results of earlier loads are ignored. */
  let turn = 0;
  let isClosed = false;
  let hasFailed = false;
  let fetchedAt = 0;
  /** Finished cards, which a list that is fetched right after an answer may still contain. */
  const finished = new Set<string>();

  const onError = (error: unknown) => tell(host, 'error', { error });
  const texts = () => textsFor(languageOf(host)).texts;
  const appearance = () => client.appearance?.(); // a client of the app's own may lack it
  /** The cards that this version supports and this view shows. */
  const accepted = (cards: Card[]) => {
    const known = cards.filter(isSupported);
    return presenter?.select(known) ?? known;
  };

  async function load(isAfterAnswer: boolean): Promise<void> {
    if (isClosed) return;
    const mine = ++turn;
    fetchedAt = client.wire.now();
    if (!isAfterAnswer) finished.clear();
    try {
      const cards = await client.listCards(queryOf(host));
      if (mine === turn) await take(cards);
    } catch (error) {
      if (mine !== turn) return;
      hasFailed = true;
      onError(error);
    }
  }

  const reload = () => load(false);

  /** Queues new cards. */
  async function take(cards: Card[]): Promise<void> {
    const known = accepted(cards).filter(({ id }) => !finished.has(id));
    const others = known.filter(({ id }) => id !== shown?.card.id);
    coming = [...coming.filter(({ trigger }) => trigger), ...others];
    tell(host, 'cards', { count: known.length });
    // An answer that the user has begun may itself have removed its card from the list, once the tab was hidden.
    if (!thanks && !isBegun && !shown?.card.trigger && others.length === known.length) await replaceShown();
  }

  /** Puts the displayed card away, and shows the next one. */
  async function replaceShown(): Promise<void> {
    const mine = turn;
    await putAway();
    if (mine === turn && !shown) next(false);
  }

  /** Shows a card whose trigger has occurred, after the displayed one. Returns whether this view shows it. */
  function takeTriggered(card: Card): boolean {
    if (accepted([card]).length === 0) return false;
    if (shown?.card.id === card.id || coming.some(({ id }) => id === card.id)) return true;
    coming.unshift(card);
    if (!shown && !thanks) next(false);
    return true;
  }

  /** Shows the next card, if any; `goesOn`: the user has just finished a card. */
  function next(goesOn: boolean): void {
    const { language, texts } = textsFor(languageOf(host));
    const card = coming.shift();
    clear(card ? 'card' : 'empty');
    region.setAttribute('aria-label', texts.view);
    frame.lang = language;
    const given = appearance();
    if (given) applyAppearance(surface, host, given);
    if (card) {
      const draft = createDraft(card, { outbox, now: client.wire.now, metadata: metadataOf(host) });
      const save = (content: Content) => {
        isBegun = content.state !== 'seen';
        return draft.save(content).catch(onError);
      };
      const view = renderCard(card, texts, save, content => {
        if (shown?.view === view) end(card, content);
      });
      shown = { card, view };
      region.append(view.node);
    }
    presenter?.show(card);
    if (goesOn && card) shown?.view.focus();
  }

  function end(card: Card, content: Content): void {
    shown = undefined;
    const isDismissed = content.state === 'dismissed';
    if (isDismissed && presenter?.covers(card)) coming = []; // the next one would open at once
    const isLast = coming.length === 0;
    if (!isDismissed && (isLast || card.thanks)) thank(card);
    else leaveTo(!isDismissed || !isLast);
    if (isLast) tell(host, 'done', {});
    tell(host, 'answer', { card, ...content });
    finished.add(card.id);
    void send().then(sent => {
      if (presenter?.waits(card)) {
        if (!thanks) void reload(); // it may be asked again
      } else if (!isDismissed && sent?.outcome === 'done') void load(true); // the answer may qualify the user for others
    });
  }

  function thank(card: Card): void {
    clear('thanks');
    thanks = renderThanks(card.thanks, texts(), () => {
      leaveTo(false);
      if (presenter?.waits(card)) void reload(); // by now, the list takes the answer into account
    });
    status.append(thanks.node);
    presenter?.show(card);
    thanks.focus();
  }

  /** Goes on after a card or the thanks. The focus does not get lost. */
  function leaveTo(goesOn: boolean): void {
    const hadFocus = root.activeElement;
    next(goesOn || Boolean(hadFocus));
    if (!shown && hadFocus && !root.activeElement) origin?.focus({ preventScroll: true });
  }

  /** Removes a card that was answered in another view. */
  function drop({ id }: Card): void {
    finished.add(id);
    coming = coming.filter(card => card.id !== id);
    if (shown?.card.id === id) void replaceShown();
  }

  function clear(state: 'empty' | 'card' | 'thanks'): void {
    thanks = undefined;
    isBegun = false;
    region.replaceChildren();
    status.replaceChildren();
    host.dataset.state = state;
  }

  const send = () => outbox.flush().catch(onError);

  /** Records and sends the input when the card stops being displayed. Thanks may name their user, and go too. */
  async function putAway(): Promise<void> {
    if (!shown && !thanks) return;
    const saved = shown?.view.leave();
    shown = undefined;
    clear('empty');
    presenter?.show(undefined);
    await saved;
    await send();
  }

  /** The page may be unloaded right after this returns. */
  const leave = () => {
    void shown?.view.save();
    outbox.flushBeyondPage();
  };
  root.replaceChildren(surface);
  root.adoptedStyleSheets &&= [];
  addSheet(root, STYLES);
  clear('empty');
  const presenter = presenterFor({
    ...{ host, frame, texts, appearance, reload },
    focus: () => shown?.view.focus(),
    dismiss: () => (shown ? shown.view.dismiss() : thanks?.close()),
  });
  const listeners = [
    listen(
      window,
      'pagehide',
      () => {
        leave();
        fetchedAt = 0; // Back may show the page again, and other pages may have asked its question
      },
      true,
    ),
    listen(
      document,
      'visibilitychange',
      () => {
        if (document.visibilityState === 'hidden') leave();
        else if (client.wire.now() - fetchedAt >= (client.pollAfterMs?.() ?? 60_000)) void reload();
      },
      true,
    ),
    listen(window, 'online', () => {
      if (hasFailed) void reload();
      hasFailed = false;
    }),
    listen(host, 'focusin', ({ relatedTarget }: FocusEvent) => {
      if (relatedTarget) origin = relatedTarget as HTMLElement; // null if the focus was on a removed card
    }),
    // The keyboard of a phone covers the lower edge of the window; a zoom by fingers does not.
    visualViewport &&
      listen<Event & { target: VisualViewport }>(visualViewport, 'resize', ({ target: { height, offsetTop, scale } }) =>
        surface.style.setProperty('--_below', `${Math.max(0, innerHeight - height * scale - offsetTop)}px`),
      ),
    // Another view of the page has the same card: a layout for phones next to one for desktops, for example.
    listen(document, 'parley-answer', (event: CustomEvent<{ card: Card }>) => {
      if (event.composedPath()[0] !== host) drop(event.detail.card);
    }),
    client.onLogout(() => {
      coming = [];
      turn++;
      void putAway().then(reload);
    }),
    client.onTriggered?.(takeTriggered), // may show a card at once
  ];
  void reload();
  return {
    reload,
    moved: () => presenter?.moved(),
    close() {
      for (const stop of listeners) stop?.();
      isClosed = true;
      turn++;
      void putAway();
      presenter?.close();
    },
  };
}
