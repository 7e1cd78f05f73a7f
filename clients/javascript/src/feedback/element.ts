import type { Client } from '../client.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { checkMetadata, type Metadata } from '../session/metadata.ts';
import { openStage, type Stage } from './stage.ts';

/** The `<parley-feedback>` element. */
export interface FeedbackElement extends HTMLElement {
  /** Client that fetches cards. The element starts once it is connected and both properties are set. */
  client: Client | undefined;
  /** Outbox for answers. */
  outbox: Outbox | undefined;
  /**
   * Fields of the app's own, stored as `metadata` with the answers to cards displayed from now on: at most 18, with names
   * of 1 to 64 of the characters A-Z a-z 0-9 _ . - that the view does not set, and up to 256 characters. The setter throws `invalid-argument` for others.
   */
  context: Metadata | undefined;
  /** Refetches the cards. The displayed card stays if it is still among them. */
  reload(): Promise<void>;
}

interface Parts {
  client?: Client | undefined;
  outbox?: Outbox | undefined;
  context?: Metadata | undefined;
}

/** Creates the element class lazily: `HTMLElement` exists only in browsers. */
export function createFeedbackClass(): new () => FeedbackElement {
  return class ParleyFeedback extends HTMLElement implements FeedbackElement {
    private readonly root = this.attachShadow({ mode: 'open' });
    private readonly parts: Parts = {};
    private stage: Stage | undefined;

    get client() {
      return this.parts.client;
    }
    set client(client) {
      this.use('client', client);
    }
    get outbox() {
      return this.parts.outbox;
    }
    set outbox(outbox) {
      this.use('outbox', outbox);
    }

    get context() {
      return this.parts.context;
    }
    set context(context) {
      checkMetadata(context, true);
      this.parts.context = context;
    }

    connectedCallback() {
      if (!this.stage) this.dataset.state = 'empty';
      for (const name of ['context', 'client', 'outbox'] as const) {
        // A property that was set before the element was upgraded shadows that of the class.
        const value = this[name];
        delete (this as Parts)[name];
        this.parts[name] = value as never;
      }
      checkMetadata(this.context, true);
      if (this.stage) this.stage.moved();
      else this.begin();
    }

    disconnectedCallback() {
      // A router may only move the element, which then keeps its card and the input.
      queueMicrotask(() => {
        if (!this.isConnected) this.begin();
      });
    }

    async reload() {
      await this.stage?.reload();
    }

    private use<Name extends keyof Parts>(name: Name, part: Parts[Name]) {
      if (part === this.parts[name]) return;
      this.parts[name] = part;
      this.begin();
    }

    /** Starts once all parts are known and the element is in the page; ends otherwise. */
    private begin() {
      const { client, outbox } = this.parts;
      this.stage?.close();
      this.stage = client && outbox && this.isConnected ? openStage(this, this.root, client, outbox) : undefined;
    }
  };
}
