import type { Card, Placement } from '../types.ts';
import type { Texts } from './texts.ts';

/** The parts of a view that a presenter uses. */
export interface Scene {
  host: HTMLElement;
  /** Has the card or the thanks. */
  frame: HTMLElement;
  texts(): Texts;
  /** Moves the focus to the question. */
  focus(): void;
  /** Ends the displayed card as `dismissed`, or closes the thanks. */
  dismiss(): void;
  reload(): Promise<void>;
}

/** Places the cards of a view elsewhere than inline. */
export interface Presenter {
  /** Whether this view shows the card. */
  accepts(card: Card): boolean;
  /** Whether cards of this placement appear over the page. */
  covers(placement: Placement): boolean;
  /** Places the frame, which has a card or the thanks; undefined: it is empty. */
  show(placement: Placement | undefined): void;
  /** Removes its additions to the page. */
  close(): void;
}

let present: ((scene: Scene) => Presenter) | undefined;

/** Sets how all views that start from now on place their cards; without it, they are inline. */
export function setPresenter(presenter: (scene: Scene) => Presenter): void {
  present = presenter;
}

export const presenterFor = (scene: Scene): Presenter | undefined => present?.(scene);
