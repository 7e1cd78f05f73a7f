import type { Client } from '../client.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { AnswerState, Card } from '../types.ts';
import { type CardView, renderCard } from './card-view.ts';
import { element } from './dom.ts';
import { createDraft } from './draft.ts';
import { isKnown } from './inputs.ts';
import { addStyles } from './styles.ts';
import { textsFor } from './texts.ts';

/** Library name in the answers' metadata. */
const SDK = 'javascript/0.1.0';

/** The `<parley-feedback>` element. */
export interface FeedbackElement extends HTMLElement {
  /** Client that fetches cards. The element starts once it is connected and both properties are set. */
  client: Client | undefined;
  /** Outbox for answers. */
  outbox: Outbox | undefined;
  /** Refetches the cards. The displayed card stays if it is still among them. */
  reload(): Promise<void>;
}

/** The nearest `lang` around an element, or the browser's language. */
const languageOf = (node: Element): string => node.closest<HTMLElement>('[lang]')?.lang || navigator.language;

/** Creates the element class lazily: `HTMLElement` exists only in browsers. */
export function createFeedbackClass(): new () => FeedbackElement {
  return class ParleyFeedback extends HTMLElement implements FeedbackElement {
    private parts: { client?: Client | undefined; outbox?: Outbox | undefined } = {};
    /** Cards after the displayed one. */
    private coming: Card[] = [];
    private shown: { card: Card; view: CardView } | undefined;
    private readonly stage = element('div', { part: 'view', role: 'region' });
    private readonly status = element('div', { part: 'status', role: 'status' });
    private unsubscribe: (() => void) | undefined;
    /** Sequence number of the current load; results of earlier loads are ignored. */
    private turn = 0;
    private hasFailed = false;

    constructor() {
      super();
      const root = this.attachShadow({ mode: 'open' });
      addStyles(root);
      root.append(this.stage, this.status);
    }

    get client() {
      return this.parts.client;
    }
    set client(client) {
      this.parts.client = client;
      this.begin();
    }
    get outbox() {
      return this.parts.outbox;
    }
    set outbox(outbox) {
      this.parts.outbox = outbox;
      this.begin();
    }

    connectedCallback() {
      this.dataset.state = 'empty';
      this.adopt('client');
      this.adopt('outbox');
      addEventListener('pagehide', this.leave, true);
      addEventListener('online', this.retry);
      document.addEventListener('visibilitychange', this.onVisibility, true);
      this.begin();
    }

    disconnectedCallback() {
      removeEventListener('pagehide', this.leave, true);
      removeEventListener('online', this.retry);
      document.removeEventListener('visibilitychange', this.onVisibility, true);
      this.unsubscribe?.();
      this.turn++;
      void this.putAway();
    }

    async reload() {
      const { client } = this.parts;
      if (!client || !this.isConnected) return;
      const turn = ++this.turn;
      try {
        const cards = await client.listCards(this.query());
        if (turn === this.turn) await this.take(cards);
      } catch (error) {
        if (turn !== this.turn) return;
        this.hasFailed = true;
        this.tell('parley-error', { error });
      }
    }

    /** Queues new cards; skips types that this version does not support. */
    private async take(cards: Card[]) {
      const known = cards.filter(card => card.kind === 'question' && card.steps.every(isKnown));
      const shownId = this.shown?.card.id;
      this.coming = known.filter(({ id }) => id !== shownId);
      this.tell('parley-cards', { count: known.length });
      if (shownId !== undefined && this.coming.length < known.length) return;
      const turn = this.turn;
      await this.putAway();
      if (turn === this.turn) this.next(false);
    }

    /** Applies a property that was set before the element was upgraded and shadows the class's property. */
    private adopt(name: 'client' | 'outbox') {
      if (!Object.getOwnPropertyDescriptor(this, name)) return;
      const value = this[name];
      delete (this as Partial<FeedbackElement>)[name];
      (this as FeedbackElement)[name] = value as never;
    }

    private begin() {
      const { client, outbox } = this.parts;
      if (!client || !outbox || !this.isConnected) return;
      this.unsubscribe?.();
      this.unsubscribe = client.onLogout(this.onLogout);
      void this.reload();
    }

    private version(): Record<string, string> {
      const version = this.getAttribute('app-version');
      return { platform: 'web', locale: languageOf(this), ...(version ? { app_version: version } : {}) };
    }

    private query() {
      const limit = this.getAttribute('limit');
      return { ...this.version(), ...(limit ? { limit: Number(limit) } : {}) };
    }

    private metadata(): Record<string, string> {
      return { ...this.version(), sdk: SDK, screen: `${screen.width}x${screen.height}` };
    }

    /** Shows the next card or the end; `goesOn`: the user has just finished the previous card. */
    private next(goesOn: boolean) {
      const { client, outbox } = this.parts;
      const { language, texts } = textsFor(languageOf(this));
      this.stage.setAttribute('aria-label', texts.view);
      this.stage.lang = this.status.lang = language;
      const card = this.coming.shift();
      if (!card || !client || !outbox) return this.finish(goesOn, texts.thanks);
      const onError = (error: unknown) => this.tell('parley-error', { error });
      const draft = createDraft(card, { outbox, now: client.wire.now, metadata: this.metadata(), onError });
      const view = renderCard(card, texts, draft, state => this.onEnd(card, state));
      this.shown = { card, view };
      this.status.replaceChildren();
      this.stage.replaceChildren(view.node);
      this.dataset.state = 'card';
      if (goesOn) view.focus();
    }

    private finish(goesOn: boolean, thanks: string) {
      this.stage.replaceChildren();
      this.dataset.state = goesOn ? 'thanks' : 'empty';
      if (!goesOn) return;
      const note = element('p', { part: 'thanks', tabindex: -1 }, thanks);
      this.status.replaceChildren(note);
      note.focus();
      this.tell('parley-done', {});
    }

    private onEnd(card: Card, state: AnswerState) {
      if (this.shown?.card !== card) return;
      this.shown = undefined;
      this.next(true);
      this.tell('parley-answer', { card, state });
      void this.send();
    }

    private async send() {
      try {
        await this.parts.outbox?.flush();
      } catch (error) {
        this.tell('parley-error', { error });
      }
    }

    /** Records and sends the input when the card stops being displayed. */
    private async putAway() {
      if (!this.shown) return;
      const saved = this.shown.view.save();
      this.shown = undefined;
      this.stage.replaceChildren();
      await saved;
      await this.send();
    }

    /** The page may be unloaded right after this returns. */
    private readonly leave = () => {
      void this.shown?.view.save();
      this.parts.outbox?.flushBeyondPage();
    };

    private readonly onVisibility = () => {
      if (document.visibilityState === 'hidden') this.leave();
    };

    private readonly retry = () => {
      if (this.hasFailed) void this.reload();
      this.hasFailed = false;
    };

    private readonly onLogout = () => {
      this.coming = [];
      this.turn++;
      void this.putAway().then(() => this.reload());
    };

    private tell(type: string, detail: object) {
      this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));
    }
  };
}
