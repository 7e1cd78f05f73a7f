import { reportUncaught } from '../callbacks.ts';
import { type FieldError, ParleyError } from '../errors.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { AnswerValue, Card, CardStep } from '../types.ts';
import type { Content, End, Entered } from './content.ts';
import { createDraft } from './draft.ts';
import { checkMetadata, type Metadata } from './metadata.ts';
import type { Fault } from './rules.ts';
import { isKnownShowIf } from './steps.ts';
import { createWalk } from './walk.ts';

export interface CardSessionOptions {
  /** Outbox that records and sends the answer. */
  outbox: Pick<Outbox, 'record' | 'flush'>;
  /**
   * Stored with the answer, such as `{ platform: 'web', locale: 'de', screen: 'Checkout' }`: the standard fields and at
   * most 18 of your own. `card_locale` is added.
   */
  metadata?: Metadata;
  /** Milliseconds since 1970; defaults to the device's clock. */
  now?: () => number;
}

/** The answer to one card in an interface of your own. It counts revisions, and saves each change in the outbox. */
export interface CardSession {
  readonly card: Card;
  /** The steps to show now, in order. They may change with each `set`: read them again after it. */
  readonly steps: readonly CardStep[];
  /** The current step, for an interface that shows one after another. If a change hides it, the one before it. */
  readonly step: CardStep;
  /** Position of the current step among the shown ones, from 1, and their number. */
  readonly progress: { number: number; count: number };
  /** The current content: the valid values of the shown steps. */
  readonly content: Readonly<Content>;
  /** Records that the user has seen the card. Call it when it is displayed: response rates count it. */
  show(): Promise<void>;
  /** Sets the value of a step; undefined removes it. Throws `invalid-argument` for a step that the card does not have. */
  set(step: string, value: AnswerValue | undefined): Promise<void>;
  /** Sets the comment, which questions with a score accept. */
  setComment(comment: string): Promise<void>;
  /**
   * Goes to the next step and records the answer; undefined after the last step: then call `complete`. Rejects with
   * `invalid-argument` if the current step has a fault.
   */
  next(): Promise<CardStep | undefined>;
  /** Goes to the previous step; undefined at the first one. All values stay. */
  back(): CardStep | undefined;
  /** Faults of one step or of all shown steps, in order; empty if the answer is complete. */
  validate(step?: string): Fault[];
  /** Records the complete answer and sends it in the background. Rejects with `invalid-argument`, with the faults as `errors`. */
  complete(): Promise<Content>;
  /** Records that the user declined to go on, and sends it in the background. An answer with a value of `main` is then `partial`. */
  dismiss(): Promise<void>;
}

const refuse = (message: string, errors: FieldError[] = []): ParleyError =>
  new ParleyError('invalid-argument', message, { errors });

/**
 * Creates the answer to a card, for an interface of your own. Throws `invalid-argument` for metadata that servers reject,
 * and for conditions of a later server: check `isSupported(card)` before.
 */
export function createCardSession(card: Card, options: CardSessionOptions): CardSession {
  const { outbox, metadata = {}, now = Date.now } = options;
  checkMetadata(metadata);
  if (!card.steps.every(({ show_if }) => isKnownShowIf(show_if)))
    throw refuse('The card needs a later version of this library.');
  const draft = createDraft(card, { outbox, now, metadata });
  const entered: Entered = { values: {}, comment: '' };
  const walk = createWalk(card.steps, () => entered);
  let end: End;

  const validate = (step?: string) => walk.faults().filter(fault => step === undefined || fault.step === step);
  const save = () => draft.save(walk.content(end));
  const demandOpen = () => {
    if (end) throw refuse('The card is already answered.');
  };
  async function finish(state: End): Promise<Content> {
    demandOpen();
    end = state;
    try {
      await save();
    } finally {
      outbox.flush().catch(reportUncaught); // recorded: the next flush sends it, and returns a failure that persists
    }
    return walk.content(end);
  }
  function demandValid(faults: Fault[]): void {
    const errors = faults.map(
      ({ step, code }): FieldError => ({ pointer: `/values/${step}`, code, detail: `${step} is ${code}` }),
    );
    if (errors.length > 0)
      throw refuse(`The answer is not complete: ${errors.map(({ detail }) => detail).join(', ')}.`, errors);
  }
  const stepAt = (index: number) => walk.steps()[index] as CardStep;

  return {
    card,
    get steps() {
      return walk.steps();
    },
    get step() {
      return stepAt(walk.index());
    },
    get progress() {
      return { number: walk.index() + 1, count: walk.steps().length };
    },
    get content() {
      return walk.content(end);
    },
    show: save,
    async set(step, value) {
      demandOpen();
      if (!card.steps.some(({ key }) => key === step)) throw refuse(`The card has no step "${step}".`);
      entered.values[step] = value;
      await save();
    },
    async setComment(comment) {
      demandOpen();
      entered.comment = comment;
      await save();
    },
    async next() {
      demandOpen();
      demandValid(validate(stepAt(walk.index()).key));
      const next = walk.next();
      await save();
      return next;
    },
    back: walk.back,
    validate,
    async complete() {
      walk.finish();
      demandValid(validate());
      return finish('completed');
    },
    async dismiss() {
      await finish('dismissed');
    },
  };
}
