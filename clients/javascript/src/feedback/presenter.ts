import type { Appearance, Card } from '../types.ts';
import type { Texts } from './texts.ts';

/** The parts of a view that a presenter uses. */
export interface Scene {
  host: HTMLElement;
  /** Has the card or the thanks. */
  frame: HTMLElement;
  texts(): Texts;
  /** Of the tenant. */
  appearance(): Appearance | undefined;
  /** Moves the focus to the question. */
  focus(): void;
  /** Whether the user has begun to answer the displayed card. */
  isBegun(): boolean;
  /** Ends the displayed card as *Not now* does, or closes the thanks. */
  dismiss(): void;
  reload(): Promise<void>;
}

/** Places the cards of a view elsewhere than inline. */
export interface Presenter {
  /** The cards that this view shows, in order. */
  select(cards: Card[]): Card[];
  /** Whether the card appears over the page. */
  covers(card: Card): boolean;
  /** Whether the card waits for a click. It may be asked again. */
  waits(card: Card): boolean;
  /** Places the frame, which has the card or its thanks; undefined: it is empty. `opens`: also if the card waits for a click. */
  show(card: Card | undefined, opens?: boolean): void;
  /** Opens the popover or dialog again, which the browser has closed because the element was moved. */
  moved(): void;
  /** Removes its additions to the page. */
  close(): void;
}

let present: ((scene: Scene) => Presenter) | undefined;

/** Sets how all views that start from now on place their cards; without it, they are inline. */
export function setPresenter(presenter: (scene: Scene) => Presenter): void {
  present = presenter;
}

export const presenterFor = (scene: Scene): Presenter | undefined => present?.(scene);
