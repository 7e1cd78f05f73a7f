import type { Client } from '../client.ts';
import { listen } from '../listen.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Content, End } from '../session/content.ts';
import { createDraft } from '../session/draft.ts';
import { isSupported } from '../session/steps.ts';
import { asOwner } from '../tokens.ts';
import type { Card } from '../types.ts';
import { applyAppearance } from './appearance.ts';
import { type CardEvents, type CardView, renderCard } from './card-view.ts';
import { element } from './dom.ts';
import { type Keeper, type KeptDraft, openDrafts } from './drafts.ts';
import { languageOf, metadataOf, queryOf, type StageHost } from './environment.ts';
import { keepKeys } from './keys.ts';
import { presenterFor } from './presenter.ts';
import { createReturn } from './return.ts';
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

interface Shown {
  card: Card;
  view: CardView;
  keeper: Keeper;
}

/** The view itself returns after the `Retry-After` of a response. */
const NO_WAIT = { retry: { longestRetryAfterMs: 0 } };

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
  let shown: Shown | undefined;
  /** Cards that are hidden because the user has left their page, by id. */
  const aside = new Map<string, Shown>();
  const drafts = openDrafts(client.baseUrl, client.wire.now);
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
    comeback.cancel();
    const mine = ++turn;
    fetchedAt = client.wire.now();
    if (!isAfterAnswer) finished.clear();
    try {
      const cards = await client.listCards(queryOf(host), NO_WAIT);
      if (mine === turn) await take(cards);
    } catch (error) {
      if (mine !== turn) return;
      hasFailed = true;
      comeback.after(error);
      onError(error);
      if (!shown && !thanks) await restore();
    }
  }

  const reload = () => load(false);
  const comeback = createReturn(client.wire, reload);

  /** Queues new cards. One with a draft on the device is shown with it, or by the page that keeps it. */
  async function take(cards: Card[]): Promise<void> {
    const mine = turn;
    const isShown = ({ id }: Card) => id === shown?.card.id;
    const known = accepted(cards).filter(card => !finished.has(card.id) && (isShown(card) || !drafts.has(card.id)));
    const others = known.filter(card => !isShown(card));
    coming = [...coming.filter(({ trigger }) => trigger), ...others];
    // An answer that the user has begun may itself have removed its card from the list, once the tab was hidden.
    if (!thanks && !shown?.view.isBegun() && !shown?.card.trigger && others.length === known.length)
      await replaceShown();
    if (mine === turn) tell(host, 'cards', { count: known.length + Number(Boolean(shown && !known.some(isShown))) });
  }

  /** Puts the displayed card away, and shows the next one: a draft first, unless another page has just begun it. */
  async function replaceShown(isBegunElsewhere = false): Promise<void> {
    const mine = turn;
    await putAway();
    if (mine === turn && !shown && (isBegunElsewhere || !(await restore()))) next(false);
  }

  /** Whether this view is in a layout that is displayed. A view without another one may appear once it has a card. */
  function isDisplayed(): boolean {
    clear('card'); // without one it has no box
    const hasBox = region.getClientRects().length > 0;
    clear('empty');
    return hasBox || document.querySelectorAll(host.localName).length < 2;
  }

  /** Shows the card that the user has left unfinished, where it was left, unless another page has it. Returns whether a card is shown. */
  async function restore(): Promise<boolean> {
    const mine = turn;
    const owner = client.heldOwner?.();
    for (const { card } of owner ? drafts.of(owner) : []) {
      if (accepted([card]).length === 0 || !isDisplayed()) continue;
      const keeper = drafts.keeperOf(card.id);
      const kept = (await keeper.hold()) && mine === turn && !shown ? keeper.read() : undefined;
      if (kept && resumeAt(kept, keeper)) return true;
      keeper.release();
      if (mine !== turn || shown) return true;
    }
    return false;
  }

  /** Displays a draft; returns whether it is whole. */
  function resumeAt(kept: KeptDraft, keeper: Keeper): boolean {
    client.adopt?.(kept.card.id, kept.owner);
    try {
      display(render(kept.card, keeper, kept));
      return true;
    } catch {
      keeper.end();
      return false;
    }
  }

  /** Shows a card whose trigger has occurred, after the displayed one. Returns whether this view shows it. */
  function takeTriggered(card: Card): boolean {
    if (accepted([card]).length === 0) return false;
    if (shown?.card.id === card.id || coming.some(({ id }) => id === card.id)) return true;
    if (drafts.has(card.id)) {
      if (!shown && !thanks) void restore();
      return true;
    }
    coming.unshift(card);
    if (!shown && !thanks) next(false);
    return true;
  }

  /** Hides a card whose page the user has left, unless it is begun. Returns whether it was to be shown or shown here. */
  function hide({ id }: Card): boolean {
    const count = coming.length;
    coming = coming.filter(card => card.id !== id);
    if (shown?.card.id !== id) return coming.length < count;
    if (shown.view.isBegun()) return false;
    aside.set(id, shown);
    shown = undefined;
    leaveTo(false);
    return true;
  }

  /** Renders a card; `kept` is its draft on this device. */
  function render(card: Card, keeper: Keeper, kept?: KeptDraft): Shown {
    const draft = createDraft(card, { outbox, now: client.wire.now, metadata: metadataOf(host), from: kept?.answer });
    const owner = client.ownerOf?.(card.id) ?? client.heldOwner?.();
    const events: CardEvents = {
      onContent: content => draft.save(content).catch(onError),
      onInput(input) {
        if (owner) keeper.keep(input && { owner: asOwner(owner), card, answer: draft.state(), input });
      },
      onEnd: keeper.end,
      onEnded(content, how) {
        if (shown?.view === view) end(card, content, how);
      },
    };
    const view = renderCard(card, textsFor(languageOf(host)).texts, events, kept?.input);
    return { card, view, keeper };
  }

  /** Shows the next card, if any; `goesOn`: the user has just finished a card. */
  function next(goesOn: boolean): void {
    const card = coming.shift();
    display(card && (aside.get(card.id) ?? render(card, drafts.keeperOf(card.id))));
    if (goesOn && card) shown?.view.focus();
  }

  /** Displays a rendered card, or an empty view. */
  function display(rendered: Shown | undefined): void {
    const { language, texts } = textsFor(languageOf(host));
    clear(rendered ? 'card' : 'empty');
    region.setAttribute('aria-label', texts.view);
    frame.lang = language;
    const given = appearance();
    if (given) applyAppearance(surface, host, given);
    shown = rendered;
    if (rendered) {
      aside.delete(rendered.card.id);
      region.append(rendered.view.node);
    }
    presenter?.show(rendered?.card, rendered?.view.isBegun());
  }

  function end(card: Card, content: Content, how: End): void {
    shown = undefined;
    const isDismissed = how === 'dismissed';
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
      } else if (!isDismissed && sent && !sent.error) void load(true); // the answer may qualify the user for others
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
    aside.delete(id);
    if (shown?.card.id !== id) return;
    shown.keeper.end();
    void replaceShown();
  }

  /** Continues after Back to a page that the browser has kept; if another page has changed the draft, from there. */
  async function resume({ view, keeper }: Shown): Promise<void> {
    if (keeper.isLatest() && (await keeper.hold()) && keeper.isLatest()) return;
    if (shown?.view !== view) return;
    view.discard();
    keeper.release();
    shown = undefined;
    display(undefined);
    await reload();
  }

  function clear(state: 'empty' | 'card' | 'thanks'): void {
    thanks = undefined;
    region.replaceChildren();
    status.replaceChildren();
    host.dataset.state = state;
  }

  const send = () => outbox.flush().catch(onError);

  /** Records and sends the input when the card stops being displayed. Thanks may name their user, and go too. */
  async function putAway(): Promise<void> {
    if (!shown && !thanks) return;
    const saved = shown?.view.leave();
    shown?.keeper.release();
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
    isBegun: () => Boolean(shown?.view.isBegun()),
    dismiss: () => (shown ? shown.view.dismiss() : thanks?.close()),
  });
  const listeners = [
    listen(
      window,
      'pagehide',
      () => {
        leave();
        shown?.keeper.release(); // the next page may go on with the card, and a lock would keep this one from Back
        fetchedAt = 0; // Back may show the page again, and other pages may have asked its question
      },
      true,
    ),
    listen(window, 'pageshow', ({ persisted }: PageTransitionEvent) => {
      if (persisted && shown?.view.isBegun()) void resume(shown);
    }),
    // Another tab has begun to answer the displayed card.
    listen(window, 'storage', ({ key, newValue }: StorageEvent) => {
      if (newValue && shown && key === drafts.nameOf(shown.card.id) && !shown.view.isBegun()) void replaceShown(true);
    }),
    ...keepKeys(root),
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
      aside.clear();
      turn++;
      shown?.keeper.end();
      void putAway().then(reload);
    }),
    outbox.onRefused?.(onError),
    client.onTriggered?.(takeTriggered, hide), // may show a card at once
  ];
  void reload();
  return {
    reload,
    moved: () => presenter?.moved(),
    close() {
      for (const stop of listeners) stop?.();
      isClosed = true;
      turn++;
      comeback.cancel();
      void putAway();
      presenter?.close();
    },
  };
}
